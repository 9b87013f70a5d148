"""Peak memory of sorts."""
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 140

KINDS = (
    Kind(
        'sort-memory',
        known_by={'limit_bytes', 'times', 'algorithm', 'peak_bytes'},
        needs=('limit', 'seconds', 'dir'),
        example={'limit': '64M', 'limit_bytes': 2**26, 'times': 2, 'algorithm': 'ems',
                 'peak_bytes': 2**25, 'seconds': 1.0, 'dir': '/mnt'}),
)

COMPARISONS = (
    Comparison(
        'sort-memory', lambda d: f'Memory of sorts, in {d["dir"]}',
        lambda d: f'{d["limit"]}, input {d["times"]} times that', lambda d: d['algorithm'],
        (Figure('peak of resident memory over the limit',
                lambda d: [d['peak_bytes'] / d['limit_bytes']], '{:.0%}'),
         Figure('seconds', lambda d: [d['seconds']])),
        'lab/experiments/sort_memory/run.py --limits {limit} --times {times}',
        'The peak is the kernel\'s (ru_maxrss).',
        lambda d: 'over its limit' if d['peak_bytes'] > d['limit_bytes'] else ''),
)


def sections(results):
    return sections_of(results, COMPARISONS)
