#!/usr/bin/env python3
"""Alternating runs of `isotherm bench ycsb` with --manage off, track and on.

    lab/experiments/pairs/run.py --rounds 5 -- --index hash-pugh --keys 1000000 --workload c
    lab/experiments/pairs/run.py --sides off,on:counts,on:veto -- --index art

Runs off, track, on, off, track, on, ..., each round with requests of its own, the same for all
sides; a side may name the migration protocol. Prints the median
and the spread of each side, and the median of the ratios of neighbours to their round's off. Flags
after -- go to the tool.
"""
import argparse
import pathlib
import random
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402

SIDES = ('off', 'track', 'on')
FIGURES = {
    'ops/s': lambda run: run['throughput_ops_s'],
    'p50 us': lambda run: run['latency_us']['p50'],
    'p90 us': lambda run: run['latency_us']['p90'],
    'p99 us': lambda run: run['latency_us']['p99'],
    'RSS MiB': lambda run: run['rss_bytes'] / 2**20,
    'DRAM MiB': lambda run: run['dram_bytes'] / 2**20,
    'misses': lambda run: run['miss_ratio'] or 0,
    'utilization': lambda run: run['page_utilization'] or 0,
    'collector CPU': lambda run: run['collector_cpu_fraction'] or 0,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--sides', default=','.join(SIDES), help='in the order of a round')
    parser.add_argument('--tool', default=tree.TOOL)
    parser.add_argument('--save', help='append the JSON object of each run to this file')
    parser.add_argument('flags', nargs='*', help='flags of isotherm bench ycsb, after --')
    options = parser.parse_args()
    sides = options.sides.split(',')
    runs = {side: [] for side in sides}
    for _ in range(options.rounds):
        seed = random.getrandbits(32)
        for side in sides:
            try:
                found = ycsb.run(options.tool, side, ['--seed', seed, *options.flags])
            except ycsb.run_failed as error:
                sys.exit(f'pairs: {error}')
            runs[side].append(found)
            saved.append(options.save, 'pairs', **found)
    print(f'{options.rounds} rounds of {", ".join(sides)}: {" ".join(options.flags)}')
    print(saved.here())
    for name, figure in FIGURES.items():
        print(name)
        base = [figure(one) for one in runs[sides[0]]]
        for side in sides:
            values = [figure(one) for one in runs[side]]
            ratios = [value / first for value, first in zip(values, base) if first]
            ratio = f'  ratio to {sides[0]} {ycsb.spread(ratios)}' if ratios else ''
            print(f'  {side:10} {ycsb.spread(values):36}{ratio}')


if __name__ == '__main__':
    main()
