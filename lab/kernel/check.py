#!/usr/bin/env python3
"""Boots kernels of build.py in a virtual machine with 4 processors, and checks what they do.

    lab/kernel/check.py measure     interrupts per page with each setting of the switch, in one boot
    lab/kernel/check.py pressure    memory pressure of all kinds, with lockdep and KASAN

Builds the kernel first where it is missing. Exits with 1 if contents differ, if the kernel reports
an error, if interrupts are not fewer by 99%, or if lockdep had switched itself off.
"""
import argparse
import collections
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile

LAB = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(LAB.parent / 'vm'))
import build  # noqa: E402
import machine  # noqa: E402
from initrd import Missing  # noqa: E402

MIB = 1 << 20
PROGRAMS = ('pageout', 'stress', 'move')
KINDS = {'measure': 'release', 'pressure': 'debug'}
# Lines of the kernel's log that tell of an error. The OOM killer's own are none.
REPORT = re.compile(r'BUG|WARNING|KASAN|Oops|possible .* detected|invalid wait context|'
                    r'suspicious RCU|bad page|INFO: task .* blocked|rcu: INFO|soft lockup|'
                    r'Call Trace|held lock freed|lock held when returning')
OOM = re.compile(r'invoked oom-killer.*?(?=oom_reaper|Out of memory: Killed|Memory cgroup out of)',
                 re.DOTALL)
WANTED_FEWER = 0.99


class Wrong(Exception):
    """One line that says which check failed."""


def compile_programs(folder):
    """Compiles the programs of the machine, each static; returns their paths."""
    paths = []
    for name in PROGRAMS:
        path = pathlib.Path(folder) / name
        build.call('gcc', '-std=gnu17', '-O2', '-Wall', '-Wextra', '-Werror', '-static', '-pthread',
                   '-o', path, LAB / f'programs/{name}.c')
        paths.append(path)
    return paths


def reports(log):
    """Returns the lines of a kernel's log that tell of an error."""
    return [line for line in OOM.sub('', log).splitlines() if REPORT.search(line)]


def rows(output):
    """Returns the lines of name=value pairs, as mappings."""
    lines = [line for line in output.splitlines() if line.startswith('way=')]
    return [dict(word.split('=', 1) for word in line.split()) for line in lines]


def per_page(measured):
    """Returns the median of interrupts and of flushes per page, by way, swap, kind and setting."""
    found = collections.defaultdict(list)
    for row in measured:
        key = row['way'], row['swap'], row['kind'], int(row['batch'])
        pages = int(row['swapped'])
        if pages == 0:
            raise Wrong('nothing was paged out: ' + ' '.join(row.values()))
        found[key].append((int(row['interrupts']) / pages, int(row['flushes']) / pages))
    return {key: tuple(statistics.median(column) for column in zip(*values))
            for key, values in found.items()}


def table(figures):
    """Returns the lines of a table of interrupts and flushes per page."""
    lines = ['| way | swap | kind | interrupts a page, 0 | 1 | fewer | flushes a page, 0 | 1 |',
             '|---|---|---|---|---|---|---|---|']
    for (way, swap, kind, setting), (plain, plain_flushes) in figures.items():
        if setting == 0:
            batched, batched_flushes = figures[way, swap, kind, 1]
            fewer = f'{1 - batched / plain:.1%}' if plain else 'none to save'
            lines.append(f'| {way} | {swap} | {kind} | {plain:.3f} | {batched:.3f} | {fewer} | '
                         f'{plain_flushes:.3f} | {batched_flushes:.4f} |')
    return lines


def require_fewer(figures):
    """Raises Wrong unless madvise of small anonymous pages interrupts a hundredth as often."""
    for swap in ('zram', 'disk'):
        plain, batched = (figures['madvise', swap, 'anon', setting][0] for setting in (0, 1))
        if batched > plain * (1 - WANTED_FEWER):
            raise Wrong(f'{swap}: {batched:.3f} interrupts a page with batches, '
                        f'{plain:.3f} without: not {WANTED_FEWER:.0%} fewer')


def boot(options, script, timeout):
    """Runs a function of guest.sh in the machine; raises Wrong if the kernel or it complains."""
    kernel = options.kernel or options.folder / KINDS[options.what] / 'bzImage'
    if not kernel.exists():
        build.build(options.folder.resolve(), KINDS[options.what], options.jobs)
    text = (LAB / 'guest.sh').read_text(encoding='utf-8') + f'''
({script})
status=$?
dmesg >$OUT/log
cp /proc/lockdep_stats $OUT/ 2>/dev/null
exit $status
'''
    with tempfile.TemporaryDirectory() as folder:
        ended = machine.run(
            machine.Machine(memory=(options.memory * MIB,), processors=4, kernel=kernel,
                            disks=(160 * MIB,), arguments='loglevel=3'),
            text, programs=compile_programs(folder), timeout=timeout, watch=machine.pass_on)
    log = ended.files['log'].decode(errors='replace')
    if options.log:
        options.log.write_text(log, encoding='utf-8')
    if ended.status:
        raise Wrong('a check failed, see its last lines above')
    if reports(log):
        raise Wrong('the kernel reports: ' + reports(log)[0])
    return ended


def measure(options):
    figures = per_page(rows(boot(options, f'measure {options.mib} {options.turns}', 1800).output))
    print('\n'.join(table(figures)))
    require_fewer(figures)


def pressure(options):
    ended = boot(options, f'pressure {options.seconds}', 1800)
    stats = ended.files.get('lockdep_stats', b'').decode()
    if not re.search(r'debug_locks:\s+1', stats):
        raise Wrong('lockdep was off at the end: the kernel has none, or it gave up')
    print('no report of the kernel, all contents as written')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('what', choices=sorted(KINDS))
    parser.add_argument('--folder', type=pathlib.Path, default=build.FOLDER,
                        help='where build.py builds (build/kernel)')
    parser.add_argument('--kernel', type=pathlib.Path, help='another image to boot')
    parser.add_argument('--memory', type=int, default=512, metavar='MIB')
    parser.add_argument('--mib', type=int, default=8, help='memory that measure pages out at once')
    parser.add_argument('--turns', type=int, default=2, help='of both settings, by measure')
    parser.add_argument('--seconds', type=int, default=5, help='of each check of pressure')
    parser.add_argument('--log', type=pathlib.Path, help='where the kernel\'s log is written')
    parser.add_argument('--jobs', type=int, default=2, help='processes that build')
    options = parser.parse_args()
    if options.kernel and not options.kernel.is_file():
        parser.error(f'{options.kernel} is not there')
    if min(options.mib, options.turns, options.seconds) < 1:
        parser.error('--mib, --turns and --seconds are at least 1')
    {'measure': measure, 'pressure': pressure}[options.what](options)


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        main()
    except (Wrong, Missing, build.Trouble, machine.Trouble) as trouble:
        sys.exit(f'check: {trouble}')
    except KeyboardInterrupt:
        sys.exit(130)
