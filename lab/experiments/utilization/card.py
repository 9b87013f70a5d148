"""How much of its pages a store uses whose records are read past them."""
import shlex

from isotherm_report import common
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 90

KINDS = (
    Kind(
        'utilization',
        known_by={'mode', 'requests', 'share', 'taken', 'windows'},
        needs=('workload', 'keys', 'window', 'load', 'windows[+].page_utilization',
               'windows[+].read_past_bytes', 'windows[+].accessed_bytes'),
        example={'mode': 'target', 'workload': 'c', 'requests': 0.5, 'share': 35, 'taken': 2**20,
                 'keys': 1000, 'window': 10, 'load': ['--distribution', 'permuted'],
                 'windows': [{'page_utilization': 0.5, 'read_past_bytes': 1.0,
                              'accessed_bytes': 4.0}]}),
)


def used_of_window(data):
    return [each['page_utilization'] for each in data['windows']]


def over_best_order(data):
    best = data.get('best_order')
    return [each / best for each in used_of_window(data)] if best else []


def read_past(data):
    if data['mode'] != 'target':
        return []
    return [each['read_past_bytes'] / each['accessed_bytes'] for each in data['windows']
            if each['accessed_bytes']]


def utilization_papers(data):
    mine = [f'utilization-{data["workload"]}'] if data['workload'] in 'abc' else []
    return ['utilization-before', *mine]


COMPARISONS = (
    Comparison(
        'utilization', lambda d: f'Page utilization, {d["share"]}% of '
                                 f'{common.number_text(d["keys"])} records in DRAM, '
                                 f'{shlex.join(d["load"])}',
        lambda d: f'{d["workload"].upper()}, {d["requests"]:g}',
        lambda d: {'track': 'watched only', 'target': 'with the target'}.get(d['mode'], d['mode']),
        (Figure('bytes used over those of the pages touched', used_of_window, '{:.0%}',
                papers=utilization_papers),
         Figure('the same over that of the best order (computed)', over_best_order, '{:.0%}'),
         Figure('of the bytes used, read past their pages', read_past, '{:.0%}')),
        'lab/experiments/utilization/run.py run --workloads {workload} --requests {requests:g} '
        '--keys {keys} --window {window:g} --share {share}',
        'A store whose records are read past their pages. Each group is a workload and how many '
        'requests a record gets in a window of the collector; each number is of a window. The '
        'papers\' figures are of records in memory, in windows of 120 s.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
