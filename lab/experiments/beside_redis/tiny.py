"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(_):
    return {'beside_redis': Trial(
        [['--rounds', '1', '--requests', '2000', '--keys', '1000', '--clients', '4', '--pipeline',
          '1', *SAVED]], rows=1)}
