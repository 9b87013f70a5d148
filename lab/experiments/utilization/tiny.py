"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'utilization': Trial(
        [['run', '--tool', tool, '--workloads', 'c', '--requests', '1', '--keys', '2000',
          '--window', '0.5', '--warmup', '1', '--seconds', '2', '--dir', '.', *SAVED],
         ['table', 'saved.jsonl']], rows=1)}
