"""Tiny runs, for the tests."""
from trial import Trial

TINY = ['--warmup', '0.3', '--seconds', '0.3', '--window', '0.1', '--keys', '2000']


def trials(tool):
    return {'e1_e3': Trial(
        [['e3', '--tool', tool, '--indexes', 'hash-pugh', '--rounds', '1', *TINY,
          '--save', 'e3.jsonl'],
         ['e1', '--tool', tool, '--indexes', 'art', '--workloads', 'c', '--cold-backing', 'anon',
          *TINY, '--save', 'e1.jsonl'],
         ['table', 'e3.jsonl', 'e1.jsonl']], rows=4)}
