"""Stores that take in new records beyond a memory target."""
import textwrap

from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 45
REMARK_LETTERS = 60

KINDS = (
    Kind(
        'filling',
        known_by={'side', 'mb_s', 'disk_mb_s', 'over_half_disk'},
        needs=('target', 'times', 'records', 'value_size', 'clients', 'batch', 'p50_ms', 'p99_ms',
               'p999_ms', 'max_ms', 'refused', 'dram_max', 'dram_last', 'processor_seconds'),
        example={'side': 'isotherm', 'target': '1gb', 'times': 4.0, 'records': 1000,
                 'value_size': 1024, 'clients': 16, 'batch': 100, 'mb_s': 400.0,
                 'mb_s_after': 300.0, 'disk_mb_s': 1000.0, 'over_half_disk': 0.8,
                 'after_over_half_disk': 0.6, 'p50_ms': 0.2, 'p99_ms': 2.0, 'p999_ms': 5.0,
                 'max_ms': 40.0, 'refused': 0, 'dropped': 0, 'unreadable': 0.0, 'dram_max': 1.0,
                 'dram_last': 0.9, 'processor_seconds': 9.0, 'disk_written': 1.1,
                 'cold_written': 1.1}),
)


def told(name):
    """The figure where a result has it: RocksDB and servers of old do not have all."""
    return lambda data: [] if data.get(name) is None else [data[name]]


def values_of(data):
    size = data['value_size']
    return 'values of 16 bytes to 1 MiB' if size == 'mix' else f'values of {size} bytes'


def remark_of(data):
    remarks = [textwrap.shorten(text, REMARK_LETTERS, placeholder=' ..') for text in (
        *data.get('refusals', {}), data.get('problem')) if text]
    if data.get('dropped'):
        remarks.append(f'dropped {data["dropped"]:,} records')
    return '; '.join(remarks)


COMPARISONS = (
    Comparison(
        'filling', lambda d: f'Filled beyond a memory target: {d["target"]}, '
                             f'{d["times"]:g} times, '
                             f'{d["clients"]} client{"s" * (d["clients"] > 1)}',
        values_of, lambda d: d['side'],
        (Figure('MB/s after the target', told('mb_s_after'), '{:,.1f}'),
         Figure('MB/s', told('mb_s'), '{:,.1f}'),
         Figure('over half of the disk\'s rate, after the target', told('after_over_half_disk'),
                '{:.3f}'),
         Figure('p50 of a batch, ms', told('p50_ms')),
         Figure('p99, ms', told('p99_ms')),
         Figure('p99.9, ms', told('p999_ms')),
         Figure('max, ms', told('max_ms'), '{:,.1f}'),
         Figure('refused requests', told('refused'), '{:,.0f}'),
         Figure('unreadable of a sample', told('unreadable'), '{:.2%}'),
         Figure('DRAM over the target, max', told('dram_max')),
         Figure('DRAM over the target, in the end', told('dram_last')),
         Figure('processor seconds', told('processor_seconds')),
         Figure('bytes written to disks over those taken', told('disk_written')),
         Figure('COLD\'s bytes written over those taken', told('cold_written'))),
        'lab/experiments/filling/run.py --target {target} --records {records} '
        '--value-size {value_size} --clients {clients} --batch {batch} --sides {side}',
        'Each side starts anew and takes the same new records, by turns. Rates count records that '
        'were taken, some of which memcached drops. RocksDB writes in its own process.',
        remark_of),
)


def sections(results):
    return sections_of(results, COMPARISONS)
