#!/usr/bin/env python3
"""The experiments of the WiscSort paper on an emulated device, beside the paper's ratios.

    lab/experiments/sort_papers/run.py run --dir /dev/shm --save runs.jsonl
    lab/experiments/sort_papers/run.py table runs.jsonl

`run` measures alternately, a round at a time, and appends one JSON object a run; `table` prints
medians, spreads and ratios. Ratios are of medians; times are those of an emulated device.

A device of an eighth of the bandwidth leaves the work of a single thread at its full speed, so
that it counts for an eighth of what it does on the real device. The column "whole" takes that back:
times of device stages times the scale, those of parallel work times the threads here over the
paper's 16, single-threaded merging as measured.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import tree  # noqa: E402

DEVICE_STAGES = ('RUN read', 'RECORD read', 'RUN write', 'MERGE read', 'MERGE write', 'COPY')
PAPER_THREADS = 16
EXPERIMENTS = {}


def experiment(function):
    EXPERIMENTS[function.__name__] = function
    return function


def side(algorithm, concurrency='no-io-overlap', value=90, device='pmem', others='',
         compress='off'):
    return {'algorithm': algorithm, 'concurrency': concurrency, 'value': value, 'device': device,
            'others': others, 'compress': compress}


@experiment
def sortbenchmark():
    return [side('ems'), side('onepass'), side('mergepass'), side('samplesort')]


@experiment
def concurrency():
    return [side(a, c) for a, c in (
        ('ems', 'no-sync'), ('ems', 'no-io-overlap'), ('pmsort', 'no-io-overlap'),
        ('pmsort+', 'no-sync'), ('pmsort+', 'io-overlap'), ('mergepass', 'no-sync'),
        ('mergepass', 'io-overlap'), ('mergepass', 'no-io-overlap'), ('onepass', 'no-io-overlap'))]


@experiment
def values():
    return [side(a, value=v) for v in (10, 50, 90, 246, 502)
            for a in ('ems', 'onepass', 'mergepass', 'pmsort+', 'auto')]


@experiment
def devices():
    return [side(a, c, device=d) for d in ('bd', 'brd', 'bard') for a, c in (
        ('ems', 'no-io-overlap'), ('onepass', 'no-io-overlap'), ('mergepass', 'no-io-overlap'),
        ('mergepass', 'io-overlap'), ('samplesort', 'no-io-overlap'))]


@experiment
def background():
    return [side(a, others=o) for o in ('', ',readers=8', ',writers=2', ',writers=8')
            for a in ('ems', 'onepass')]


@experiment
def compression():
    return [side('mergepass', device=d, compress=c) for d in ('pmem', 'cmm-h')
            for c in ('off', 'on', 'auto')]


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


def label(name, one):
    return {'concurrency': f'{one["algorithm"]} {one["concurrency"]}',
            'values': f'{one["algorithm"]} {one["value"]}',
            'devices': f'{one["algorithm"]} {one["device"]}' + (
                ' io-overlap' if one['concurrency'] == 'io-overlap' else ''),
            'background': f'{one["algorithm"]} {one["others"][1:] or "alone"}',
            'compression': f'{one["device"]} {one["compress"]}',
            }.get(name, one['algorithm'])


def measure(options, name, one, bytes_):
    record = 10 + one['value']
    source = pathlib.Path(options.dir) / f'sort_papers.{record}.in'
    target = pathlib.Path(options.dir) / 'sort_papers.out'
    if not source.exists():
        # gensort's stream of bytes, cut into records of this size.
        subprocess.run([options.tool, 'gensort', str(bytes_ // 100), source], check=True)
        os.truncate(source, bytes_ // record * record)
    device = f'emu:{one["device"]}@{options.scale}{one["others"]}'
    # Index maps run in memory that lets the emulated device be mapped; merge sorts in a quarter of
    # the input, so that they merge, and auto has no more.
    small = one['algorithm'] in ('ems', 'auto')
    memory = max(64 << 20, bytes_ // 4) if small else 3 * bytes_ + (256 << 20)
    command = [options.tool, 'sort', source, '-o', target, '--record', str(record),
               '--device', device, '--algorithm', one['algorithm'], '--memory', str(memory),
               '--concurrency', one['concurrency'], '--compress', one['compress'],
               '--no-fsync', '--json', '-']
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f'sort_papers: {" ".join(map(str, command))} failed')
    if record == 100 and options.check:
        subprocess.run([options.tool, 'valsort', '-q', target], check=True)
    target.unlink()
    found = json.loads(done.stdout)
    found.update(side=label(name, one), scale=options.scale, value=one['value'])
    saved.append(options.save, name, **found)
    return found


def run(options):
    for name in options.only or EXPERIMENTS:
        sides = EXPERIMENTS[name]()
        if options.value:
            sides = [one for one in sides if one['value'] == options.value]
        if options.device:
            sides = [one for one in sides if one['device'] == options.device]
        for _ in range(options.rounds):
            for one in sides:
                found = measure(options, name, one, options.megabytes * 10**6)
                print(f'{name:14} {found["side"]:28} {found["seconds"]:7.3f} s', flush=True)
    for old in pathlib.Path(options.dir).glob('sort_papers.*.in'):
        old.unlink()


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


def table(options):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for found in saved.rows(options.runs):
        groups[found['experiment']][found['side']].append(found)
    for name, sides in groups.items():
        devices = sorted({one['device'] for runs in sides.values() for one in runs})
        print(f'\n{name}, emulated: {", ".join(devices)}')
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


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser('run')
    runs.add_argument('--dir', default='/dev/shm')
    runs.add_argument('--tool', default=tree.TOOL)
    runs.add_argument('--scale', default='1/8')
    runs.add_argument('--megabytes', type=int, default=500)
    runs.add_argument('--rounds', type=int, default=3)
    runs.add_argument('--only', action='append', choices=EXPERIMENTS)
    runs.add_argument('--value', type=int, help='only records with values of this size')
    runs.add_argument('--device', help='only this device')
    runs.add_argument('--check', action='store_true', help='valsort each output, untimed')
    runs.add_argument('--save', default='sort_papers.jsonl')
    runs.set_defaults(call=run)
    tables = commands.add_parser('table')
    tables.add_argument('runs')
    tables.set_defaults(call=table)
    options = parser.parse_args()
    options.call(options)


if __name__ == '__main__':
    main()
