"""Tables of saved runs: medians, spreads, and ratios beside the paper's."""
import collections
import statistics

import braid
import samples
import saved

DEVICE_STAGES = ('RUN read', 'RECORD read', 'RUN write', 'MERGE read', 'MERGE write', 'COPY')
PAPER_THREADS = 16

# The paper's ratio of the stage RUN read: sequential over strided loading of keys.
RUN_READ = {
    'values': [(f'pmsort+ {v}', f'mergepass {v}', text) for v, text in (
        (10, '> 1 (fig. 9)'), (50, '> 1'), (90, '> 1'), (246, '> 1'), (502, 'up to 3'))],
}

# The paper's ratios, by experiment: (numerator, denominator, ratio in words).
PAPER = {
    'sortbenchmark': [
        ('ems', 'onepass', '3 (fig. 4)'), ('ems', 'mergepass', '2 (fig. 4)'),
        ('samplesort', 'ems', '2 (fig. 1)'), ('samplesort', 'onepass', '5')],
    'concurrency': [
        ('ems no-sync', 'ems no-io-overlap', '1.35 (25.7% faster)'),
        ('pmsort+ no-sync', 'pmsort+ io-overlap', '1.16 (no-sync 16% slower)'),
        ('pmsort+ io-overlap', 'mergepass no-io-overlap', '1.33 to 1.5 (33% faster)'),
        ('mergepass io-overlap', 'mergepass no-io-overlap', 'up to 2 (50%)'),
        ('pmsort no-io-overlap', 'mergepass no-io-overlap', '4'),
        ('pmsort no-io-overlap', 'onepass no-io-overlap', '7')],
    'values': [(f'ems {v}', f'{a} {v}', text) for v, one, merge in (
        (10, '> 1', '< 1'), (50, '2', '> 1'), (90, '3', '2'), (246, '3', '2'), (502, '3', '2'))
        for a, text in (('onepass', one), ('mergepass', merge), ('auto', 'best'))],
    'devices': [(f'ems {d}', f'{a} {d}', text) for d, a, text in (
        ('bd', 'onepass', '< 1'), ('bd', 'mergepass', '< 1'), ('bd', 'samplesort', '< 1'),
        ('brd', 'onepass', 'the best'), ('brd', 'samplesort', '> 1'), ('brd', 'mergepass', '> 1'),
        ('bard', 'onepass', '2, the best'), ('bard', 'mergepass', '> 1'),
        ('bard', 'samplesort', '> mergepass'))],
    'background': [
        ('onepass readers=8', 'onepass alone', '1.45'), ('ems readers=8', 'ems alone', '1.25'),
        ('onepass writers=8', 'onepass alone', 'up to 14'),
        ('ems writers=8', 'ems alone', 'up to 14'),
        ('ems writers=2', 'onepass writers=2', '> 2'),
        ('ems writers=8', 'onepass writers=8', '> 2')],
    'compression': [(f'{d} off', f'{d} {c}', 'not measured') for d in ('pmem', 'cmm-h')
                    for c in ('on', 'auto')],
}


def fraction(text):
    top, _, bottom = text.partition('/')
    return float(top) / float(bottom or 1)


def whole(found):
    """Seconds on the unscaled device with 16 threads, from the stages; None if stages overlap."""
    if found['concurrency'] != 'no-io-overlap':
        return None
    share = found['sort_threads'] / PAPER_THREADS
    stages = {s['stage']: s['seconds'] for s in found['stages']}
    device = sum(stages.get(s, 0) for s in DEVICE_STAGES)
    merging = stages.get('MERGE other', 0)
    parallel = max(0, found['seconds'] - device - merging)
    return device * fraction(found['scale']) + merging + parallel * share


def stage_seconds(runs, stage):
    return statistics.median(s['seconds'] for one in runs for s in one['stages']
                             if s['stage'] == stage)


def print_sides(sides):
    print(f'| {"side":28} | runs | seconds (spread) | RUN read s | device share |')
    print('|---|---|---|---|---|')
    for key, runs in sides.items():
        seconds = [one['seconds'] for one in runs]
        stages = {s['stage']: s for s in runs[-1]['stages']}
        shares = ', '.join(f'{s["stage"]} {100 * s["device_share"]:.0f}%'
                           for s in runs[-1]['stages'] if s['device_share'] > 0)
        picked = f' -> {runs[-1]["algorithm"]}' if key.startswith('auto') else ''
        print(f'| {key + picked:28} | {len(runs)} | {statistics.median(seconds):.2f} '
              f'({min(seconds):.2f} .. {max(seconds):.2f}) '
              f'| {stages.get("RUN read", {}).get("seconds", 0):.3f} | {shares} |')


def print_ratios(name, sides):
    print('| ratio | paper | here | whole |\n|---|---|---|---|')
    for top, bottom, paper in PAPER.get(name, []):
        if top not in sides or bottom not in sides:
            continue
        middle = [statistics.median(one['seconds'] for one in sides[s]) for s in (top, bottom)]
        full = [[w for w in map(whole, sides[s]) if w] for s in (top, bottom)]
        scaled = (f'{statistics.median(full[0]) / statistics.median(full[1]):.2f}'
                  if all(full) else '')
        print(f'| {top} / {bottom} | {paper} | {middle[0] / middle[1]:.2f} | {scaled} |')
    for top, bottom, paper in RUN_READ.get(name, []):
        if top in sides and bottom in sides:
            ratio = stage_seconds(sides[top], 'RUN read') / stage_seconds(sides[bottom],
                                                                          'RUN read')
            print(f'| RUN read of {top} / {bottom} | {paper} | {ratio:.2f} | |')


def print_sizes(sides):
    """Figure 4: how many times as long merge sort took as OnePass and MergePass."""
    by_size = collections.defaultdict(dict)
    for runs in sides.values():
        by_size[runs[0]['megabytes']][runs[0]['algorithm']] = runs
    print('| MB | merge sort, s | OnePass, s | MergePass, s | over OnePass (paper: 3) | whole '
          '| over MergePass (paper: 2) | whole |\n' + '|---' * 8 + '|')
    for megabytes, found in sorted(by_size.items()):
        if len(found) < 3:
            continue
        seconds = {side: statistics.median(one['seconds'] for one in runs)
                   for side, runs in found.items()}
        full = {side: statistics.median(map(whole, runs)) for side, runs in found.items()}
        cells = [f'{seconds[side]:.2f}' for side in ('ems', 'onepass', 'mergepass')]
        for ours in ('onepass', 'mergepass'):
            cells += [f'{each["ems"] / each[ours]:.2f}' for each in (seconds, full)]
        print(f'| {megabytes:.0f} | {" | ".join(cells)} |')


def print_usage(sides):
    """Figures 5 and 6, by the stages of each side's last run. `efficiency` is the paper's I/O
    efficiency: the time that the device needs for the bytes over the time that they took."""
    print('| sort | stage | seconds | reads, MB/s | writes, MB/s | efficiency | processors busy |\n'
          '|---|---|---|---|---|---|---|')
    for side, runs in sides.items():
        busy = samples.busy_by_stage(runs[-1]['samples'])
        for one in runs[-1]['stages']:
            seconds = one['seconds'] or float('inf')
            cells = [f'{one["seconds"]:.2f}', f'{one["bytes_read"] / seconds / 1e6:.0f}',
                     f'{one["bytes_written"] / seconds / 1e6:.0f}',
                     f'{one["device_share"]:.0%}' if one['device_share'] else '',
                     f'{busy[one["stage"]]:.2f}' if one['stage'] in busy else '']
            print(f'| {side} | {one["stage"]} | {" | ".join(cells)} |')


TABLES = {'compliance': braid.table, 'sizes': print_sizes, 'usage': print_usage}


def show(path):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for one in saved.rows(path):
        groups[one['experiment']][one['side']].append(one)
    for name, found in groups.items():
        sides = dict(sorted(found.items()))
        devices = sorted({one['device'] for runs in sides.values() for one in runs})
        print(f'\n{name}, emulated: {", ".join(devices)}')
        print_sides(sides)
        print()
        if name in TABLES:
            TABLES[name](sides)
        else:
            print_ratios(name, sides)
