#!/usr/bin/env python3
"""The papers' E1 (what management saves) and E3 (what it costs) over all indexes.

    lab/experiments/e1_e3/run.py e3 --save e3.jsonl
    lab/experiments/e1_e3/run.py e1 --save e1.jsonl --rate 2000
    lab/experiments/e1_e3/run.py e3 --estimate
    lab/experiments/e1_e3/run.py table e3.jsonl e1.jsonl

e3: closed loop; rounds of off, track (the collector scans and moves nothing), on with counts, on
with veto, each round beginning with another of them. e1: page utilization and DRAM of YCSB A, B and
C at a rate, off, on with counts, on with veto. Each run is a process of its own with a limit of
time, and one line of the file as soon as it ends, with the load of the machine before and after it,
the time that the host took from the machine meanwhile, and its last window; runs that the file
holds are not run again, so that a campaign goes on where it was cut off. Flags after -- go to the
tool. The tables are printed at the end, or by `table` from what there is.
"""
import argparse
import collections
import itertools
import math
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402

INDEXES = ('hash-pugh', 'hash-harris', 'hash-chm', 'skiplist-coarse', 'skiplist-fraser',
           'skiplist-herlihy', 'btree-coarse', 'btree-occ', 'masstree', 'art')
PROTOCOLS = ('counts', 'veto')
E3_SIDES = ('track', *(f'on:{p}' for p in PROTOCOLS))  # compared with off
# Loading, starting and ending a process, guessed on the slow side.
START_SECONDS, LOAD_RECORDS_A_SECOND = 0.3, 150_000


def plan_e3(options):
    """(index, workload, side, round) of each run, in order."""
    sides = ['off', *E3_SIDES]
    for turn in range(options.rounds):
        for index in options.indexes:
            for i in range(len(sides)):
                yield index, options.workload, sides[(turn + i) % len(sides)], turn


def plan_e1(options):
    sides = ('off', *(f'on:{protocol}' for protocol in options.protocols))
    return itertools.product(options.indexes, options.workloads, sides, range(options.rounds))


def times(options, side):
    """Seconds of warm-up and of measuring; without management nothing converges."""
    if options.experiment == 'e1' and side == 'off':
        return 0, 2 * options.window
    return options.warmup, options.seconds


def expected_seconds(options, side):
    return sum(times(options, side)) + START_SECONDS + options.keys / LOAD_RECORDS_A_SECOND


def flags_of(options, index, workload, side):
    warmup, seconds = times(options, side)
    flags = ['--index', index, '--workload', workload, '--keys', options.keys, '--threads',
             options.threads, '--window', options.window, '--warmup', warmup, '--seconds', seconds,
             '--cold-backing', options.cold_backing]
    if options.experiment == 'e1':
        flags += ['--rate', options.rate, '--hint', options.hint, '--min-rest', options.min_rest]
    return [*flags, *options.flags, *(['--huge-pages'] if options.huge_pages else [])]


def environment(options, side):
    """Returns the environment of a run, or None for that of this process. The side without
    management needs a setting of its own for huge pages: its values come from malloc."""
    if options.huge_pages and side == 'off':
        return {**os.environ, 'GLIBC_TUNABLES': 'glibc.malloc.hugetlb=1'}
    return None


def machine_state():
    """Load of the last minute, and seconds that the host took from this machine so far."""
    with open('/proc/stat') as file:
        steal = int(file.readline().split()[8])
    return {'load': os.getloadavg()[0], 'steal_s': steal / os.sysconf('SC_CLK_TCK')}


def read_runs(path):
    if not pathlib.Path(path).exists():
        return []
    return list(saved.rows(path))


def measure(options):
    if pathlib.Path(options.save).exists() and not options.estimate:
        print(f'going on with {options.save}')
    held = {(one['experiment'], one['index'], one['workload'], one['side'], one['round'],
             ' '.join(one['flags'])) for one in read_runs(options.save)}
    left = []
    for index, workload, side, turn in options.plan(options):
        flags = [str(flag) for flag in flags_of(options, index, workload, side)]
        if (options.experiment, index, workload, side, turn, ' '.join(flags)) not in held:
            left.append((index, workload, side, turn, flags))
    expected = sum(expected_seconds(options, side) for _, _, side, _, _ in left)
    print(f'{len(left)} runs, about {expected / 60:.0f} minutes', flush=True)
    if options.estimate:
        return 0
    failed = 0
    began, scheduled = time.monotonic(), 0
    for number, (index, workload, side, turn, flags) in enumerate(left, 1):
        mine = expected_seconds(options, side)
        scheduled += mine
        try:
            before = machine_state()
            found = ycsb.run(options.tool, side, flags, 3 * mine + 300, environment(options, side))
            after = machine_state()
        except ycsb.run_failed as error:
            failed += 1
            print(f'e1_e3: {error}', file=sys.stderr)
            continue
        found['windows'] = found['windows'][-1:]
        saved.append(options.save, options.experiment, index=index, workload=workload, side=side,
                     round=turn, flags=flags, load_average=[before['load'], after['load']],
                     steal_seconds=round(after['steal_s'] - before['steal_s'], 2), found=found)
        pace = (time.monotonic() - began) / scheduled
        minutes = pace * (expected - scheduled) / 60
        print(f'{number}/{len(left)}, {minutes:.1f} minutes left: {index} {workload} {side}: '
              f'{found["throughput_ops_s"]:.4g} ops/s', flush=True)
    show([one for one in read_runs(options.save) if one['experiment'] == options.experiment])
    if failed:
        print(f'e1_e3: {failed} runs failed; the same command runs them again', file=sys.stderr)
    return 1 if failed else 0


def ratios(sides, side, figure):
    """Returns the ratios of `side` to off, round by round."""
    return [figure(sides[side][turn]) / figure(sides['off'][turn])
            for turn in sorted(sides[side]) if turn in sides['off']]


def winner(sides):
    """The protocol with the greater median throughput, and in how many rounds it was ahead."""
    rates = {p: {turn: run['throughput_ops_s'] for turn, run in sides[f'on:{p}'].items()}
             for p in PROTOCOLS}
    if not all(rates.values()):
        return '-'
    best, other = sorted(PROTOCOLS, key=lambda p: -statistics.median(rates[p].values()))
    both = [turn for turn in rates[best] if turn in rates[other]]
    ahead = sum(rates[best][turn] > rates[other][turn] for turn in both)
    return f'{best}, {ahead} of {len(both)}'


def mean_of_medians(groups, side, figure):
    medians = [statistics.median(found) for sides in groups.values()
               if (found := ratios(sides, side, figure))]
    return f'{math.exp(statistics.fmean(map(math.log, medians))):.3f}' if medians else '-'


E3_FIGURES = (lambda run: run['throughput_ops_s'], lambda run: run['latency_us']['p90'])


def show_e3(runs):
    groups = collections.defaultdict(lambda: collections.defaultdict(dict))
    for one in runs:
        groups[one['index']][one['side']][one['round']] = one['found']
    compared = 'track / off | counts / off | veto / off'
    print(f'| index | off, ops/s | {compared} | off, p90 us | {compared} '
          '| collector CPU, counts, veto | winner |\n' + '|---' * 11 + '|')
    for index, sides in groups.items():
        cells = []
        for figure in E3_FIGURES:
            cells.append(ycsb.spread([figure(run) for run in sides['off'].values()]))
            cells += [ycsb.spread(ratios(sides, side, figure), '.3f') for side in E3_SIDES]
        cells.append(', '.join(
            ycsb.median([run['collector_cpu_fraction'] for run in sides[f'on:{p}'].values()], '.1%')
            for p in PROTOCOLS))
        print(f'| {index} | {" | ".join(cells)} | {winner(sides)} |')
    rates, latencies = ([mean_of_medians(groups, side, figure) for side in E3_SIDES]
                        for figure in E3_FIGURES)
    print(f'| geometric mean | | {" | ".join(rates)} | | {" | ".join(latencies)} | | |')


def misses_of(found):
    """Share of the requests, and that of the best fixed choice of records at the same DRAM."""
    return f'{found["miss_ratio"]:.1%} ({found["best_static_miss_ratio"]:.1%})'


def bound_of(runs):
    """The best page utilization of any fixed order of the records at the runs' operating point."""
    return middle(runs, lambda run: (run['operating_point'] or {}).get('best_page_utilization'))


def show_e1(runs):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for one in runs:
        groups[one['workload'], one['index']][one['side']].append(one['found'])
    both = ' | '.join(PROTOCOLS)
    print(f'| workload | index | utilization off | {both} | bound of a fixed order '
          f'| over the bound, {both} | DRAM off, MiB | {both} '
          f'| misses (best static), {both} | rate kept |\n' + '|---' * 14 + '|')
    for (workload, index), sides in sorted(
            groups.items(), key=lambda one: (one[0][0], INDEXES.index(one[0][1]))):
        off, managed = sides['off'], [sides[f'on:{protocol}'] for protocol in PROTOCOLS]
        used = middle(off, lambda run: run['page_utilization'])
        dram = middle(off, lambda run: run['dram_bytes'] / 2**20)
        cells = [format_if(used, '.1%')]
        for side in managed:
            found = middle(side, lambda run: run['page_utilization'])
            cells.append(f'{found:.1%} ({found / used:.1f} x)' if found and used else '-')
        bound = bound_of([run for side in managed for run in side])
        cells.append(format_if(bound, '.1%'))
        for side in managed:
            found = middle(side, lambda run: run['page_utilization'])
            cells.append(f'{found / bound:.0%}' if found and bound else '-')
        cells.append(format_if(dram, '.0f'))
        for side in managed:
            found = middle(side, lambda run: run['dram_bytes'] / 2**20)
            cells.append(f'{found:.0f} ({found / dram - 1:+.0%})' if found and dram else '-')
        cells += [misses_of(sorted(side, key=lambda run: run['miss_ratio'])[len(side) // 2])
                  if side else '-' for side in managed]
        asked = [run['throughput_ops_s'] / run['rate'] for side in managed for run in side]
        cells.append(f'{min(asked):.1%}' if asked else '-')
        print(f'| {workload} | {index} | {" | ".join(cells)} |')


def middle(runs, figure):
    """The median of what the runs have of a figure, or None."""
    found = [value for run in runs if (value := figure(run))]
    return statistics.median(found) if found else None


def format_if(value, form):
    return '-' if value is None else f'{value:{form}}'


def show(runs):
    """A table for each experiment and each set of flags other than the index."""
    groups = collections.defaultdict(list)
    for one in runs:
        apart = ('--index', '--workload') if one['experiment'] == 'e1' else ('--index',)
        words = [f'{name} {value}' for name, value in zip(one['flags'][::2], one['flags'][1::2])
                 if name not in (*apart, '--warmup', '--seconds')]
        words += ['--huge-pages'] * ('--huge-pages' in one['flags'])
        groups[one['experiment'], ' '.join(words)].append(one)
    print(f'\n{saved.here()}')
    for (experiment, words), group in groups.items():
        rounds = 1 + max(one['round'] for one in group)
        print(f'\n{experiment}, {rounds} rounds, medians (ranges): {words}\n')
        show_e3(group) if experiment == 'e3' else show_e1(group)


def show_files(options):
    show([one for path in options.runs for one in read_runs(path)])
    return 0


def add_experiment(commands, name, plan, **defaults):
    its = commands.add_parser(name, formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    its.add_argument('--indexes', type=lambda text: text.split(','), default=','.join(INDEXES))
    its.add_argument('--rounds', type=int)
    its.add_argument('--keys', type=int)
    its.add_argument('--window', type=float, help='seconds of a window of the collector')
    its.add_argument('--warmup', type=float, help='seconds; three windows until the first demotion')
    its.add_argument('--seconds', type=float, help='measured')
    its.add_argument('--threads', type=int, default=2)
    its.add_argument('--huge-pages', action='store_true',
                     help='for all sides; off gets them from malloc')
    its.add_argument('--cold-backing', default='file:/var/tmp')
    its.add_argument('--tool', default=tree.TOOL)
    its.add_argument('--save', default=f'{name}.jsonl', help='a line for each run')
    its.add_argument('--estimate', action='store_true', help='say how long it will take, and end')
    its.add_argument('flags', nargs='*', help='flags of isotherm bench ycsb, after --')
    its.set_defaults(call=measure, experiment=name, plan=plan, **defaults)
    return its


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    e3 = add_experiment(commands, 'e3', plan_e3, rounds=5, keys=100_000, window=1.5, warmup=5,
                        seconds=2.5)
    e3.add_argument('--workload', default='c')
    e1 = add_experiment(commands, 'e1', plan_e1, rounds=1, keys=100_000, window=2, warmup=8,
                        seconds=22)
    e1.add_argument('--workloads', default='abc', help='a letter each')
    e1.add_argument('--rate', type=float, default=2000, help='requests a second')
    e1.add_argument('--min-rest', type=float, default=10,
                    help='seconds; the 60 of the tool do not pass in so short a run')
    e1.add_argument('--protocols', type=lambda text: text.split(','), default=','.join(PROTOCOLS))
    e1.add_argument('--hint', default='pageout')
    tables = commands.add_parser('table')
    tables.add_argument('runs', nargs='+')
    tables.set_defaults(call=show_files)
    options = parser.parse_args()
    return options.call(options)


if __name__ == '__main__':
    sys.exit(main())
