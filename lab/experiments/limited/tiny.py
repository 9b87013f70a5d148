"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'limited': Trial(
        [['run', '--tool', tool, '--systems', 'on', '--limits', '75', '--workloads', 'c',
          '--connections', '2', '--rates', '0', '--records', '60000', '--seconds', '1,1,1,1',
          *SAVED],
         ['table', 'saved.jsonl', '--plot', 'limited.svg']], rows=1, is_nightly=True,
        may_lack=True)}
