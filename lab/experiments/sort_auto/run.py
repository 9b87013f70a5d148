#!/usr/bin/env python3
"""How far `isotherm sort --algorithm auto` is from the best algorithm that could have been named.

    lab/experiments/sort_auto/run.py --dir /var/tmp --megabytes 400 --cache warm --save auto.jsonl
    lab/experiments/sort_auto/run.py --dir /dev/shm --only records-100 --limit tenth
    lab/experiments/sort_auto/run.py --dir /var/tmp --profile profile.json
    lab/experiments/sort_auto/run.py --table auto.jsonl

A cell is a shape of records, a memory limit (a part of the input, but never below the least that a
sort takes), and an input that is in the page cache or not (--dir on a disk). In each, `auto` and
every algorithm that may be named run --rounds times, each round in an order of its own, and before
each run --touch megabytes of page cache are written and given up, so that all find free memory
alike. What took over HOPELESS times the best in the first round gets no second one. Each run is a
line that is appended to --save, so that cells can be measured one at a time, and --table has
medians and spread of all of them. Nobody waits for the disk. --profile gives all of them that
profile by --device.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import resource
import statistics
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import files  # noqa: E402
import processors  # noqa: E402
import saved  # noqa: E402
import tree  # noqa: E402

SHAPES = {
    'records-100': ['--record', '100'],
    'records-8': ['--record', '8', '--key-size', '8'],
    'records-16': ['--record', '16', '--key-size', '8'],
    'records-1000': ['--record', '1000'],
    'klv-200': ['--klv'],
    'klv-20000': ['--klv'],
    'lines': [],
}
LIMITS = {'whole': None, 'half': 1 / 2, 'third': 1 / 3, 'quarter': 1 / 4, 'sixth': 1 / 6,
          'eighth': 1 / 8, 'tenth': 1 / 10}
LEAST = 32 << 20
HOPELESS = 1.5
ANY_FORMAT = ['onepass', 'mergepass']
FIXED_ONLY = ['modified-key', 'ems', 'samplesort']


def make(shape, path, total):
    source = random.Random(1)
    with open(path, 'wb') as file:
        if shape.startswith('records'):
            for _ in range(total // 1_000_000):
                file.write(source.randbytes(1_000_000))
        elif shape.startswith('klv'):
            mean = int(shape[4:])
            while file.tell() < total:
                value = source.randrange(2 * mean)
                file.write(source.randbytes(10) + struct.pack('<I', value) + bytes(value))
        else:
            while file.tell() < total:
                text = ''.join(f'{source.getrandbits(64):016x} {"v" * source.randrange(99)}\n'
                               for _ in range(10_000))
                file.write(text.encode())


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sort(options, source, cell, algorithm):
    """Sorts once; returns the time that it took and the algorithm that ran, None if `algorithm`
    cannot sort this."""
    target = options.dir / 'sort_auto.out'
    report = options.dir / 'sort_auto.json'
    command = [options.tool, 'sort', source, '-o', target, *SHAPES[cell['shape']], '--no-fsync',
               '--json', report, '--algorithm', algorithm]
    if LIMITS[cell['limit']]:
        wanted = int(cell['megabytes'] * 1e6 * LIMITS[cell['limit']])
        command += ['--memory', str(max(LEAST, wanted))]
    if options.profile:
        command += ['--device', options.profile]
    if cell['cache'] == 'cold':
        os.sync()
        files.forget(source)
    files.touch_memory(options.dir, options.touch)
    used = processor_seconds()
    busy = processors.busy_seconds()
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode != 0:
        return None
    ran = json.loads(report.read_text())['algorithm']
    target.unlink()
    report.unlink()
    used = processor_seconds() - used
    others = max(0, processors.busy_seconds() - busy - used) / seconds
    return {'algorithm': algorithm, 'ran': ran, 'seconds': seconds, 'processor': used,
            'others_busy': others}


def measure(options, source, cell):
    algorithms = ['auto', *ANY_FORMAT]
    if cell['shape'].startswith('records'):
        algorithms += FIXED_ONLY
    if cell['cache'] == 'warm':
        source.read_bytes()
    for _ in range(options.rounds):
        took = {}
        for algorithm in random.sample(algorithms, len(algorithms)):
            done = sort(options, source, cell, algorithm)
            if done is None:
                continue
            took[algorithm] = done['seconds']
            saved.append(options.save, 'sort auto', **cell, **done)
        best = min(took.values())
        algorithms = [a for a in took if a == 'auto' or took[a] <= HOPELESS * best]


def run(options):
    options.dir = pathlib.Path(options.dir)
    for shape in options.only or SHAPES:
        source = options.dir / f'sort_auto.{shape}.{options.megabytes}'
        if not source.exists():
            make(shape, source, options.megabytes * 1_000_000)
        for limit in options.limit or LIMITS:
            for cache in options.cache or ['warm']:
                measure(options, source,
                        {'where': str(options.dir), 'megabytes': options.megabytes, 'shape': shape,
                         'limit': limit, 'cache': cache, 'profile': bool(options.profile)})
        if not options.keep:
            source.unlink()


def table(path, quiet):
    cases = collections.defaultdict(lambda: collections.defaultdict(list))
    took = {}
    for one in saved.rows(path):
        if one.get('others_busy', 0) > quiet:
            continue
        case = (f'{one["where"]}, {one["cache"]}{", profile" if one["profile"] else ""}',
                f'{one["megabytes"]} MB, {one["shape"]}', one['limit'])
        cases[case][one['algorithm']].append(one['seconds'])
        if one['algorithm'] == 'auto':
            took[case] = one['ran']
    print('| where | records | memory | auto took | seconds (spread) | others | auto / best |\n'
          '|---|---|---|---|---|---|---|')
    ratios = []
    for case, sides in cases.items():
        auto = sides.pop('auto', [])
        if not auto or not sides:
            continue
        middle = {side: statistics.median(seconds) for side, seconds in sides.items()}
        ratios.append(statistics.median(auto) / min(middle.values()))
        others = ', '.join(f'{side} {middle[side]:.2f}' for side in sorted(middle, key=middle.get))
        print(f'| {case[0]} | {case[1]} | {case[2]} | {took[case]} | '
              f'{statistics.median(auto):.2f} ({min(auto):.2f} .. {max(auto):.2f}) | {others} | '
              f'{ratios[-1]:.2f} |')
    print(f'\n{len(ratios)} cells; auto / best: median {statistics.median(ratios):.2f}, '
          f'worst {max(ratios):.2f}, over 1.2 in {sum(r > 1.2 for r in ratios)}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tool', default=tree.TOOL)
    parser.add_argument('--dir', default='/var/tmp')
    parser.add_argument('--megabytes', type=int, default=400)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--touch', type=int, default=2000, help='megabytes, before each run')
    parser.add_argument('--only', action='append', choices=SHAPES)
    parser.add_argument('--limit', action='append', choices=LIMITS)
    parser.add_argument('--cache', action='append', choices=['warm', 'cold'])
    parser.add_argument('--profile', help='of the same directory, by `isotherm device probe`')
    parser.add_argument('--keep', action='store_true', help='leave the inputs for the next call')
    parser.add_argument('--save', default='sort_auto.jsonl')
    parser.add_argument('--table')
    parser.add_argument('--quiet', type=float, default=0.2, help='--table leaves out runs beside '
                        'which others kept more processors busy')
    options = parser.parse_args()
    if options.table:
        return table(options.table, options.quiet)
    run(options)


if __name__ == '__main__':
    main()
