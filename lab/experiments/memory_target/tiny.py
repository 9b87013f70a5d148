"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'memory_target': Trial(
        [['--tool', tool, '--target', '24mb', '--keys', '4000', '--threads', '2', '--warmup', '1',
          '--seconds', '0.5', '--pairs', '1', *SAVED]], rows=1)}
