"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(_):
    return {'sort_peers': Trial(
        [['--dir', '.', '--lines', '--megabytes', '4', '--rounds', '1', '--check', *SAVED],
         ['--table', 'saved.jsonl']], rows=2)}
