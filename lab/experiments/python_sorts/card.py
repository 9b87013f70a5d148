"""The Python package beside others."""
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 125

KINDS = (
    Kind(
        'python-sorts',
        known_by={'what', 'side', 'rows', 'failed'},
        example={'what': '9 rows of integers, random', 'rows': 9, 'side': 'isotherm', 'failed': '',
                 'seconds': 1.0, 'peak_bytes': 2**20}),
)

COMPARISONS = (
    Comparison(
        'python-sorts', lambda d: 'Sorting in Python', lambda d: d['what'], lambda d: d['side'],
        (Figure('seconds', lambda d: [d['seconds']] if 'seconds' in d else []),
         Figure('peak MiB', lambda d: [d['peak_bytes'] / 2**20] if 'peak_bytes' in d else [],
                '{:.0f}')),
        'lab/experiments/python_sorts/run.py --rows {rows}',
        'In turn, each sort in a process of its own. A sort that failed has no bar.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
