"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(_):
    return {'pages': Trial(
        [['--servers', 'redis', '--keys', '500', '--requests', '200,400', '--rest', '0', *SAVED],
         ['--servers', 'redis', '--keys', '500', '--cost', '1', *SAVED],
         ['--objects', '--servers', 'redis,isotherm', '--keys', '1000', '--requests', '100',
          '--rest', '0', *SAVED],
          ['--programs', 'sqlite3,python3', '--scale', '0.01', *SAVED],
          ['--agreement', '1', '--keys', '500', '--rate', '200', '--collector-window', '1',
           *SAVED]],
         rows=8)}
