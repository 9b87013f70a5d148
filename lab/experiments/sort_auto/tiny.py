"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'sort_auto': Trial(
        [['--tool', tool, '--dir', '.', '--megabytes', '8', '--rounds', '1', '--touch', '1',
          '--only', 'records-100', '--limit', 'tenth', '--cache', 'warm', *SAVED],
         ['--table', 'saved.jsonl', '--quiet', '99']], rows=2)}
