"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(_):
    return {'pages': Trial(
        [['--servers', 'redis', '--keys', '500', '--requests', '200,400', '--rest', '0', *SAVED],
         ['--servers', 'redis', '--keys', '500', '--cost', '1', *SAVED]],
        rows=3)}
