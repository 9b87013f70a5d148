"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'pairs': Trial(
        [['--tool', tool, '--rounds', '1', *SAVED, '--', '--index', 'hash-pugh', '--keys', '2000',
          '--seconds', '0.3', '--window', '0.1']], rows=3)}
