"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    small = ['--tool', tool, '--records', '2000', '--connections', '2', '--dir', '.', *SAVED]
    draw = ['draw', 'saved.jsonl', '--every', '1', '-o']
    return {'soak': Trial([['run', '--minutes', '0.05', '--piece', '1', *small],
                           [*draw, 'soak.svg']], rows=1),
            'soak_phases': Trial([['phases', '--phase-seconds', '1', *small],
                                  [*draw, 'phases.svg']], rows=1, is_nightly=True)}
