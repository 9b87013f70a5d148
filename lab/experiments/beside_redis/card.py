"""The store beside Redis."""
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 50

KINDS = (
    Kind(
        'redis',
        known_by={'test', 'pipeline', 'isotherm', 'redis'},
        needs=('clients', 'value_size', 'keys', *(f'{side}.{what}' for side in ('isotherm', 'redis')
               for what in ('ops_s', 'p50_ms', 'p99_ms'))),
        example={'test': 'GET', 'pipeline': 1, 'clients': 50, 'value_size': 100, 'keys': 1000,
                 'isotherm': {'ops_s': 150.0, 'p50_ms': 1.0, 'p99_ms': 2.0},
                 'redis': {'ops_s': 100.0, 'p50_ms': 1.0, 'p99_ms': 2.0}}),
)

COMPARISONS = (
    Comparison(
        'redis', lambda d: f'Beside Redis, {d["clients"]} clients, values of {d["value_size"]} '
                           'bytes',
        lambda d: f'{d["test"]}, {d["pipeline"]} at once', lambda d: '',
        (Figure('requests a second, isotherm over Redis',
                lambda d: [d['isotherm']['ops_s'] / d['redis']['ops_s']]),
         Figure('p99, isotherm over Redis',
                lambda d: [d['isotherm']['p99_ms'] / d['redis']['p99_ms']]),
         Figure('requests a second, isotherm', lambda d: [d['isotherm']['ops_s']], '{:,.0f}'),
         Figure('requests a second, Redis', lambda d: [d['redis']['ops_s']], '{:,.0f}')),
        'lab/experiments/beside_redis/run.py --clients {clients} --value-size {value_size} '
        '--keys {keys} --pipeline {pipeline}',
        'redis-benchmark against each in turn; a ratio is of one round.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
