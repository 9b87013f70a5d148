"""Shuffled rounds of the sides of named cases, and their table."""
import collections
import os
import random
import statistics
import subprocess
import sys
import time

import cases
import files
import peers
import processors
import saved

SAME = ('isotherm', 'gnu sort', 'uutils sort')  # whose outputs have to agree
MIB = 1 << 20


def run_side(work, command):
    """Seconds, the peak of the largest process, and how many processors others kept busy
    meanwhile; None and the last words of a failure."""
    busy = processors.busy_seconds()
    start = time.monotonic()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          env=work.environment()) as child:
        said = child.stderr.read().decode(errors='replace')
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.monotonic() - start
    if child.returncode != 0 and not work.is_broken_pipe(child.returncode):
        return None, said.strip().split('\n')[-1], 0
    others = processors.busy_seconds() - busy - used.ru_utime - used.ru_stime
    return seconds, used.ru_maxrss * 1024, max(0, others / seconds)


def sides_here(options, work):
    """Leaves out, each in a line, the sides that this machine lacks."""
    found = work.sides()
    for side in list(found):
        reason = peers.lacking(options, side)
        if reason:
            print(f'{side} is left out: {reason}', file=sys.stderr, flush=True)
            del found[side]
    return found


def measure(options, name):
    case = cases.CASES[name]
    work = peers.Work(options, case)
    sides = sides_here(options, work)
    work.prepare()
    for _ in range(options.rounds):
        outputs = {}
        for side in random.sample(list(sides), len(sides)):
            files.touch_memory(options.dir, options.touch)
            seconds, peak, others = run_side(work, sides[side])
            if seconds is None:
                print(f'{name:16} {side:12} failed: {peak}', flush=True)
                del sides[side]
                continue
            saved.append(options.save, 'sort peers', what=cases.what(case),
                         megabytes=work.megabytes, side=side, seconds=seconds, peak_bytes=peak,
                         others_busy=others)
            print(f'{name:16} {side:12} {seconds:7.2f} s {peak // MIB:6} MiB '
                  f'{others:5.2f} processors of others', flush=True)
            if options.check and case.same and side in SAME:
                outputs[side] = files.digest(work.target)
            work.target.unlink()
        if len(set(outputs.values())) > 1:
            sys.exit(f'{name}: the outputs of {", ".join(outputs)} differ')


def forget(options, names):
    """Removes the inputs."""
    for work in (peers.Work(options, cases.CASES[name]) for name in names):
        work.plain.unlink(missing_ok=True)
        work.source.unlink(missing_ok=True)


def cell(rows, ours):
    """Median, range, number of runs, peak, and how many times ours."""
    if not rows:
        return '-'
    seconds = [row['seconds'] for row in rows]
    middle = statistics.median(seconds)
    peak = max(row['peak_bytes'] for row in rows) // MIB
    over = f', {middle / ours:.1f}x' if ours and rows[0]['side'] != 'isotherm' else ''
    spread = f'{min(seconds):.2f}..{max(seconds):.2f}; {len(rows)}' if len(rows) > 1 else '1'
    return f'{middle:.2f} ({spread}), {peak} MiB{over}'


def table(rows):
    """A row for each case, a column for each side."""
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in rows:
        groups[row['what']][row['side']].append(row)
    sides = list(dict.fromkeys(['isotherm', *SAME, *(row['side'] for row in rows)]))
    sides = [side for side in sides if any(side in found for found in groups.values())]
    print(f'| seconds, median (range; runs), peak, times ours | {" | ".join(sides)} |')
    print('|---' * (len(sides) + 1) + '|')
    for what, found in groups.items():
        ours = [row['seconds'] for row in found.get('isotherm', [])]
        middle = statistics.median(ours) if ours else None
        print(f'| {what} | {" | ".join(cell(found.get(side, []), middle) for side in sides)} |')
