#!/usr/bin/env python3
"""Whether isotherm sort keeps its memory limit, on inputs many times as large.

    lab/experiments/sort_memory/run.py --dir /dev/shm --limits 64mb 256mb
    lab/experiments/sort_memory/run.py --dir /var/tmp --limits 1gb --times 20
    lab/experiments/sort_memory/run.py --dir /var/tmp --limits 4gb --times 5

The peak is the kernel's: ru_maxrss of the child. The directory needs three times the input, which
is the limit times --times. Every output is checked by valsort. Exits with 1 if a limit was broken.
--save appends a JSON object a run.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import tree  # noqa: E402

UNITS = {'mb': 1 << 20, 'gb': 1 << 30}


def bytes_of(text):
    return int(text[:-2]) * UNITS[text[-2:]]


def run(tool, *args):
    """Seconds and peak resident bytes of one run."""
    start = time.monotonic()
    child = os.spawnv(os.P_NOWAIT, tool, [str(tool), *map(str, args)])
    _, status, usage = os.wait4(child, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f'sort_memory: isotherm {" ".join(map(str, args))} failed')
    return time.monotonic() - start, usage.ru_maxrss * 1024


def measure(options, limit, source, target):
    size = bytes_of(limit)
    records = size * options.times // 100
    free = shutil.disk_usage(options.dir).free
    if free < 3 * records * 100:
        sys.exit(f'sort_memory: {limit} needs {3 * records * 100} bytes in {options.dir}, '
                 f'{free} are free: lower --times, or name another --dir')
    subprocess.run([options.tool, 'gensort', str(records), source], check=True)
    kept = True
    for algorithm in options.algorithms:
        seconds, peak = run(options.tool, 'sort', '--record', '100', source, '-o', target,
                            '--memory', limit, '--algorithm', algorithm, '--no-fsync')
        subprocess.run([options.tool, 'valsort', '-q', target], check=True)
        target.unlink()
        kept = kept and peak <= size
        saved.append(options.save, 'sort memory', limit=limit, limit_bytes=size,
                     times=options.times, algorithm=algorithm, peak_bytes=peak, seconds=seconds,
                     dir=options.dir)
        print(f'| {limit} | {options.times} | {algorithm} | {peak / (1 << 20):.0f} '
              f'| {100 * peak / size:.0f}% | {seconds:.1f} |', flush=True)
    source.unlink()
    return kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--dir', default='/dev/shm')
    parser.add_argument('--tool', type=pathlib.Path, default=tree.TOOL)
    parser.add_argument('--limits', nargs='+', default=['64mb', '128mb', '256mb'])
    parser.add_argument('--times', type=int, default=20, help='input over limit')
    parser.add_argument('--algorithms', nargs='+', default=['auto', 'mergepass', 'ems'])
    parser.add_argument('--save', help='append a JSON object a run')
    options = parser.parse_args()
    source = pathlib.Path(options.dir) / 'sort_memory.in'
    target = pathlib.Path(options.dir) / 'sort_memory.out'
    print('| limit | input over limit | algorithm | peak MiB | of the limit | seconds |\n'
          '|---|---|---|---|---|---|')
    try:
        kept = [measure(options, limit, source, target) for limit in options.limits]
    finally:
        for path in (source, target):
            path.unlink(missing_ok=True)
    sys.exit(0 if all(kept) else 1)


if __name__ == '__main__':
    main()
