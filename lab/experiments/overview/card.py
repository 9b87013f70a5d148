"""The store as it comes, beside Redis."""
from isotherm_report import common
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 45

KINDS = (
    Kind(
        'overview',
        known_by={'side', 'p50_us', 'p999_us'},
        needs=('keys', 'value_size', 'workload', 'rate', 'target', 'dram_bytes', 'fill_mb_s',
               'ops_s', 'p99_us'),
        example={'side': 'Redis', 'keys': 1000, 'value_size': 100, 'workload': 'b', 'rate': 10,
                 'target': '1mb', 'dram_bytes': 1, 'fill_mb_s': 2.0, 'ops_s': 3.0, 'p50_us': 4.0,
                 'p99_us': 5.0, 'p999_us': 6.0}),
)


def title_of(data):
    keys = f' with {data["distribution"]} keys' if data.get('distribution') else ''
    return (f'As it comes: {common.number_text(data["keys"])} records of {data["value_size"]} '
            f'bytes, workload {data["workload"]}{keys}, target {data["target"]}')


COMPARISONS = (
    Comparison(
        'overview', title_of,
        lambda d: d['side'], lambda d: '',
        (Figure('DRAM, MiB', lambda d: [d['dram_bytes'] / 2**20], '{:,.0f}'),
         Figure('filling, MB/s', lambda d: [d['fill_mb_s']], '{:,.0f}'),
         Figure('requests a second, closed loop', lambda d: [d['ops_s']], '{:,.0f}'),
         Figure('p50 at the fixed rate, us', lambda d: [d['p50_us']], '{:,.0f}'),
         Figure('p99 at the fixed rate, us', lambda d: [d['p99_us']], '{:,.0f}'),
         Figure('p99.9 at the fixed rate, us', lambda d: [d['p999_us']], '{:,.0f}')),
        'lab/experiments/overview/run.py --target {target} --workload {workload} --keys {keys} '
        '--value-size {value_size} --rate {rate}',
        'A round starts the sides one after the other.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
