"""What scripts of lab/experiments measure of servers, misses and sorts, side by side."""
import shlex
import statistics

from isotherm_report.experiments import common
from isotherm_report.experiments.compared import Comparison, Figure, sections_of

MIB = 2**20


def limited_phase(data, name):
    return next((phase for phase in reversed(data['phases'])
                 if phase['phase'].startswith(name) and 'throughput' in phase), None)


def limited_over_unlimited(data):
    limited, unlimited = limited_phase(data, 'limited'), limited_phase(data, 'unlimited')
    return [limited['throughput'] / unlimited['throughput']] if limited and unlimited else []


def limited_p99(data):
    limited = limited_phase(data, 'limited')
    return [limited['latency_us']['p99'] / 1000] if limited else []


def last_samples(data, value):
    """The median of a run's last phase."""
    phase = data['samples'][-1]['phase']
    return [statistics.median(value(each) for each in data['samples'] if each['phase'] == phase)]


def limited_remark(data):
    ended = data.get('ended')
    if ended:
        return f'{ended["how"]}, in phase {ended["phase"]}'
    if not data.get('is_whole'):
        return 'cut off'
    return '' if data['limit_holds'] else 'the limit did not hold'


def limited_title(data):
    pace = f'{data["rate"]:,} requests a second' if data['rate'] else 'as fast as it goes'
    return (f'In a control group\'s memory: YCSB {data["workload"].upper()}, '
            f'{data["connections"]} connections, {pace}, {common.number_text(data["records"])} '
            f'records of {data["value"]} bytes')


def used_of_window(data):
    return [each['page_utilization'] for each in data['windows']]


def over_best_order(data):
    best = data.get('best_order')
    return [each / best for each in used_of_window(data)] if best else []


def read_past(data):
    if data['mode'] != 'target':
        return []
    return [each['read_past_bytes'] / each['accessed_bytes'] for each in data['windows']
            if each['accessed_bytes']]


def utilization_papers(data):
    mine = [f'utilization-{data["workload"]}'] if data['workload'] in 'abc' else []
    return ['utilization-before', *mine]


def pair_title(data):
    pace = (f', latencies of hits beside {data["rate"]:,.0f} requests a second' if data.get('rate')
            else '')
    return (f'With a memory target beside without: {data["target"]}, '
            f'{common.number_text(data["keys"])} records, {data["threads"]} connections{pace}')


COMPARISONS = (
    Comparison(
        'limited', limited_title, lambda d: f'{d["limit"]}%', lambda d: d['system'],
        (Figure('throughput under the limit over that without', limited_over_unlimited,
                papers=lambda d: ('limit-unmanaged', 'limit-managed')),
         Figure('p99 under the limit, ms', limited_p99, scale='log'),
         Figure('DRAM and zram, MiB', lambda d: last_samples(
             d, lambda each: (each['dram'] + each['zram']) / MIB), '{:,.0f}'),
         Figure('major faults a second', lambda d: last_samples(
             d, lambda each: each['major_faults']), '{:,.0f}')),
        'lab/experiments/serve/limited.py run --systems {system} --limits {limit} --workloads '
        '{workload} --connections {connections} --rates {rate} --records {records} '
        '--value {value}',
        'A limit is a share of what Redis takes for the same records without one. What follows a '
        'system\'s colon is its swap. The paper limits an index in the process that uses it.',
        limited_remark),
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
        'lab/experiments/serve/beside_redis.py --clients {clients} --value-size {value_size} '
        '--keys {keys} --pipeline {pipeline}',
        'redis-benchmark against each in turn; a ratio is of one round.'),
    Comparison(
        'pair', pair_title, lambda d: f'workload {d["workload"]}', lambda d: '',
        (Figure('throughput, with the target over without',
                lambda d: [] if d.get('rate') else [d['ratio']],  # there it is 1
                papers=lambda d: ('limit-managed',)),
         Figure('p99, with the target over without', lambda d: [d['p99']]),
         Figure('p99.9, with the target over without',
                lambda d: [d['p999']] if 'p999' in d else []),
         Figure('misses of the requests', lambda d: [d['misses']], '{:.1%}'),
         Figure('processor time that a miss adds, us', lambda d: [d['us_a_miss']], '{:.1f}')),
        'lab/experiments/cold/pair.py --target {target} --workloads {workload} --keys {keys} '
        '--threads {threads}',
        'Two servers with the same records get phases of the same load by turns.'),
    Comparison(
        'page-cost', lambda d: 'What the live page costs: '
                               f'{common.number_text(d["keys"])} records, '
                               f'{d["threads"]} connections',
        lambda d: f'the page is {d["side"]}', lambda d: '',
        (Figure('of a processor, taken by the page\'s thread', lambda d: [d['page_share']],
                '{:.2%}'),
         Figure('processor time of a request over that of a server without it',
                lambda d: [d['us_over_none']], '{:.3f}'),
         Figure('throughput over that of a server without it', lambda d: [d['ops_over_none']],
                '{:.3f}'),
         Figure('requests a second', lambda d: [d['ops']], '{:,.0f}')),
        'lab/experiments/serve/page_cost.py --keys {keys} --threads {threads} -- {flags}',
        'Two servers with the same records get phases of the same load by turns; a reader asks for '
        'what an open page asks for.'),
    Comparison(
        'guide-cost', lambda d: 'Guides by the compiler plugin beside guides by hand',
        lambda d: d['operation'], lambda d: d['guides'].replace('_', ' '),
        (Figure('nanoseconds of an operation', lambda d: [d['ns']], '{:.1f}'),),
        'lab/experiments/compiler/costs.py',
        'A hash table of one thread whose values are plain pointers, guides written by hand, and '
        'guides by the plugin.'),
    Comparison(
        'plugin-cost', lambda d: 'Compilation with the compiler plugin',
        lambda d: d['compiled'], lambda d: '',
        (Figure('processor time of the compiler, s', lambda d: [d['user_seconds']]),),
        'lab/experiments/compiler/costs.py',
        'User time of the compiler, without a cache.'),
    Comparison(
        'utilization', lambda d: f'Page utilization, {d["share"]}% of '
                                 f'{common.number_text(d["keys"])} records in DRAM, '
                                 f'{shlex.join(d["load"])}',
        lambda d: f'{d["workload"].upper()}, {d["requests"]:g}',
        lambda d: {'track': 'watched only', 'target': 'with the target'}.get(d['mode'], d['mode']),
        (Figure('bytes used over those of the pages touched', used_of_window, '{:.0%}',
                papers=utilization_papers),
         Figure('the same over that of the best order (computed)', over_best_order, '{:.0%}'),
         Figure('of the bytes used, read past their pages', read_past, '{:.0%}')),
        'lab/experiments/cold/utilization.py run --workloads {workload} --requests {requests:g} '
        '--keys {keys} --window {window:g} --share {share}',
        'A store whose records are read past their pages. Each group is a workload and how many '
        'requests a record gets in a window of the collector; each number is of a window. The '
        'papers\' figures are of records in memory, in windows of 120 s.'),
    Comparison(
        'misses', lambda d: ('Reads of one key beside others' if d['experiment'] == 'hotkey' else
                             'Hits and misses of Zipfian reads')
        + f', {d["share"]}% of {common.number_text(d["records"])} records of {d["value"]} bytes '
          'in DRAM' + (f', {d["depth"]} at once beside' if d.get('depth', 1) > 1 else ''),
        lambda d: f'a disk read of {d["read_ms"]:g} ms' if d['read_ms'] else 'the disk as it is',
        lambda d: d['beside'] if d['experiment'] == 'zipfian' else f'beside {d["beside"]}',
        tuple(Figure(f'{name}, us', lambda d, share=share: [d['latency_us'][share]], '{:,.0f}',
                     'log') for name, share in (('p50', 'p50'), ('p99', 'p99'), ('p99.9', 'p999'))),
        'lab/experiments/cold/misses.py slow --reads-ms {read_ms:g} --records {records} --value '
        '{value} --share {share}',
        'What a read that misses costs others. Latency in microseconds.'),
    Comparison(
        'miss-sizes', lambda d: f'Throughput by size of values, {d["share"]}% in DRAM',
        lambda d: d['beside'], lambda d: '',
        (Figure('throughput, with the target over without', lambda d: [d['ratio']],
                papers=lambda d: ('limit-managed',)),
         Figure('p99, with the target over without',
                lambda d: [d['latency_us']['p99'] / d['unlimited_us']['p99']])),
        'lab/experiments/cold/misses.py sizes --share {share}',
        'YCSB C with as many bytes of values each.',
        lambda d: '' if d['holds'] else 'over its target'),
    Comparison(
        'miss-ratios', lambda d: f'Misses, simulated: {d["trace"]}',
        lambda d: f'{d["share"]:.0%} in DRAM', lambda d: d['policy'],
        (Figure('misses of the requests', lambda d: [d['misses']], '{:.1%}'),),
        'lab/experiments/miss_ratios.py --traces DIR',
        'What is kept, not what that costs: objects of one size, requests of a recorded trace.'),
    Comparison(
        'sort-beside', lambda d: 'Sorting other shapes beside what people use'
        if d.get('experiment') == 'sort shapes' else 'Sorting beside its peers',
        lambda d: d['what'], lambda d: d['side'],
        (Figure('seconds', lambda d: [d['seconds']]),),
        'lab/experiments/sort/peers.py --megabytes {megabytes}',
        'In turn, on the machine\'s own memory or disk.'),
    Comparison(
        'sort-auto', lambda d: f'Algorithm auto of sort: {d["megabytes"]} MB, {d["shape"]}, '
        f'{d["where"]}, {d["cache"]}' + (', by a profile' if d['profile'] else ''),
        lambda d: f'memory: {d["limit"]}', lambda d: d['algorithm'],
        (Figure('seconds', lambda d: [d['seconds']]),),
        'lab/experiments/sort/auto.py --megabytes {megabytes} --only {shape} --limit {limit} '
        '--cache {cache}',
        'auto beside each algorithm that could have been named; memory is a part of the input.',
        lambda d: f'took {d["ran"]}' if d['algorithm'] == 'auto' else ''),
    Comparison(
        'sort-memory', lambda d: f'Memory of sorts, in {d["dir"]}',
        lambda d: f'{d["limit"]}, input {d["times"]} times that', lambda d: d['algorithm'],
        (Figure('peak of resident memory over the limit',
                lambda d: [d['peak_bytes'] / d['limit_bytes']], '{:.0%}'),
         Figure('seconds', lambda d: [d['seconds']])),
        'lab/experiments/sort/memory.py --limits {limit} --times {times}',
        'The peak is the kernel\'s (ru_maxrss).',
        lambda d: 'over its limit' if d['peak_bytes'] > d['limit_bytes'] else ''),
)


def sections(results):
    return sections_of(results, COMPARISONS)
