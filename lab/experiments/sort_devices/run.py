#!/usr/bin/env python3
"""A sort whose runs lie on a device of their own, beside one device alone (dissertation 7.2.1).

    lab/experiments/sort_devices/run.py --fast /dev/shm --disk /var/tmp --save devices.jsonl
    lab/experiments/sort_devices/run.py --only emulated --rounds 3
    lab/experiments/sort_devices/run.py --table devices.jsonl

    emulated   input and output on an emulated device, runs there or on another emulated one; all
               files lie in --fast
    pmem       input and output on the disk, runs there or on emulated PMEM in --fast
    tmpfs      the same, with runs in --fast as it is, or as much of them as --small takes and the
               rest on the disk

By turns, in rounds, each in an order of its own. An input on the disk is not in the page cache, and
an output there is on the disk when the sort ends; --touch megabytes of page cache are written and
given up before each run. --small names a directory of little room, as `mount -t tmpfs -o size=1g`
makes one. Emulated devices have the numbers of the papers, of an eighth (PMEM) and a half (CMM-H),
unless --pmem and --flash name others.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import resource
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import files  # noqa: E402
import processors  # noqa: E402
import saved  # noqa: E402
import tree  # noqa: E402

RECORD = 100
MB = 1_000_000


def sides(options, group):
    """name -> (directory of input and output, its device, --tmp) of the sides of a group."""
    fast, disk, small = options.fast, options.disk, options.small
    if group == 'emulated':
        pmem, flash = options.pmem, options.flash
        return {'CMM-H': (fast, flash, [fast]),
                'CMM-H, runs on PMEM': (fast, flash, [f'{fast}={pmem}']),
                'PMEM': (fast, pmem, [fast]),
                'PMEM, runs on CMM-H': (fast, pmem, [f'{fast}={flash}'])}
    alone = {'disk': (disk, None, [disk])}
    if group == 'pmem':
        return alone | {'disk, runs on PMEM': (disk, None, [f'{fast}={options.pmem}'])}
    found = alone | {'disk, runs in tmpfs': (disk, None, [fast])}
    if small:
        found['disk, runs in a small tmpfs and on the disk'] = (
            disk, None, [f'{small}={options.profile}', disk] if options.profile else [small, disk])
    return found


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def sort(options, algorithm, side):
    """Sorts once; returns the time that it took and the places that its runs went to."""
    folder, device, directories = side
    source = pathlib.Path(folder, 'sort_devices.in')
    target = pathlib.Path(folder, 'sort_devices.out')
    report = pathlib.Path(folder, 'sort_devices.json')
    command = [options.tool, 'sort', '--record', str(RECORD), source, '-o', target, '--json',
               report, '--memory', f'{options.memory}mb', '--algorithm', algorithm]
    for each in directories:
        command += ['--tmp', each]
    if device:
        command += ['--device', device]
    else:
        os.sync()
        files.forget(source)
    files.touch_memory(folder, options.touch)
    busy, used, start = processors.busy_seconds(), processor_seconds(), time.monotonic()
    subprocess.run(command, check=True)
    seconds = time.monotonic() - start
    used = processor_seconds() - used
    others = max(0, processors.busy_seconds() - busy - used) / seconds
    subprocess.run([options.tool, 'valsort', '-q', target], check=True)
    told = json.loads(report.read_text())
    target.unlink()
    report.unlink()
    return {'ran': told['algorithm'], 'seconds': seconds, 'others_busy': others,
            'emulated': told['emulated'], 'predicted_seconds': told['predicted_seconds'],
            'places': told['places'], 'stages': told['stages']}


def measure(options, group):
    algorithms = options.algorithms or (['mergepass', 'ems'] if group != 'tmpfs' else ['auto'])
    all_sides = sides(options, group)
    for folder in {folder for folder, _, _ in all_sides.values()}:
        subprocess.run([options.tool, 'gensort', str(options.megabytes * MB // RECORD),
                        pathlib.Path(folder, 'sort_devices.in')], check=True)
    for _ in range(options.rounds):
        for algorithm in algorithms:
            for name in random.sample(list(all_sides), len(all_sides)):
                took = sort(options, algorithm, all_sides[name])
                saved.append(options.save, 'sort devices', group=group, side=name,
                             megabytes=options.megabytes, memory_mb=options.memory,
                             algorithm=algorithm, **took)
                print(f'{group:9} {algorithm:10} {name:42} {took["seconds"]:7.2f} s, '
                      f'{took["others_busy"]:.2f} processors of others', flush=True)
    for folder in {folder for folder, _, _ in all_sides.values()}:
        pathlib.Path(folder, 'sort_devices.in').unlink()


def table(paths):
    cases = collections.defaultdict(lambda: collections.defaultdict(list))
    for one in saved.rows(*paths):
        cases[one['group'], one['megabytes'], one['memory_mb'],
              one['algorithm']][one['side']].append(one)
    for (group, megabytes, memory, algorithm), found in cases.items():
        print(f'\n{group}: {megabytes:,} MB in {memory} MB, {algorithm}\n'
              '| input and output | seconds (spread; runs) | over the first | predicted | '
              'MB of runs |\n|---|---|---|---|---|')
        first = None
        for side, runs in found.items():
            seconds = [one['seconds'] for one in runs]
            middle = statistics.median(seconds)
            first = first or middle
            predicted = statistics.median(one['predicted_seconds'] for one in runs)
            places = ', '.join(f'{place["bytes"] / MB:,.0f} in {place["directory"]}'
                               for place in runs[0]['places'])
            print(f'| {side}{" (emulated)" if runs[0]["emulated"] else ""} | {middle:.2f} '
                  f'({min(seconds):.2f} .. {max(seconds):.2f}; {len(runs)}) | '
                  f'{middle / first:.2f} | {predicted:.2f} | {places} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tool', type=pathlib.Path, default=tree.TOOL)
    parser.add_argument('--fast', default='/dev/shm')
    parser.add_argument('--disk', default='/var/tmp')
    parser.add_argument('--small', help='a directory of little room')
    parser.add_argument('--profile', help='of the device of --small')
    parser.add_argument('--pmem', default='emu:pmem@1/8')
    parser.add_argument('--flash', default='emu:cmm-h@1/2')
    parser.add_argument('--only', action='append', choices=('emulated', 'pmem', 'tmpfs'))
    parser.add_argument('--algorithm', dest='algorithms', action='append')
    parser.add_argument('--megabytes', type=int, default=400)
    parser.add_argument('--memory', type=int, default=64)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--touch', type=int, default=2000)
    parser.add_argument('--save')
    parser.add_argument('--table', nargs='+')
    options = parser.parse_args()
    if options.table:
        return table(options.table)
    for group in options.only or ('emulated', 'pmem', 'tmpfs'):
        measure(options, group)
    return None


if __name__ == '__main__':
    main()
