"""The cost of reads that miss, to others and themselves."""
from isotherm_report import common
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 100
LATENCY = {'p50': 2.0, 'p99': 9.0, 'p999': 20.0}

KINDS = (
    Kind(
        'misses',
        known_by={'beside', 'read_ms', 'latency_us', 'reads', 'share'},
        needs=('experiment', 'records', 'value', 'latency_us.p50', 'latency_us.p99',
               'latency_us.p999'),
        example={'experiment': 'hotkey', 'beside': 'nobody', 'read_ms': 0, 'latency_us': LATENCY,
                 'reads': 9, 'share': 35, 'records': 1000, 'value': 100, 'depth': 1}),
    Kind(
        'miss-sizes',
        known_by={'beside', 'unlimited', 'ratio', 'holds', 'share'},
        needs=('latency_us.p99', 'unlimited_us.p99'),
        example={'beside': '100 bytes', 'unlimited': 10.0, 'ratio': 0.5, 'holds': True,
                 'share': 35, 'latency_us': LATENCY, 'unlimited_us': LATENCY}),
)

COMPARISONS = (
    Comparison(
        'misses', lambda d: ('Reads of one key beside others' if d['experiment'] == 'hotkey' else
                             'Hits and misses of Zipfian reads')
        + f', {d["share"]}% of {common.number_text(d["records"])} records of {d["value"]} bytes '
          'in DRAM' + (f', {d["depth"]} at once beside' if d.get('depth', 1) > 1 else ''),
        lambda d: f'a disk read of {d["read_ms"]:g} ms' if d['read_ms'] else 'the disk as it is',
        lambda d: d['beside'] if d['experiment'] == 'zipfian' else f'beside {d["beside"]}',
        tuple(Figure(f'{name}, us', lambda d, share=share: [d['latency_us'][share]], '{:,.0f}',
                     'log') for name, share in (('p50', 'p50'), ('p99', 'p99'), ('p99.9', 'p999'))),
        'lab/experiments/misses/run.py slow --reads-ms {read_ms:g} --records {records} --value '
        '{value} --share {share}',
        'What a read that misses costs others. Latency in microseconds.'),
    Comparison(
        'miss-sizes', lambda d: f'Throughput by size of values, {d["share"]}% in DRAM',
        lambda d: d['beside'], lambda d: '',
        (Figure('throughput, with the target over without', lambda d: [d['ratio']],
                papers=lambda d: ('limit-managed',)),
         Figure('p99, with the target over without',
                lambda d: [d['latency_us']['p99'] / d['unlimited_us']['p99']])),
        'lab/experiments/misses/run.py sizes --share {share}',
        'YCSB C with as many bytes of values each.',
        lambda d: '' if d['holds'] else 'over its target'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
