"""A store under the kernel's ways to move pages, in a virtual machine with two tiers of memory."""
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 46
MIB = 2**20

KINDS = (
    Kind(
        'vm',
        known_by={'backend', 'manage', 'lru', 'memory', 'kernel', 'result'},
        needs=('result.store', 'result.keys', 'result.distribution', 'result.dram_bytes',
               'result.misses', 'result.stores[+].reads_by_node'),
        example={'backend': 'tpp', 'manage': 'on', 'lru': 'mglru', 'memory': [2**27, 2**29],
                 'kernel': 'Linux 6.12', 'accelerator': 'tcg',
                 'result': {'store': 'masstree:b', 'keys': 1000, 'distribution': 'hotspot',
                            'dram_bytes': 2**20, 'misses': 3,
                            'stores': [{'reads_by_node': {'seen': 10, 'fast': 9}}]}}),
)


def title_of(data):
    fast, slow = data['memory']
    result = data['result']
    return (f'Backends in a virtual machine of {fast / MIB:,.0f} and {slow / MIB:,.0f} MiB: '
            f'{result["store"]}, {result["distribution"]}, {result["keys"]:,} records')


def fast_share(data):
    reads = [store['reads_by_node'] for store in data['result']['stores']]
    return [each['fast'] / each['seen'] for each in reads if each and each['seen']]


COMPARISONS = (
    Comparison(
        'vm', title_of, lambda d: f'{d["backend"]}, {d["lru"]}',
        lambda d: f'management {d["manage"]}',
        (Figure('reads whose value was on the fast node', fast_share, '{:.0%}'),
         Figure('MiB on the fast node, or in DRAM', lambda d: [d['result']['dram_bytes'] / MIB],
                '{:,.0f}'),
         Figure('major faults', lambda d: [d['result']['misses']], '{:,.0f}')),
        'lab/experiments/vm/run.py run --backend {backend} --manage {manage} --lru {lru}',
        'An emulated machine: its tiers differ in name only, and no time is given. Each run boots '
        'anew, and under a backend with tiers all pages begin on the slow node. The papers\' '
        'figure 9 gives the throughput of such machines.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
