"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    here = ['--dir', '.', '--memory', '40', '--store', '80', *SAVED]
    return {'ray': Trial(
        [['--tool', tool, 'run', *here, '--megabytes', '2', '--inputs', '2', '--rounds', '1',
          '--touch', '1'],
         ['--tool', tool, 'pieces', *here, '--tasks', '8', '--rounds', '1'],
         ['--tool', tool, 'scale', 'saved.jsonl', '--sample', '.001', *SAVED],
         ['table', 'saved.jsonl']], rows=7, is_nightly=True, may_lack=True)}
