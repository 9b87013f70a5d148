"""A store with less memory than its records need, in a control group."""
import statistics

from isotherm_report import common
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 40
MIB = 2**20
LATENCY = {'p50': 2.0, 'p99': 9.0, 'p999': 20.0}

KINDS = (
    Kind(
        'limited',
        known_by={'system', 'limit', 'limit_bytes', 'phases', 'samples'},
        needs=('workload', 'connections', 'rate', 'records', 'value', 'reference', 'limit_holds',
               'phases[+].phase', 'samples[+].dram', 'samples[+].zram', 'samples[+].phase',
               'samples[+].misses'),
        example={'system': 'on', 'limit': 35, 'limit_bytes': 2**20, 'workload': 'c',
                 'connections': 4, 'rate': 0, 'records': 1000, 'value': 100, 'reference': 2**22,
                 'limit_holds': True, 'ended': None, 'is_whole': True,
                 'phases': [{'phase': name, 'throughput': rate, 'latency_us': LATENCY}
                            for name, rate in (('load', 9), ('unlimited', 100), ('limited 1', 40),
                                               ('limited 2', 50))],
                 'samples': [{'phase': 'limited 2', 'dram': 2**20, 'zram': 2**20,
                              'misses': 7}]}),
)


def phase_of(data, name):
    return next((phase for phase in reversed(data['phases'])
                 if phase['phase'].startswith(name) and 'throughput' in phase), None)


def over_unlimited(data):
    limited, unlimited = phase_of(data, 'limited'), phase_of(data, 'unlimited')
    return [limited['throughput'] / unlimited['throughput']] if limited and unlimited else []


def p99_of(data):
    limited = phase_of(data, 'limited')
    return [limited['latency_us']['p99'] / 1000] if limited else []


def last_samples(data, value):
    """The median of a run's last phase."""
    phase = data['samples'][-1]['phase']
    return [statistics.median(value(each) for each in data['samples'] if each['phase'] == phase)]


def remark_of(data):
    ended = data.get('ended')
    if ended:
        return f'{ended["how"]}, in phase {ended["phase"]}'
    if not data.get('is_whole'):
        return 'cut off'
    return '' if data['limit_holds'] else 'the limit did not hold'


def title_of(data):
    pace = f'{data["rate"]:,} requests a second' if data['rate'] else 'as fast as it goes'
    keys = f' with {data["distribution"]} keys' if data.get('distribution') else ''
    return (f'In a control group\'s memory: YCSB {data["workload"].upper()}{keys}, '
            f'{data["connections"]} connections, {pace}, {common.number_text(data["records"])} '
            f'records of {data["value"]} bytes')


COMPARISONS = (
    Comparison(
        'limited', title_of, lambda d: f'{d["limit"]}%', lambda d: d['system'],
        (Figure('throughput under the limit over that without', over_unlimited,
                papers=lambda d: ('limit-unmanaged', 'limit-managed')),
         Figure('p99 under the limit, ms', p99_of, scale='log'),
         Figure('DRAM and zram, MiB', lambda d: last_samples(
             d, lambda each: (each['dram'] + each['zram']) / MIB), '{:,.0f}'),
         Figure('misses (COLD, and major faults) a second', lambda d: last_samples(
             d, lambda each: each['misses']), '{:,.0f}')),
        'lab/experiments/limited/run.py run --systems {system} --limits {limit} --workloads '
        '{workload} --connections {connections} --rates {rate} --records {records} '
        '--value {value}',
        'A limit is a share of what Redis takes for the same records without one. What follows a '
        'system\'s colon is its swap. The paper limits an index in the process that uses it.',
        remark_of),
)


def sections(results):
    return sections_of(results, COMPARISONS)
