"""A store over mechanisms that move its pages: runs of `isotherm bench backends`."""
from isotherm_report import common
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 45
MIB = 2**20

KINDS = (
    Kind(
        'backends',
        known_by={'backend', 'store', 'manage', 'budget_bytes'},
        needs=('keys', 'value_size', 'record_bytes', 'distribution'),
        example={'benchmark': 'backends', 'backend': 'cgroup', 'store': 'masstree:c',
                 'manage': 'on', 'keys': 1000, 'value_size': 100, 'record_bytes': 2**20,
                 'budget_bytes': 2**19, 'distribution': 'permuted', 'dram_bytes': 2**19,
                 'hit_ratio': 0.99, 'misses': 9, 'seconds': 3.0, 'throughput_ops_s': 1e5}),
)


def title_of(data):
    stores = data['store'].replace('+', ', ').replace(':', ' with ')
    keys = f', {data["distribution"]} keys' if data['distribution'] else ''
    return (f'Backends under {stores}{keys}: {common.number_text(data["keys"])} records of '
            f'{data["value_size"]} bytes, {data["budget_bytes"] / MIB:,.0f} MiB of DRAM for '
            f'{data["record_bytes"] / MIB:,.0f}')


def found(value):
    """A run that could not be made has no figures."""
    return lambda data: [value(data)] if 'dram_bytes' in data else []


COMPARISONS = (
    Comparison(
        'backends', title_of, lambda d: d['backend'], lambda d: f'management {d["manage"]}',
        (Figure('DRAM and zram, MiB', found(lambda d: d['dram_bytes'] / MIB), '{:,.0f}'),
         Figure('requests a second', found(lambda d: d['throughput_ops_s']), '{:,.0f}'),
         Figure('requests that waited for no disk and no swap', found(lambda d: d['hit_ratio']),
                '{:.2%}'),
         Figure('misses a second', found(lambda d: d['misses'] / d['seconds']), '{:,.0f}')),
        'lab/experiments/backends/run.py reclaim -- --store {store} --backend {backend} '
        '--keys {keys}',
        'Each run begins anew. The papers pair kswapd, a control group, TMO and hints with and '
        'without their frontend (OBASE 5.3).',
        lambda d: d.get('problem', '')),
)


def sections(results):
    return sections_of(results, COMPARISONS)
