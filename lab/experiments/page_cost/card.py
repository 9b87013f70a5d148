"""The cost of the live page to the process that it shows."""
from isotherm_report import common
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 70

KINDS = (
    Kind(
        'page-cost',
        known_by={'side', 'ops_over_none', 'us_over_none'},
        needs=('flags', 'keys', 'threads', 'ops', 'us', 'page_share'),
        example={'side': 'open', 'flags': '--window 5', 'keys': 1000, 'threads': 4, 'ops': 9.0,
                 'us': 12.0, 'ops_over_none': 0.99, 'us_over_none': 1.01, 'page_share': 0.01}),
)

COMPARISONS = (
    Comparison(
        'page-cost', lambda d: 'What the live page costs: '
                               f'{common.number_text(d["keys"])} records, '
                               f'{d["threads"]} connections',
        lambda d: f'the page is {d["side"]}', lambda d: '',
        (Figure('of a processor, taken by the page\'s thread', lambda d: [d['page_share']],
                '{:.2%}'),
         Figure('processor time of a request over that of a server without it',
                lambda d: [d['us_over_none']], '{:.3f}'),
         Figure('throughput over that of a server without it', lambda d: [d['ops_over_none']],
                '{:.3f}'),
         Figure('requests a second', lambda d: [d['ops']], '{:,.0f}')),
        'lab/experiments/page_cost/run.py --keys {keys} --threads {threads} -- {flags}',
        'Two servers with the same records get phases of the same load by turns; a reader asks for '
        'what an open page asks for.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
