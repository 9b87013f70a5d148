"""Tiny runs, for the tests."""
import pathlib

from trial import SAVED, Trial


def trials(tool):
    return {'compiler_costs': Trial(
        [['--build', str(pathlib.Path(tool).parent.parent), '--rounds', '1', '--seconds', '0.01',
          *SAVED]], rows=3, is_nightly=True, needs_programs=True)}
