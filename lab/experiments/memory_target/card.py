"""A store with a memory target beside one without."""
from isotherm_report import common
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 60

KINDS = (
    Kind(
        'pair',
        known_by={'ops', 'ops_free', 'misses', 'us_a_miss'},
        needs=('workload', 'target', 'keys', 'threads', 'ratio', 'p99'),
        example={'workload': 'c', 'target': '20M', 'keys': 1000, 'threads': 4, 'ratio': 0.9,
                 'p99': 1.5, 'ops': 9.0, 'ops_free': 10.0, 'misses': 0.1, 'us_a_miss': 9.0}),
)


def title_of(data):
    pace = (f', latencies of hits beside {data["rate"]:,.0f} requests a second' if data.get('rate')
            else '')
    return (f'With a memory target beside without: {data["target"]}, '
            f'{common.number_text(data["keys"])} records, {data["threads"]} connections{pace}')


COMPARISONS = (
    Comparison(
        'pair', title_of, lambda d: f'workload {d["workload"]}', lambda d: '',
        (Figure('throughput, with the target over without',
                lambda d: [] if d.get('rate') else [d['ratio']],  # there it is 1
                papers=lambda d: ('limit-managed',)),
         Figure('p99, with the target over without', lambda d: [d['p99']]),
         Figure('p99.9, with the target over without',
                lambda d: [d['p999']] if 'p999' in d else []),
         Figure('misses of the requests', lambda d: [d['misses']], '{:.1%}'),
         Figure('processor time that a miss adds, us', lambda d: [d['us_a_miss']], '{:.1f}')),
        'lab/experiments/memory_target/run.py --target {target} --workloads {workload} '
        '--keys {keys} --threads {threads}',
        'Two servers with the same records get phases of the same load by turns.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
