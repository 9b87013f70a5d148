"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'sort_memory': Trial(
        [['--dir', '.', '--tool', tool, '--limits', '32mb', '--times', '2', '--algorithms', 'auto',
          *SAVED]], rows=1)}
