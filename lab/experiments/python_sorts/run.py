#!/usr/bin/env python3
"""The Python package isotherm beside polars, DuckDB, pyarrow and numpy, by turns.

    lab/experiments/python_sorts/run.py --packages DIR --rounds 3 --save python.jsonl
    lab/experiments/python_sorts/run.py --case integers --order skewed --rows 20000000
    lab/experiments/python_sorts/run.py --case files --limit 600 --group
    lab/experiments/python_sorts/run.py --table python.jsonl

Each sort runs in a process of its own, which loads the input first: 64-bit integers, an Arrow
column of strings, or a table like TPC-H's lineitem, by a date and a falling price. The time is that
of the call which sorts; the peak of memory is the process's, with packages and input.

--case files sorts that table from a Parquet file into another. --limit tells the packages that can
be told (isotherm, DuckDB) to do with three quarters of so many MB, and with --group a control group
of as much holds them all: what the kernel ends there is said to have failed.

Needs numpy and pyarrow as scripts/bootstrap fetches them, and the release build of the package.
polars and DuckDB are taken from the folder --packages, where they are there:

    /usr/bin/python3 -m pip install --target DIR polars==2.1.0 duckdb==2.0.1
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys

SHARED = pathlib.Path(__file__).resolve().parents[1] / 'shared'
sys.path.insert(0, str(SHARED))
import files  # noqa: E402
import processors  # noqa: E402
import saved  # noqa: E402
import tree  # noqa: E402
from python_packages import FETCHED, OURS  # noqa: E402


ROWS = {'integers': 10_000_000, 'strings': 2_000_000, 'lineitem': 4_000_000, 'files': 8_000_000}
SIDES = {'integers': ('isotherm', 'numpy', 'pyarrow', 'polars', 'duckdb'),
         'strings': ('isotherm', 'pyarrow', 'polars', 'duckdb'),
         'lineitem': ('isotherm', 'pyarrow', 'polars', 'duckdb'),
         'files': ('isotherm', 'pyarrow', 'polars', 'duckdb')}


@contextlib.contextmanager
def memory_group(limit):
    """A control group, of the first version, of `limit` bytes; yields how a process enters it."""
    folder = pathlib.Path('/sys/fs/cgroup/memory', f'isotherm-python-{os.getpid()}')
    try:
        folder.mkdir()
    except OSError as error:
        print(f'python_sorts: cannot make the control group {folder}: {error.strerror}',
              file=sys.stderr)
        sys.exit(tree.STATUS_LACKING)
    try:
        (folder / 'memory.limit_in_bytes').write_text(str(limit))
        yield lambda: (folder / 'cgroup.procs').write_text(str(os.getpid()))
    finally:
        folder.rmdir()


def has(side, packages):
    fetched = FETCHED if side in ('numpy', 'pyarrow') else packages
    folder = OURS if side == 'isotherm' else fetched
    return folder is not None and pathlib.Path(folder, side).exists()


class Case:
    """One input, and the sides that sort it."""

    def __init__(self, options, kind, order):
        self.o = options
        self.kind = kind
        self.order = order
        self.rows = options.rows or ROWS[kind]
        suffix = {'integers': 'npy', 'files': 'parquet'}.get(kind, 'arrow')
        self.source = pathlib.Path(options.dir, f'python_sorts.{kind}.{order}.{self.rows}.{suffix}')
        self.target = pathlib.Path(options.dir, 'python_sorts.out.parquet')
        self.memory = options.limit * 1_000_000
        wanted = options.sides or SIDES[kind]
        self.sides = [side for side in SIDES[kind]
                      if side in wanted and has(side, options.packages)]

    def what(self):
        rows = f'{self.rows:,} rows of {self.kind}'
        if self.kind != 'files':
            return f'{rows}, {self.order}' if self.kind == 'integers' else rows
        group = ', control group' if self.o.group else ''
        return f'{rows}, {self.o.limit} MB{group}'

    def prepare(self):
        if not self.source.exists():
            import inputs
            inputs.make(self.kind, self.order, self.rows, self.source)

    def run(self, side):
        """Returns the side's own figures, or the last line of its failure; and how many processors
        other programs kept busy meanwhile."""
        packages = [OURS, FETCHED, *([self.o.packages] if self.o.packages else [])]
        environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, packages))}
        words = [sys.executable, '-B', pathlib.Path(__file__).with_name('sides.py'), side,
                 self.kind, self.source, self.target, str(self.memory * 3 // 4)]
        files.touch_memory(self.o.dir, self.o.touch)
        with (memory_group(self.memory) if self.o.group and self.kind == 'files'
              else contextlib.nullcontext()) as enter:
            busy, used = processors.busy_seconds(), os.times()
            done = subprocess.run(words, env=environment, capture_output=True, text=True,
                                  check=False, preexec_fn=enter)
            busy, now = processors.busy_seconds() - busy, os.times()
        self.target.unlink(missing_ok=True)
        if done.returncode:
            return None, (done.stderr.strip().splitlines() or [f'status {done.returncode}'])[-1]
        own = now.children_user + now.children_system - used.children_user - used.children_system
        return json.loads(done.stdout), max(0, busy - own) / max(now.elapsed - used.elapsed, .01)

    def measure(self):
        self.prepare()
        for _ in range(self.o.rounds):
            for side in random.sample(self.sides, len(self.sides)):
                took, others = self.run(side)
                name = f'{self.what():42} {side:9}'
                if took is None:
                    print(f'{name} failed: {others}', flush=True)
                    saved.append(self.o.save, 'python sorts', what=self.what(), side=side,
                                 rows=self.rows, failed=others)
                    continue
                saved.append(self.o.save, 'python sorts', what=self.what(), side=side,
                             rows=self.rows, others_busy=others, **took)
                print(f'{name} {took["seconds"]:7.2f} s {took["peak_bytes"] >> 20:6} MiB '
                      f'{others:5.2f} processors of others', flush=True)
        if not self.o.keep:
            self.source.unlink()


def table(path):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for one in saved.rows(path):
        groups[one['what']][one['side']].append(one)
    for what, sides in groups.items():
        print(f'\n{what}\n| package | runs | seconds (spread) | peak MiB |\n|---|---|---|---|')
        for side, runs in sides.items():
            good = [one for one in runs if 'seconds' in one]
            if len(good) < len(runs):
                print(f'| {side} | {len(runs)} | failed {len(runs) - len(good)} times | |')
            if good:
                seconds = sorted(one['seconds'] for one in good)
                peak = max(one['peak_bytes'] for one in good) / 2**20
                print(f'| {side} | {len(good)} | {statistics.median(seconds):.2f} '
                      f'({seconds[0]:.2f} .. {seconds[-1]:.2f}) | {peak:,.0f} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--dir', default='/var/tmp')
    parser.add_argument('--case', dest='cases', action='append', choices=ROWS)
    parser.add_argument('--order', dest='orders', action='append', help='of integers',
                        choices=('random', 'presorted', 'reversed', 'skewed'))
    parser.add_argument('--rows', type=int)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--limit', type=int, default=1000, help='MB, of --case files')
    parser.add_argument('--group', action='store_true', help='of --limit holds --case files')
    parser.add_argument('--packages', type=pathlib.Path, help='folder with polars and duckdb')
    parser.add_argument('--side', dest='sides', action='append')
    parser.add_argument('--touch', type=int, default=2000, help='megabytes, before each run')
    parser.add_argument('--keep', action='store_true', help='leave the inputs for the next call')
    parser.add_argument('--save')
    parser.add_argument('--table')
    options = parser.parse_args()
    if options.table:
        return table(options.table)
    if not has('isotherm', None) or not has('pyarrow', None):
        print('python_sorts: the package is not built: run scripts/bootstrap and make build',
              file=sys.stderr)
        sys.exit(tree.STATUS_LACKING)
    sys.path.insert(0, str(FETCHED))
    for kind in options.cases or ROWS:
        for order in (options.orders or ('random',)) if kind == 'integers' else ('random',):
            Case(options, kind, order).measure()
    return None


if __name__ == '__main__':
    main()
