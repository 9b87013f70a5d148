"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'sort_devices': Trial(
        [['--tool', tool, '--fast', '.', '--disk', '.', '--megabytes', '4', '--memory', '32',
          '--rounds', '1', '--touch', '1', *SAVED],
         ['--table', 'saved.jsonl']], rows=14)}
