"""Trees on fast and slow memory: runs of `isotherm bench tiers`."""
from isotherm_report.experiments.tiers import placements, sweeps
from isotherm_report.kinds import Kind

PLACE = 160

KINDS = (
    Kind(
        'tiers',
        known_by={'index', 'workload', 'placement', 'fast_share', 'throughput_ops_s',
                  'each_second'},
        needs=('keys', 'key_size', 'value_size', 'threads', 'counting', 'seed', 'seconds',
               'slow_ns', 'fast_ns', 'details', 'latency_us.p99', 'each_second[].throughput_ops_s',
               'each_second[].fast_usage'),
        example={
            'memory': 'emulated', 'index': 'btree-occ', 'workload': 'sp-c', 'placement': 'sinlk',
            'fast_share': 0.2, 'seed': 1, 'keys': 1000, 'key_size': 8, 'value_size': 8,
            'threads': 2, 'counting': 'leaves', 'fast_ns': 170.0, 'slow_ns': 340.0,
            'seconds': 3.0, 'throughput_ops_s': 2e6, 'latency_us': {'p99': 3.0},
            'each_second': [{'throughput_ops_s': 2e6, 'fast_usage': 0.9}] * 2, 'details': {}}),
)


def sections(results):
    return placements.sections(results) + sweeps.sections(results)
