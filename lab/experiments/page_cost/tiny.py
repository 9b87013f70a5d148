"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'page_cost': Trial(
        [['--tool', tool, '--keys', '2000', '--threads', '2', '--seconds', '0.5', '--rounds', '1',
          *SAVED]], rows=1, is_nightly=True)}
