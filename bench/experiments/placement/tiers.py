#!/usr/bin/env python3
"""SINLK's experiments on emulated slow memory: `isotherm bench tiers`, and its tables.

    cd bench/experiments/placement
    ./tiers.py run --save tiers.jsonl -- --index art --workload sp-c --keys 5000000
    ./tiers.py table tiers.jsonl
    ./tiers.py seconds tiers.jsonl

`run` passes what stands after -- to the tool, whose placements run one after the other in each
round, and appends a line a run. `table` prints, for each index, workload and share of fast memory,
the throughput and p99 of each placement as ratios to the round's first placement: medians and
ranges. `seconds` prints throughput and use of fast memory second by second, and the processor time
of SINLK's workers.
"""
import argparse
import collections
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

import ycsb  # noqa: E402


def run(options):
    command = [options.tool, 'bench', 'tiers', *options.flags, '--json', options.save]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit('tiers: ' + ' '.join(command) + ' failed')


def rows_of(paths):
    for path in paths:
        with open(path, encoding='utf-8') as file:
            yield from map(json.loads, file)


def name_of(row):
    counted = '' if row['counting'] == 'leaves' else f' ({row["counting"]} counted)'
    return row['placement'] + counted


def table(options):
    groups = collections.OrderedDict()
    for row in rows_of(options.files):
        what = (row['index'], row['workload'], row['fast_share'], row['keys'], row['key_size'],
                row['threads'])
        groups.setdefault(what, collections.OrderedDict()).setdefault(row['seed'], {})[
            name_of(row)] = row
    print(f'{ycsb.machine()}; slow memory is emulated')
    print('| index | workload | fast | placement | ops/s | over the first | p99 over the first |')
    print('|---|---|---|---|---|---|---|')
    for (index, workload, fast, *_), rounds in groups.items():
        names = list(next(iter(rounds.values())))
        for name in names:
            pairs = [(each[names[0]], each[name]) for each in rounds.values()
                     if name in each and names[0] in each]
            ops = [mine['throughput_ops_s'] for _, mine in pairs]
            over = [mine['throughput_ops_s'] / first['throughput_ops_s'] for first, mine in pairs]
            tail = [mine['latency_us']['p99'] / first['latency_us']['p99'] for first, mine in pairs]
            print(f'| `{index}` | {workload} | {fast:.0%} | `{name}` | {ycsb.median(ops, ",.0f")} '
                  f'| {ycsb.spread(over, ".2f")} | {ycsb.spread(tail, ".2f")} |')


def seconds(options):
    for row in rows_of(options.files):
        print(f'{row["index"]} {row["workload"]} {row["fast_share"]:.0%} {name_of(row)}, '
              f'seed {row["seed"]}: M ops/s, fast memory used')
        print('  ' + ' '.join(f'{each["throughput_ops_s"] / 1e6:.2f}/{each["fast_usage"]:.0%}'
                              for each in row['each_second']))
        times = {name.removesuffix('_seconds'): value for name, value in row['details'].items()
                 if name.endswith('_seconds')}
        if times:
            print('  processor time, s: ' + ', '.join(f'{n} {t:.3f}' for n, t in times.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser('run')
    running.add_argument('--tool', default=ycsb.TOOL)
    running.add_argument('--save', required=True, help='appended to')
    running.add_argument('flags', nargs='*', help='of isotherm bench tiers, after --')
    running.set_defaults(work=run)
    for name, work in (('table', table), ('seconds', seconds)):
        command = commands.add_parser(name)
        command.add_argument('files', nargs='+')
        command.set_defaults(work=work)
    options = parser.parse_args()
    options.work(options)


if __name__ == '__main__':
    main()
