"""Tiny runs, for the tests."""
from trial import SAVED, Trial


def trials(_):
    tiny = ['--dir', '.', '--megabytes', '4', '--rounds', '1', '--touch', '1', '--check', *SAVED]
    cases = ['csv', 'csv-number', 'csv-keys', 'csv-folded', 'csv-top', 'csv-unique', 'csv-count',
             'urls', 'urls-top', 'tiny', 'repeated-unique', 'long', 'klv', 'records', 'integers']
    named = [word for case in cases for word in ('--case', case)]
    sides = [word for side in ('isotherm', 'gnu sort', 'python') for word in ('--side', side)]
    return {'sort_peers': Trial(
        [['--lines', *tiny], [*named, *sides, *tiny],
         ['--case', 'repeated', '--case', 'integers', '--uutils', 'nothing', *tiny],
         ['--table', 'saved.jsonl', '--quiet', '99']], rows=29)}
