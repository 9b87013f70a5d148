"""Tiny runs, for the tests."""
import gzip

from trial import SAVED, Trial

TRACE = ''.join(f'{i * i % 199}\n' for i in range(2000))


def trials(_):
    return {'miss_ratios': Trial(
        [['--traces', '.', '--windows', '10', '--shares', '0.1,0.5', *SAVED]], rows=2,
        files={'lirs_sprite.trace.gz': gzip.compress(TRACE.encode())}, needs_programs=True)}
