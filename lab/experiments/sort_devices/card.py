"""Sorts whose runs lie on a device of their own."""
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 145

KINDS = (
    Kind(
        'sort-devices',
        known_by={'group', 'side', 'places', 'predicted_seconds'},
        needs=('megabytes', 'algorithm', 'seconds'),
        example={'group': 'emulated', 'side': 'PMEM', 'places': [], 'predicted_seconds': 1.0,
                 'megabytes': 400, 'algorithm': 'mergepass', 'seconds': 1.0}),
)

COMPARISONS = (
    Comparison(
        'sort-devices', lambda d: f'Runs on a device of their own: {d["group"]}',
        lambda d: f'{d["megabytes"]} MB, {d["algorithm"]}', lambda d: d['side'],
        (Figure('seconds', lambda d: [d['seconds']]),),
        'lab/experiments/sort_devices/run.py --only {group}',
        'In turn. PMEM and CMM-H are emulated; a disk is not in the page cache before the run.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
