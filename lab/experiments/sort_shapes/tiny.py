"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(_):
    return {'sort_shapes': Trial(
        [['--dir', '.', '--rounds', '1', '--megabytes', '2', '--only', 'urls', '--only', 'repeated',
          '--only', 'early', '--only', 'klv', *SAVED]], rows=14)}
