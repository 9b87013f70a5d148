#!/usr/bin/env python3
"""How far `isotherm sort --algorithm auto` is from the best algorithm that could have been named.

    bench/experiments/sort_auto.py --dir /var/tmp --megabytes 400 --rounds 3 --save auto.jsonl
    bench/experiments/sort_auto.py --dir /dev/shm --only records-100
    bench/experiments/sort_auto.py --dir /var/tmp --profile profile.json
    bench/experiments/sort_auto.py --table auto.jsonl

Over shapes of records, memory limits (as parts of the input) and an input that is in the page cache
or not (--dir on a disk), each algorithm in turn, with medians and spread. Nobody waits for the
disk. --profile gives all of them that profile by --device.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import statistics
import struct
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOL = ROOT / 'build/release/bin/isotherm'
SHAPES = {
    'records-100': [],
    'records-16': ['--record', '16', '--key-size', '8'],
    'records-1000': ['--record', '1000'],
    'klv-200': ['--klv'],
    'klv-20000': ['--klv'],
    'lines': ['--lines'],
}
LIMITS = {'whole': None, 'half': 0.5, 'quarter': 0.25, 'tenth': 0.1}
LEAST = 32 << 20


def make(shape, path, total):
    source = random.Random(1)
    with open(path, 'wb') as file:
        if shape.startswith('records'):
            file.write(source.randbytes(total // 16000 * 16000))
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


def forget(path):
    """Drops a file, whose bytes are on the disk, from the page cache."""
    os.sync()
    handle = os.open(path, os.O_RDONLY)
    os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    os.close(handle)


def sort(options, shape, limit, algorithm, cold):
    """Seconds, and the algorithm that ran; None if this one cannot."""
    source = options.dir / f'sort_auto.{shape}'
    target = options.dir / 'sort_auto.out'
    report = options.dir / 'sort_auto.json'
    command = [TOOL, 'sort', source, target, *SHAPES[shape], '--no-fsync', '--json', report,
               '--algorithm', algorithm]
    if LIMITS[limit]:
        command += ['--memory', str(max(LEAST, int(options.megabytes * 1e6 * LIMITS[limit])))]
    if options.profile:
        command += ['--device', options.profile]
    if cold:
        forget(source)
    start = time.monotonic()
    done = subprocess.run(command, capture_output=True, check=False)
    seconds = time.monotonic() - start
    if done.returncode != 0:
        return None
    ran = json.loads(report.read_text())['algorithm']
    target.unlink()
    report.unlink()
    return seconds, ran


def run(options):
    options.dir = pathlib.Path(options.dir)
    for shape in options.only or SHAPES:
        source = options.dir / f'sort_auto.{shape}'
        if not source.exists():
            make(shape, source, options.megabytes * 1_000_000)
        fixed = shape.startswith('records')
        for limit in options.limit or LIMITS:
            for cold in (False, True) if options.cold else (False,):
                algorithms = ['auto', 'onepass' if limit == 'whole' else 'mergepass']
                algorithms += ['ems'] if fixed else []
                if not cold:
                    source.read_bytes()
                for algorithm in algorithms * options.rounds:
                    done = sort(options, shape, limit, algorithm, cold)
                    if done is None:
                        continue
                    with open(options.save, 'a') as file:
                        file.write(json.dumps({
                            'where': str(options.dir), 'shape': shape, 'limit': limit,
                            'cold': cold, 'algorithm': algorithm, 'ran': done[1],
                            'profile': bool(options.profile), 'seconds': done[0]}) + '\n')
        if not options.keep:
            source.unlink()


def table(path):
    cases = collections.defaultdict(lambda: collections.defaultdict(list))
    took = {}
    for line in open(path):
        one = json.loads(line)
        case = (f'{one["where"]}{", cold" if one["cold"] else ""}'
                f'{", profile" if one["profile"] else ""}', one['shape'], one['limit'])
        cases[case][one['algorithm']].append(one['seconds'])
        if one['algorithm'] == 'auto':
            took[case] = one['ran']
    print('| where | records | memory | auto took | seconds (spread) | others | auto / best |\n'
          '|---|---|---|---|---|---|---|')
    worst = 0
    for case, sides in cases.items():
        middle = {side: statistics.median(seconds) for side, seconds in sides.items()}
        ratio = middle['auto'] / min(middle.values())
        worst = max(worst, ratio)
        auto = sides['auto']
        others = ', '.join(f'{side} {middle[side]:.2f}' for side in middle if side != 'auto')
        print(f'| {case[0]} | {case[1]} | {case[2]} | {took[case]} | {middle["auto"]:.2f} '
              f'({min(auto):.2f} .. {max(auto):.2f}) | {others} | {ratio:.2f} |')
    print(f'\nworst: {worst:.2f}')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--dir', default='/var/tmp')
    parser.add_argument('--megabytes', type=int, default=400)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--only', action='append', choices=SHAPES)
    parser.add_argument('--limit', action='append', choices=LIMITS)
    parser.add_argument('--cold', action='store_true', help='also with an input not in memory')
    parser.add_argument('--profile', help='of the same directory, by `isotherm device probe`')
    parser.add_argument('--keep', action='store_true', help='leave the inputs for the next call')
    parser.add_argument('--save', default='sort_auto.jsonl')
    parser.add_argument('--table')
    options = parser.parse_args()
    if options.table:
        return table(options.table)
    run(options)


if __name__ == '__main__':
    main()
