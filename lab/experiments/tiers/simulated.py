"""Figures of the SINLK paper from `isotherm bench tiers --simulate`: visits counted, times
modelled.

A tree of 200,000 keys stands for one of 2 million: at a tenth of its rate, so that each leaf is
used as often, and with a visit of a leaf by SINLK's trigger taking ten times as long, so that a
visit of all takes the same time.
"""
import concurrent.futures
import json
import subprocess
import sys

import saved

KEYS = 200000
VISIT_NS = {'art': 36, 'btree-occ': 350, 'masstree': 350}  # measured, docs/benchmarks/tiers.md
SINLKS = ('sinlk', 'sinlk-fixed', 'sinlk-passive', 'sinlk-separate')
MOVING = (*SINLKS, 'memtis', 'tpp', 'caption')
SP = ('sp-a', 'sp-b', 'sp-c', 'sp-d')
YCSB = ('ycsb-a', 'ycsb-b', 'ycsb-c', 'ycsb-d', 'ycsb-e', 'ycsb-f')
TREES = ('masstree', 'btree-occ', 'art')
SYSTEMS = ('interleave', 'static', 'layered', 'tpp', 'memtis', 'caption', 'sinlk', 'prophet',
           'best')
STEPS = ('interleave', 'layered', 'sinlk-fixed', 'sinlk')
FEW = ('interleave', 'static', 'memtis', 'sinlk', 'prophet', 'best')
PAIR = ('interleave', 'sinlk')

# figure -> (trees, workloads, percentages of fast memory, placements)
FIGURES = {
    '2': (TREES, ('ycsb-a', 'ycsb-c', 'ycsb-d'), (25, 50, 75, 100), ('interleave',)),
    '6': (TREES, ('sp-c',), (50,), ('interleave', 'slow-fast', 'layered', 'prophet')),
    '8': (TREES, ('sp-c',), (2, 5, 10), ('prophet',)),
    '13': (('masstree', 'btree-occ'), SP, (20,), SYSTEMS),
    '14': (('masstree', 'btree-occ'), YCSB, (20,), FEW),
    '14-art': (('art',), SP + YCSB[:4] + YCSB[5:], (20,), FEW),
    '17': (TREES, ('sp-a', 'sp-c', 'sp-d', 'ycsb-a', 'ycsb-d'), (20,), STEPS),
    '19': (TREES, ('ycsb-d', 'sp-d'), (20,), SINLKS),
    '15c': (('masstree',), YCSB, (10, 40, 60, 80), PAIR),
    'control': (TREES, ('sp-c', 'ycsb-c'), (20,), FEW[:-1]),
}
SIZES_OF_16 = (0.5, 2, 4)


def flags(tree, workload, fast, placement, keys):
    """Returns the flags of one run. Fixed nodes need a warm-up for the caches alone. A scan is as
    much as some fifty reads: there are a twentieth as many."""
    warmup = 12 if placement in MOVING else 1
    rate = keys // 20 if workload == 'ycsb-e' else keys
    return ['--index', tree, '--workload', workload, '--fast', fast, '--placement', placement,
            '--keys', keys, '--rate', rate, '--requests', rate, '--warmup', warmup, '--seed', 1,
            '--visit-ns', VISIT_NS[tree] * 2000000 // keys, '--slow-ratio', '1,2,2.5,4']


def runs_of(names, keys):
    """(figure, flags) of each run."""
    for name in names:
        if name == '16':
            for times in SIZES_OF_16:
                for placement in PAIR:
                    yield name, flags('masstree', 'sp-c', 20, placement, int(times * keys))
        elif name == '15a':
            for tree in TREES:
                yield name, [*flags(tree, 'sp-c', 20, 'sinlk', keys), '--shift', 20,
                             '--requests', 80 * keys]
        else:
            trees, workloads, shares, placements = FIGURES[name]
            for tree in trees:
                for workload in workloads:
                    for fast in shares:
                        for placement in placements:
                            more = ['--requests', 20 * keys] if name == '19' else []
                            yield name, [*flags(tree, workload, fast, placement, keys), *more]


NAMES = (*FIGURES, '15a', '16')


def simulate(tool, run):
    figure, words = run
    # The last one of a flag that is given twice stands.
    words = [str(word) for pair in dict(zip(words[::2], words[1::2])).items() for word in pair]
    command = [tool, 'bench', 'tiers', '--simulate', *words, '--json', '-']
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f'tiers: {" ".join(command)} failed: {done.stderr.strip()}')
    return [{**json.loads(line), 'figure': figure} for line in done.stdout.splitlines()]


def run(options):
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as jobs:
        runs = runs_of(options.figures, options.keys)
        for rows in jobs.map(lambda each: simulate(options.tool, each), runs):
            for row in rows:
                saved.append(options.save, 'tiers', **row)


def name_of(row):
    return (row['index'], row['workload'], row['fast_share'], row['keys'], row['slow_ratio'])


def groups_of(rows, figure):
    """(index, workload, share, keys, ratio) -> placement -> row."""
    found = {}
    for row in rows:
        if row['figure'] == figure:
            found.setdefault(name_of(row), {})[row['placement']] = row
    return found


def gain(base, row, cache):
    """How many times as fast in modelled time."""
    return base['modelled_ns_per_op'][cache] / row['modelled_ns_per_op'][cache]


def over_all_fast(row, cache):
    return row['modelled_ns_per_op'][cache] / row['all_fast_ns_per_op'][cache]


def gain_table(rows, figure, ratio, caches=(0, 1)):
    """Gains over interleave, without a cache and behind 2 MiB."""
    groups = {key: each for key, each in groups_of(rows, figure).items() if key[4] == ratio}
    names = [name for name in (*SYSTEMS[1:-2], *SINLKS[1:], *SYSTEMS[-2:])
             if any(name in each for each in groups.values())]
    print(f'\nFigure {figure}: slow memory x {ratio:g}; modelled speed over `interleave`, without '
          'a cache and behind 2 MiB')
    print('| index | workload | fast | keys | all fast | ' + ' | '.join(names) + ' |')
    print('|---' * (5 + len(names)) + '|')
    for (index, workload, fast, keys, _), found in groups.items():
        base = found['interleave']
        bound = ', '.join(f'{over_all_fast(base, i):.2f}' for i in caches)
        cells = [', '.join(f'{gain(base, found[name], i):.2f}' for i in caches)
                 if name in found else '' for name in names]
        print(f'| `{index}` | {workload} | {fast:.0%} | {keys:,} | {bound} | '
              + ' | '.join(cells) + ' |')


def share_table(rows, figure, ratio):
    """One placement by the share of fast memory."""
    print(f'\nFigure {figure}: slow memory x {ratio:g}; modelled speed over all-fast, without a '
          'cache and behind 2 MiB')
    print('| index | workload | placement | fast | over all fast |')
    print('|---|---|---|---|---|')
    for (index, workload, fast, _, each_ratio), found in groups_of(rows, figure).items():
        if each_ratio != ratio:
            continue
        for name, row in found.items():
            speeds = ', '.join(f'{1 / over_all_fast(row, i):.2f}' for i in (0, 1))
            print(f'| `{index}` | {workload} | `{name}` | {fast:.0%} | {speeds} |')


def latency_table(rows, ratio):
    print(f'\nFigure 13b: sp-a, slow memory x {ratio:g}; modelled ns of the misses of a request')
    print('| placement | p50 | p90 | p99 |')
    print('|---|---|---|---|')
    for key, found in groups_of(rows, '13').items():
        if key[1] != 'sp-a' or key[4] != ratio:
            continue
        for name, row in found.items():
            if name == 'best':
                continue
            latency = row['modelled_latency_ns'][0]
            print(f'| `{name}` | {latency["p50"]:.0f} | {latency["p90"]:.0f} '
                  f'| {latency["p99"]:.0f} |')


def page_table(rows):
    print('\nFigure 5: pages among the 1% used most')
    print('| index | workload | share of the most used node | upper quartile of uses | nodes |')
    print('|---|---|---|---|---|')
    for figure in ('14', '14-art'):
        for key, found in groups_of(rows, figure).items():
            if key[1] != 'ycsb-c' or key[4] != 2 or 'best' not in found:
                continue
            pages = found['best']['details']['hot_pages']
            print(f'| `{key[0]}` | {key[1]} | {pages["share_of_top_node"]:.0%} '
                  f'| {pages["upper_quartile"]:.0f} | {pages["nodes"]:.1f} |')


def burst_table(rows):
    print('\nFigure 19: KiB moved in a tenth of a second, at most, and slow visits a request')
    print('| index | workload | placement | KiB | slow visits | fast pages of the limit |')
    print('|---|---|---|---|---|---|')
    for key, found in groups_of(rows, '19').items():
        for name, row in found.items():
            if key[4] == 2 and name in SINLKS:
                print(f'| `{key[0]}` | {key[1]} | `{name}` | {row["most_moved_bytes"] >> 10:,} '
                      f'| {row["slow_visits_per_op"]:.2f} '
                      f'| {row["fast_page_bytes"] / row["fast_bytes_limit"]:.0%} |')


def shift_table(rows):
    print('\nFigure 15a: the hot region moves every 20 s; until 95% of its leaves are fast')
    print('| index | leaves | from the start, s | after each move, s | visits |')
    print('|---|---|---|---|---|')
    for row in rows:
        if row['figure'] != '15a' or row['slow_ratio'] != 2:
            continue
        first, *moves = row['until_hot_fast']
        seconds = ', '.join(str(each['seconds']) for each in moves)
        visits = ', '.join(str(each['visits']) for each in moves)
        print(f'| `{row["index"]}` | {row["details"]["leaves"]:,} | {first["seconds"]} '
              f'| {seconds} | {visits} |')


def cards(options):
    rows = list(saved.rows(*options.files))
    print(f'{saved.here()}; visits are counted, times modelled')
    print('\nSlow memory as fast as the other:')
    gain_table(rows, 'control', 1)
    for ratio in (2, 2.5):
        for figure in ('13', '14', '14-art', '15c', '16', '17'):
            gain_table(rows, figure, ratio)
    for figure in ('2', '6', '8'):
        share_table(rows, figure, 2)
    latency_table(rows, 2)
    page_table(rows)
    burst_table(rows)
    shift_table(rows)
