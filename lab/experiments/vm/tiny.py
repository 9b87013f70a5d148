"""Tiny runs in the virtual machine, for the tests: two boots, half a minute each on two idle
processors."""
from trial import SAVED, Trial


def trials(tool):
    return {'vm': Trial(
        [*(['run', '--tool', tool, *SAVED, '--backend', 'tpp', '--manage', manage, '--timeout',
            '800', '--', '--keys', '3000', '--settle', '1', '--adapt', '2', '--seconds', '1',
            '--window', '0.5'] for manage in ('off', 'on')),
         ['table', 'saved.jsonl']], rows=2, is_nightly=True, timeout=900)}
