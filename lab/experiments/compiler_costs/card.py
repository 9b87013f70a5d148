"""The costs of guides by the compiler plugin, and of the plugin to a compilation."""
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 80

KINDS = (
    Kind(
        'guide-cost',
        known_by={'operation', 'guides', 'ns'},
        example={'operation': 'get', 'guides': 'by_hand', 'ns': 9.0}),
    Kind(
        'plugin-cost',
        known_by={'compiled', 'user_seconds'},
        example={'compiled': 'table', 'user_seconds': 1.0}),
)

COMPARISONS = (
    Comparison(
        'guide-cost', lambda d: 'Guides by the compiler plugin beside guides by hand',
        lambda d: d['operation'], lambda d: d['guides'].replace('_', ' '),
        (Figure('nanoseconds of an operation', lambda d: [d['ns']], '{:.1f}'),),
        'lab/experiments/compiler_costs/run.py',
        'A hash table of one thread whose values are plain pointers, guides written by hand, and '
        'guides by the plugin.'),
    Comparison(
        'plugin-cost', lambda d: 'Compilation with the compiler plugin',
        lambda d: d['compiled'], lambda d: '',
        (Figure('processor time of the compiler, s', lambda d: [d['user_seconds']]),),
        'lab/experiments/compiler_costs/run.py',
        'User time of the compiler, without a cache.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
