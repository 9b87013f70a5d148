"""Sorts beside their peers."""
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 120

KINDS = (
    Kind(
        'sort-beside',
        known_by={'what', 'side', 'megabytes', 'seconds'},
        example={'what': '9 MB', 'megabytes': 9, 'side': 'isotherm', 'seconds': 1.0}),
)

COMPARISONS = (
    Comparison(
        'sort-beside', lambda d: 'Sorting beside its peers',
        lambda d: d['what'], lambda d: d['side'],
        (Figure('seconds', lambda d: [d['seconds']]),
         Figure('peak MiB', lambda d: [d['peak_bytes'] / 2**20] if 'peak_bytes' in d else [],
                '{:.0f}')),
        'lab/experiments/sort_peers/run.py --megabytes {megabytes}',
        'In turn, on the machine\'s own memory or disk.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
