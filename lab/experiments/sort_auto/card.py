"""The algorithm that `auto` takes beside those that it could have taken."""
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 130

KINDS = (
    Kind(
        'sort-auto',
        known_by={'shape', 'limit', 'cache', 'algorithm', 'ran', 'seconds'},
        needs=('where', 'megabytes', 'profile'),
        example={'where': '/mnt', 'megabytes': 9, 'shape': 'lines', 'limit': 'half',
                 'cache': 'warm', 'profile': False, 'algorithm': 'auto', 'ran': 'ems',
                 'seconds': 1.0}),
)

COMPARISONS = (
    Comparison(
        'sort-auto', lambda d: f'Algorithm auto of sort: {d["megabytes"]} MB, {d["shape"]}, '
        f'{d["where"]}, {d["cache"]}' + (', by a profile' if d['profile'] else ''),
        lambda d: f'memory: {d["limit"]}', lambda d: d['algorithm'],
        (Figure('seconds', lambda d: [d['seconds']]),),
        'lab/experiments/sort_auto/run.py --megabytes {megabytes} --only {shape} --limit {limit} '
        '--cache {cache}',
        'auto beside each algorithm that could have been named; memory is a part of the input.',
        lambda d: f'took {d["ran"]}' if d['algorithm'] == 'auto' else ''),
)


def sections(results):
    return sections_of(results, COMPARISONS)
