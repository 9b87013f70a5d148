#!/usr/bin/env python3
"""DRAM, page utilization and latency of YCSB A, B, C with cold pages out.

    lab/experiments/memory/run.py --workloads a,b,c --rates 2000,10000 -- --keys 2000000 \\
        --cold-backing file:/var/tmp

For each workload and rate, one run without management, one with management that never asks for
reclaim (--hint none), and one that pages COLD out; each is measured for --seconds after --warmup
seconds, in which the heaps converge. Prints Markdown tables.

Beside the misses stand those of an LRU cache of records on the same requests, and of the best fixed
choice of records, with the DRAM that held records. Beside the measured utilization stands a
computed one, marked so: what the same requests of one window would use of their pages if the
records lay in the order of their true popularity. No placement by popularity can be expected to do
better; it is no strict bound.
"""
import argparse
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402

MIB = 1 << 20
PAGE = 4096
# YCSB draws Zipfian ranks among so many items and hashes them onto the keys.
ITEMS = 10**10
THETA = 0.99
ZETA = 26.46902820178302  # sum of 1 / i^0.99 for i up to ITEMS, as YCSB has it
SIDES = {'off': ('off', ()), 'none': ('on', ('--hint', 'none')),
         'pageout': ('on', ('--hint', 'pageout'))}


def zipfian_rank(chance):
    """Gray et al., Quickly generating billion-record synthetic databases, SIGMOD 1994."""
    if chance * ZETA < 1:
        return 0
    if chance * ZETA < 1 + 0.5**THETA:
        return 1
    eta = (1 - (2 / ITEMS)**(1 - THETA)) / (1 - (1 + 0.5**THETA) / ZETA)
    return int(ITEMS * (eta * chance - eta + 1)**(1 / (1 - THETA)))


def best_utilization(keys, requests, record_bytes, seed=1):
    """Records lie in the order of popularity; those that no rank below `keys` hits, evenly."""
    chance = random.Random(seed)
    used, pages = set(), set()
    for _ in range(requests):
        rank = zipfian_rank(chance.random())
        place = rank if rank < keys else chance.randrange(keys)
        used.add(place)
        pages.update(range(place * record_bytes // PAGE,
                           (place * record_bytes + record_bytes - 1) // PAGE + 1))
    # A window without requests, as of a busy machine, touches no page.
    return len(used) * record_bytes / (len(pages) * PAGE) if pages else 0


def latencies(run):
    of = run['latency_us']
    return ' / '.join(f'{of[name]:.0f}' for name in ('p50', 'p90', 'p99'))


def memory_row(runs):
    off, on = runs['off'], runs['pageout']
    index = on['node_bytes'] + on['index_bytes_per_entry']['soda'] * on['keys']
    record = on['key_size'] + on['value_size']
    best = best_utilization(on['keys'], on['windows'][-1]['operations'], record)
    return [
        f'{off["dram_bytes"] / MIB:.0f} MiB',
        f'{on["dram_bytes"] / MIB:.0f} MiB ({on["dram_bytes"] / off["dram_bytes"] - 1:+.0%})',
        on['cold_threshold'],
        f'{on["record_dram_bytes"] / MIB:.0f} + {index / MIB:.0f} MiB',
        f'{on["miss_ratio"]:.2%}',
        f'{on["object_lru_miss_ratio"]:.2%}, {on["best_static_miss_ratio"]:.2%}',
        f'{off["page_utilization"]:.1%}, {on["page_utilization"]:.1%}, {best:.1%}',
    ]


def latency_row(runs):
    return [*(latencies(runs[side]) if side in runs else '-' for side in SIDES),
            f'{runs["pageout"]["throughput_ops_s"] / runs["off"]["throughput_ops_s"]:.3f}',
            f'{runs["pageout"]["collector_cpu_fraction"]:.1%}']


def table(title, columns, rows):
    print(f'\n{title}\n\n| {" | ".join(columns)} |\n|{"---|" * len(columns)}')
    for row in rows:
        print(f'| {" | ".join(str(cell) for cell in row)} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--workloads', default='a,b,c')
    parser.add_argument('--rates', default='2000,10000', help='requests a second')
    parser.add_argument('--sides', default='off,none,pageout', help='pageout and off are needed')
    parser.add_argument('--warmup', type=float, default=80, help='seconds; off takes a tenth')
    parser.add_argument('--seconds', type=float, default=20)
    parser.add_argument('--tool', default=tree.TOOL)
    parser.add_argument('--save', help='append the JSON object of each run to this file')
    parser.add_argument('flags', nargs='*', help='flags of isotherm bench ycsb, after --')
    options = parser.parse_args()
    found = {}
    for workload in options.workloads.split(','):
        for rate in options.rates.split(','):
            for side in options.sides.split(','):
                manage, more = SIDES[side]
                warmup = options.warmup / 10 if side == 'off' else options.warmup
                flags = [*options.flags, *more, '--workload', workload, '--rate', rate,
                         '--warmup', warmup, '--seconds', options.seconds]
                try:
                    run = ycsb.run(options.tool, manage, flags)
                except ycsb.run_failed as error:
                    sys.exit(f'memory: {error}')
                found.setdefault((workload, f'{int(rate):,}/s'), {})[side] = run
                saved.append(options.save, 'memory', **run)
    print(f'{" ".join(options.flags)}\n{saved.here()}')
    table('Memory', ['workload', 'rate', 'off', 'cold pages out', 'threshold', 'records + index',
                     'misses', 'object-LRU, best static with DRAM for as many records',
                     'utilization off, out, best order (computed)'],
          [[*which, *memory_row(runs)] for which, runs in found.items()])
    table('Latency p50 / p90 / p99, us, from the intended start',
          ['workload', 'rate', 'off', 'managed, no reclaim', 'cold pages out',
           'throughput out / off', 'collector CPU'],
          [[*which, *latency_row(runs)] for which, runs in found.items()])


if __name__ == '__main__':
    main()
