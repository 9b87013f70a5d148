"""The misses of policies, simulated."""
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 110

KINDS = (
    Kind(
        'miss-ratios',
        known_by={'trace', 'share', 'policy', 'misses'},
        needs=('requests',),
        example={'trace': 'OLTP', 'requests': 9, 'share': 0.1, 'policy': 'LRU', 'misses': 0.3}),
)

COMPARISONS = (
    Comparison(
        'miss-ratios', lambda d: f'Misses, simulated: {d["trace"]}',
        lambda d: f'{d["share"]:.0%} in DRAM', lambda d: d['policy'],
        (Figure('misses of the requests', lambda d: [d['misses']], '{:.1%}'),),
        'lab/experiments/miss_ratios/run.py --traces DIR',
        'What is kept, not what that costs: objects of one size, requests of a recorded trace.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
