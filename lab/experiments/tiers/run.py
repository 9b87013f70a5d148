#!/usr/bin/env python3
"""SINLK's experiments on emulated slow memory: `isotherm bench tiers`, and its tables.

    lab/experiments/tiers/run.py run --save tiers.jsonl -- --index art --workload sp-c
    lab/experiments/tiers/run.py figure 13 14 --save figures
    lab/experiments/tiers/run.py table tiers.jsonl
    lab/experiments/tiers/run.py seconds tiers.jsonl
    lab/experiments/tiers/run.py simulate --save simulated.jsonl
    lab/experiments/tiers/run.py cards simulated.jsonl

`run` passes what stands after -- to the tool, whose placements run one after the other in each
round, and appends a line a run. `figure` runs what answers figures of the paper (FIGURES), each to
a file of its own in a folder. `table` prints, for each index, workload and share of fast memory,
the throughput and p99 of each placement as ratios to the round's first placement: medians and
ranges. `seconds` prints throughput and use of fast memory second by second, and the processor time
of SINLK's workers. `simulate` counts in place of timing what answers figures of the paper
(simulated.py), in minutes, and `cards` prints that as tables.
"""
import argparse
import collections
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402

import simulated  # noqa: E402


COMMON = '--keys 2000000 --seconds 3 --warmup 6'.split()
ART = '--index art --warmup 12'.split()  # a visit of its leaves, one a key, takes longer
TREE = '--index btree-occ'.split()
PAIR = '--placement interleave,sinlk'.split()
SYSTEMS = '--placement interleave,static,tpp,memtis,caption,sinlk,prophet'.split()


def flags(words, *more):
    """Returns the words of a command. The last one of a flag that is given twice stands."""
    chosen = [*TREE, *COMMON, *(word for part in more for word in part), *words.split()]
    return [word for pair in dict(zip(chosen[::2], chosen[1::2])).items() for word in pair]


# The runs of a figure of the paper: lists of flags.
FIGURES = {
    '6': [flags('--workload sp-c --fast 50 --placement interleave,static,layered,prophet')],
    '8': [flags('--workload sp-c --fast 2,5,10 --placement interleave,prophet')],
    '13': [flags('--workload sp-a,sp-b,sp-c,sp-d', SYSTEMS)],
    '14': [flags('--workload ycsb-a,ycsb-b,ycsb-c,ycsb-d,ycsb-e,ycsb-f', SYSTEMS),
           flags('--workload sp-a,sp-c,sp-d,ycsb-a,ycsb-c', ART,
                 ['--placement', 'interleave,static,memtis,sinlk,prophet'])],
    '13-rounds': [flags('--workload sp-c,ycsb-c --rounds 5', PAIR)],
    '15a': [flags('--workload sp-c --shift 20 --seconds 60', PAIR)],
    '15b': [flags(f'--workload sp-c --placement sinlk --trigger-ms {turn} --cooling-ms {cool}')
            for turn, cool in ((250, 1000), (500, 2000), (1000, 4000), (2000, 8000))],
    '15c': [flags('--workload ycsb-c --fast 10,20,40,60,80', PAIR)],
    '16': [flags(f'--workload sp-c --keys {keys}', PAIR) for keys in (500000, 1000000, 4000000)] +
          [flags('--workload sp-c --threads 1', PAIR)],
    # A round each, so that ways to count come by turns.
    '17': [flags(f'--workload sp-c --placement layered --count {count} --seed {1 + seed}')
           for seed in range(5) for count in ('none', 'leaves', 'paths')] +
          [flags('--workload sp-a,sp-c,sp-d --placement interleave,layered,sinlk')],
    '18': [flags(f'--workload sp-a --keys 1000000 --key-size {size}', PAIR)
           for size in (16, 64, 256)],
    '18-values': [flags(f'--workload sp-a --keys 1000000 --value-size {size}', PAIR)
                  for size in (64, 256, 1024)],
    '20': [flags(f'--workload {name} --seconds 20 --warmup 0 --placement sinlk')
           for name in ('sp-a', 'sp-c', 'sp-d')],
}


def call_tool(options, words, save):
    command = [options.tool, 'bench', 'tiers', *words, '--json', str(save)]
    if subprocess.run(command, check=False).returncode != 0:
        sys.exit('tiers: ' + ' '.join(command) + ' failed')


def run(options):
    call_tool(options, options.flags, options.save)


def figure(options):
    folder = pathlib.Path(options.save)
    folder.mkdir(parents=True, exist_ok=True)
    for name in options.figures:
        for words in FIGURES[name]:
            call_tool(options, words, folder / f'{name}.jsonl')


def name_of(row):
    counted = '' if row['counting'] in ('leaves', 'needed') else f' ({row["counting"]} counted)'
    return row['placement'] + counted


def table(options):
    groups = collections.OrderedDict()
    for row in saved.rows(*options.files):
        what = (row['index'], row['workload'], row['fast_share'], row['keys'], row['key_size'],
                row['threads'])
        groups.setdefault(what, collections.OrderedDict()).setdefault(row['seed'], {})[
            name_of(row)] = row
    print(f'{saved.here()}; slow memory is emulated')
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
    for row in saved.rows(*options.files):
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
    running.add_argument('--tool', default=tree.TOOL)
    running.add_argument('--save', required=True, help='appended to')
    running.add_argument('flags', nargs='*', help='of isotherm bench tiers, after --')
    running.set_defaults(work=run)
    figures = commands.add_parser('figure')
    figures.add_argument('figures', nargs='+', choices=FIGURES)
    figures.add_argument('--tool', default=tree.TOOL)
    figures.add_argument('--save', required=True, help='a folder')
    figures.set_defaults(work=figure)
    simulating = commands.add_parser('simulate')
    simulating.add_argument('--figures', nargs='+', choices=simulated.NAMES,
                            default=simulated.NAMES)
    simulating.add_argument('--keys', type=int, default=simulated.KEYS)
    simulating.add_argument('--jobs', type=int, default=2, help='runs side by side')
    simulating.add_argument('--tool', default=tree.TOOL)
    simulating.add_argument('--save', required=True, help='appended to')
    simulating.set_defaults(work=simulated.run)
    saved.add_readers(commands, table=table, seconds=seconds, cards=simulated.cards)
    options = parser.parse_args()
    options.work(options)


if __name__ == '__main__':
    main()
