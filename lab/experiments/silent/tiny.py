"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'silent': Trial(
        [['--tool', tool, '--silence', '1', '--seconds', '1', '--settle', '1', '--records',
          '60000', '--target', '30mb', '--dir', '.', *SAVED]], rows=3, is_nightly=True,
        may_lack=True)}
