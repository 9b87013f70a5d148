"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'sort_papers': Trial(
        [['run', '--dir', '.', '--tool', tool, '--megabytes', '4', '--rounds', '1', '--scale', '1',
          '--only', 'sortbenchmark', *SAVED],
         ['table', 'saved.jsonl']], rows=2)}
