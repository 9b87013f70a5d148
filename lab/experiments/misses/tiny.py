"""Tiny runs, for the tests."""
from trial import SAVED, Trial

MORE = {'hotkey': ['--records', '60000'],
        'slow': ['--records', '60000', '--reads-ms', '0'],
        'sizes': ['--bytes', '64', '--values', '1024', '--settle', '1'],
        'scan': ['--records', '60000', '--settle', '1'],
        'busy': ['--records', '60000']}
NIGHTLY = ('sizes', 'scan', 'busy')


def trials(tool):
    return {f'misses_{name}': Trial(
        [[name, '--tool', tool, '--rounds', '1', '--seconds', '0.5', '--dir', '.', *more, *SAVED],
         ['table', 'saved.jsonl']], rows=1, is_nightly=name in NIGHTLY)
        for name, more in MORE.items()}
