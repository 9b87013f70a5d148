"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'overview': Trial(
        [['--tool', tool, '--target', '24mb', '--keys', '4000', '--threads', '2', '--warmup', '0.5',
          '--seconds', '0.5', '--rate', '1000', '--rounds', '1', *SAVED]], rows=3)}
