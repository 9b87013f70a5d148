"""Tiny runs, for the tests, of backends that change nothing of the system."""
from trial import SAVED, Trial


def trials(tool):
    tiny = ['--', '--keys', '5000', '--settle', '0.2', '--adapt', '0.2', '--seconds', '0.2',
            '--window', '0.1']
    return {'backends': Trial(
        [['reclaim', '--tool', tool, *SAVED, *tiny, '--backend', 'none,log'],
         ['table', 'saved.jsonl'],
         ['consolidate', '--tool', tool, '--save', 'consolidated.jsonl', *tiny, '--backend',
          'none,log'],
         ['consolidated', 'consolidated.jsonl']], rows=8)}
