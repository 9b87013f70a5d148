"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(_):
    tiny = ['--dir', '.', '--rows', '5000', '--rounds', '1', '--touch', '1', *SAVED]
    return {'python_sorts': Trial(
        [[*tiny, '--order', 'presorted', '--order', 'skewed'],
         ['--table', 'saved.jsonl']], rows=11, may_lack=True)}
