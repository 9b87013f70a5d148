"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(tool):
    return {'tiers': Trial(
        [['run', '--tool', tool, *SAVED, '--', '--index', 'btree-occ', '--workload', 'sp-c',
          '--keys', '20000', '--seconds', '0.3', '--warmup', '0.2', '--placement',
          'interleave,sinlk'],
         ['table', 'saved.jsonl'],
         ['seconds', 'saved.jsonl'],
         ['simulate', '--tool', tool, '--save', 'simulated.jsonl', '--figures', '6', '14-art', '19',
          '15a', '--keys', '1000'],
         ['cards', 'simulated.jsonl']], rows=2)}
