"""Tiny runs, for the tests."""
from trial import SAVED, Trial

TINY = ['--target', '24mb', '--times', '2', '--rounds', '1', '--disk-bytes', '4mb', '--directory',
        '.']


def trials(tool):
    return {'filling': Trial(
        [['--tool', tool, *TINY, '--clients', '2', *SAVED],
         ['--tool', tool, *TINY, '--clients', '3', '--value-size', 'mix', '--sides', 'isotherm',
          *SAVED, '--', '--maxmemory-clients', '0']], rows=5)}
