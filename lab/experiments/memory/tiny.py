"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'memory': Trial(
        [['--tool', tool, '--workloads', 'c', '--rates', '2000', '--warmup', '1', '--seconds', '1',
          *SAVED, '--', '--keys', '2000', '--window', '0.2']], rows=3)}
