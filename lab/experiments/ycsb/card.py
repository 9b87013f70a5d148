"""Runs of `isotherm bench ycsb`, also those that memory, pairs and e1_e3 make."""
from isotherm_report.experiments.ycsb import effectiveness, overhead, timeline
from isotherm_report.kinds import Kind

PLACE = 10

WINDOW = {'dram_bytes': 2**27, 'memory_target_bytes': 2**26, 'promotion_rate': 0.02,
          'cold_threshold': 3, 'miss_ratio': 0.1, 'best_static_miss_ratio': 0.05,
          'object_lru_miss_ratio': 0.07}
KINDS = (
    Kind(
        'ycsb',
        known_by={'index', 'workload', 'manage', 'throughput_ops_s', 'windows', 'latency_us'},
        needs=('keys', 'key_size', 'value_size', 'threads', 'protocol', 'hint', 'distribution',
               'rate', 'target', 'seconds', 'warmup_seconds', 'window_seconds', 'latency_us.p90',
               'windows[].at_seconds'),
        example={
            'index': 'hash-pugh', 'workload': 'c', 'keys': 1000, 'key_size': 30,
            'value_size': 1024, 'threads': 2, 'manage': 'on', 'protocol': 'veto',
            'distribution': 'zipfian', 'theta': 0.99, 'rate': 2000.0, 'seconds': 5.0,
            'warmup_seconds': 4.0, 'window_seconds': 1.0, 'cold_backing': 'anon', 'hint': 'none',
            'seed': 1, 'target': 'in-process', 'throughput_ops_s': 1000.0,
            'latency_us': {'p90': 2.0}, 'dram_bytes': 2**27, 'page_utilization': 0.5,
            'collector_cpu_fraction': 0.01,
            'windows': [{'at_seconds': at, **WINDOW} for at in range(6)]}),
)


def sections(results):
    return [section for part in (effectiveness, overhead, timeline)
            for section in part.sections(results)]
