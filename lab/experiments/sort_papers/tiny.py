"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    names = ['sortbenchmark', 'compliance', 'sizes', 'usage']
    return {'sort_papers': Trial(
        [['run', '--dir', '.', '--tool', tool, '--megabytes', '4', '--rounds', '1', '--scale', '1',
          *(word for name in names for word in ('--only', name)), *SAVED],
         ['table', 'saved.jsonl']], rows=33)}
