#!/usr/bin/python3
"""A store with a memory target beside one without: the same requests, by turns.

    lab/experiments/memory_target/run.py --target 141mb --workloads c,b --pairs 8 --warmup 600 \\
        --save pairs.jsonl

Both run all the time and hold the same records; the one without keeps all of them in DRAM
(--miss-share 0). After a warm-up of the one with a target, phases of new requests go to the one and
to the other by turns, so that what else the machine does meets both. Each further workload has a
warm-up of a tenth of the first one's.
Prints throughput, its ratio, latencies, misses of the requests, and the server's processor time: of
a request, and what a miss adds to it (`us_a_miss`): medians and ranges. --save appends a JSON
object a pair.

With --rate the phases are no closed loops: so many requests come each second, and beside them 2,000
reads of 500 records, which are in DRAM as each is read four times a second. The latencies are
those reads': of hits alone, corrected for coordinated omission.

Keys are permuted: Zipfian 0.99 over the records themselves. YCSB's own Zipfian sends two in five
requests evenly to all records, so that a target of a third would be measured by its disk alone.

Flags of isotherm serve for both stores may follow after --, as `-- --threads 4 --read-thread`.
"""
import argparse
import contextlib
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402

HIT_RECORDS = 500
HITS_PER_SECOND = 2000


@contextlib.contextmanager
def driver(options, server, *more):
    command = [options.tool, 'bench', 'ycsb', '--connect', server.address, '--json', '-', *more]
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        servers.end(process)


def report_of(process):
    out, errors = process.communicate()
    if process.returncode != 0:
        raise servers.Trouble(errors.strip() or 'the driver failed')
    return json.loads(out)


def load(options, server, workload, seconds, *more):
    return driver(options, server, '--keys', options.keys, '--workload', workload,
                  '--distribution', 'permuted', '--threads', options.threads,
                  '--seconds', seconds, *more)


def hits(options, server):
    return driver(options, server, '--keys', HIT_RECORDS, '--workload', 'c',
                  '--distribution', 'uniform', '--threads', 2, '--rate', HITS_PER_SECOND,
                  '--warmup', 1, '--seconds', options.seconds - 1, '--no-load')


def drive(options, server, workload, seconds, *more):
    """The driver's report."""
    with load(options, server, workload, seconds, *more) as process:
        return report_of(process)


def driven(options, server, workload):
    """A phase's report, all of its requests, and the server's processor time a request, in
    microseconds."""
    _, before = server.spent()
    with contextlib.ExitStack() as stack:
        process = stack.enter_context(
            load(options, server, workload, options.seconds, '--no-load', '--rate', options.rate))
        beside = stack.enter_context(hits(options, server)) if options.rate else None
        seen = report_of(process)
        requests = seen['throughput_ops_s'] * options.seconds
        if beside:
            seen['latency_us'] = report_of(beside)['latency_us']
            requests += HITS_PER_SECOND * options.seconds
    _, after = server.spent()
    return seen, requests, (after - before) / requests * 1e6


def latencies(seen, alone):
    """In microseconds with a target, and over those without."""
    with_target, without = seen['latency_us'], alone['latency_us']
    return {name: value for share in ('p50', 'p99', 'p999') for name, value in (
        (f'{share}_us', with_target[share]), (share, with_target[share] / without[share]))}


def measure(options, workload, limited, free):
    before = limited.stats()
    seen, requests, cost = driven(options, limited, workload)
    after = limited.stats()
    alone, _, cost_free = driven(options, free, workload)
    if int(free.stats()['cold_misses']):
        raise servers.Trouble('the store without a target has missed too')
    misses = int(after['cold_misses']) - int(before['cold_misses'])
    found = {'ratio': seen['throughput_ops_s'] / alone['throughput_ops_s'],
             'ops': seen['throughput_ops_s'], 'ops_free': alone['throughput_ops_s'],
             'misses': misses / (seen['throughput_ops_s'] * options.seconds),
             **latencies(seen, alone),
             'us': cost, 'us_free': cost_free,
             'us_a_miss': (cost - cost_free) * requests / misses if misses else 0}
    saved.append(options.save, 'pair', workload=workload, target=options.target, keys=options.keys,
                 threads=options.threads, rate=options.rate, warmup=options.warmup,
                 seconds=options.seconds, flags=options.flags, **found)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tool', default=tree.TOOL)
    parser.add_argument('--target', default='141mb', help="of the one's DRAM")
    parser.add_argument('--workloads', default='c')
    parser.add_argument('--keys', type=int, default=300000)
    parser.add_argument('--threads', type=int, default=16, help='connections')
    parser.add_argument('--warmup', type=float, default=60, help='seconds')
    parser.add_argument('--seconds', type=float, default=5, help='of a phase')
    parser.add_argument('--rate', type=float, default=0,
                        help='requests a second, and hits beside them; 0: closed loops')
    parser.add_argument('--pairs', type=int, default=8)
    parser.add_argument('--save', help='append a JSON object a pair')
    parser.add_argument('flags', nargs='*', help='of isotherm serve, for both, after --')
    options = parser.parse_args()
    if options.rate and options.seconds < 2:
        parser.error('--rate needs phases of 2 seconds at least: the first one warms up')
    with contextlib.ExitStack() as stack:
        pair = []
        for own in ([], ['--miss-share', 0]):
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            flags = ['--window', 5, *own, *options.flags]
            command = servers.isotherm_command(folder, options.tool, flags)
            pair.append(stack.enter_context(servers.serving(command, folder / 'socket')))
        workloads = options.workloads.split(',')
        drive(options, pair[1], workloads[0], 1)
        drive(options, pair[0], workloads[0], 1)
        pair[0].client.execute_command('ISOTHERM', 'CONFIG', 'SET', 'memory-target', options.target)
        print(saved.here())
        for workload in workloads:
            seconds = options.warmup if workload == workloads[0] else options.warmup / 10
            drive(options, pair[0], workload, seconds, '--no-load')
            if options.rate:
                driven(options, pair[0], workload)  # so that the hits' records are in DRAM
            print(f'workload {workload}, target {options.target}, after {seconds:g} s')
            report([measure(options, workload, *pair) for _ in range(options.pairs)])


def report(rows):
    for name in rows[0]:
        values = [row[name] for row in rows]
        print(f'  {name}: {statistics.median(values):.4g} '
              f'({min(values):.4g} .. {max(values):.4g})', flush=True)


if __name__ == '__main__':
    servers.run_main('memory_target', main)
