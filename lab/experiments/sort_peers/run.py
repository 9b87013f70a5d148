#!/usr/bin/env python3
"""isotherm sort beside its peers, by turns, on the machine's own memory or disk.

    lab/experiments/sort_peers/run.py --dir /dev/shm --megabytes 2000 --rounds 3 --save peers.jsonl
    lab/experiments/sort_peers/run.py --dir /dev/shm --lines --megabytes 1000
    lab/experiments/sort_peers/run.py --dir /var/tmp --megabytes 2000 --sync --cold
    lab/experiments/sort_peers/run.py --dir /var/tmp --case csv --case urls --rounds 3
    lab/experiments/sort_peers/run.py --table peers.jsonl --profile profile.json

Fixed records: the libraries' sorts of lab/micro/sort (read, sort in place, write), our own external
merge sort, DuckDB and Polars (Python packages, from and to uncompressed Parquet, if installed).
Lines: GNU sort. --check verifies every output by valsort outside of the time. Nobody waits for the
disk, except with --sync: then everybody does. --cold drops the input from the page cache before
each run. --order sorted or reversed gives inputs that are in order already, or the wrong way round.

--case, as often as you like, measures a named case of cases.py: CSV, URLs and other inputs that
inputs.py makes with a fixed seed, in limited memory, beside GNU sort, uutils sort, DuckDB,
ClickHouse (chdb) and Polars; integers beside numpy, klv records beside ten lines of Python. --check
compares the outputs of the sorts of lines. A peer that is not installed is said, and left out.
--table has a row for each case.

Each round has the sides in an order of its own, and before each run --touch megabytes of page cache
are written and given up: what a run finds of free memory is then the same for all.

The lower bound is that of any sort: the input is read once, at the device's best sequential
bandwidth, and then the output written at its best. --profile is what `isotherm device probe` found
in the same directory; with --past-the-cache its numbers past the page cache are the bound, which
is right for --sync --cold.
"""
import argparse
import collections
import json
import os
import pathlib
import random
import statistics
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import cases  # noqa: E402
import files  # noqa: E402
import rounds  # noqa: E402
import saved  # noqa: E402
import tree  # noqa: E402


DUCKDB = '''
import duckdb
c = duckdb.connect()
c.execute("set threads={threads}; set memory_limit='12GB'")
c.execute("copy (select * from '{source}' order by key) to '{target}' (format parquet, "
          "compression uncompressed)")
'''
POLARS = '''
import polars
polars.scan_parquet('{source}').sort('key').sink_parquet('{target}', compression='uncompressed')
'''
TO_PARQUET = '''
import numpy, pyarrow, pyarrow.parquet
raw = numpy.fromfile('{records}', dtype=numpy.uint8).reshape(-1, 100)
def column(a, width):
    data = numpy.ascontiguousarray(a)
    return pyarrow.Array.from_buffers(pyarrow.binary(width), len(a),
                                      [None, pyarrow.py_buffer(data)]).cast(pyarrow.binary())
table = pyarrow.table({{'key': column(raw[:, :10], 10), 'value': column(raw[:, 10:], 90)}})
pyarrow.parquet.write_table(table, '{source}', compression='none', use_dictionary=False)
'''


def best(curve):
    return max(point['bytes_per_s'] for point in curve)


def bound(path, past_the_cache):
    """Seconds that no sort of a megabyte can do without, by a profile of the device."""
    profile = json.loads(pathlib.Path(path).read_text())
    if past_the_cache:
        profile = profile['direct']
        reads = max(best(one['bandwidth']) for one in profile['sequential_read'])
    else:
        reads = best(profile['sequential_read'])
    return 1e6 / reads + 1e6 / best(profile['write'])


class peers:
    def __init__(self, options):
        self.o = options
        self.dir = pathlib.Path(options.dir)
        self.records = self.dir / 'sort_peers.in'
        self.parquet = self.dir / 'sort_peers.parquet'
        self.target = self.dir / 'sort_peers.out'
        self.threads = os.cpu_count()

    def prepare(self):
        flags = ['-a'] if self.o.lines else []
        tool = tree.PROGRAMS / 'isotherm'
        subprocess.run([tool, 'gensort', *flags, str(self.o.megabytes * 10_000), self.records],
                       check=True)
        if self.o.order != 'random':
            flags = [] if self.o.lines else ['--record', '100']
            flags += ['--reverse'] if self.o.order == 'reversed' else []
            subprocess.run([tool, 'sort', self.records, '-o', self.target, *flags], check=True)
            self.target.rename(self.records)
        if self.wants('duckdb') or self.wants('polars'):
            self.python(TO_PARQUET)

    def wants(self, name):
        return name in self.sides()

    def sides(self):
        if self.o.sides:
            return self.o.sides
        if self.o.lines:
            return ['isotherm lines', 'gnu sort']
        return ['isotherm', 'isotherm 1/2', 'isotherm ems 1/2', 'tbb parallel_sort',
                'boost block_indirect_sort', 'duckdb', 'polars']

    def python(self, text):
        code = text.format(source=self.parquet, target=self.target, records=self.records,
                           threads=self.threads)
        subprocess.run([self.o.python, '-c', code], check=True)

    def run(self, side):
        half = str(self.o.megabytes * 500_000)
        tool = str(tree.PROGRAMS / 'isotherm')
        sort = [tool, 'sort', self.records, '-o', self.target,
                *([] if self.o.sync else ['--no-fsync'])]
        fixed = ['--record', '100']
        library = str(tree.PROGRAMS / 'library_sorts')
        commands = {
            'isotherm': [*sort, *fixed],
            'isotherm 1/2': [*sort, *fixed, '--memory', half],
            'isotherm ems 1/2': [*sort, *fixed, '--memory', half, '--algorithm', 'ems'],
            'isotherm lines': sort,
            'cp': ['cp', self.records, self.target],
            'gnu sort': ['sort', f'--parallel={self.threads}', '-S', '50%', '-T', self.dir,
                         '-o', self.target, self.records],
            'tbb parallel_sort': [library, 'tbb', str(self.threads), self.records, self.target],
            'boost block_indirect_sort': [library, 'boost', str(self.threads), self.records,
                                          self.target],
            'std::sort': [library, 'std', '1', self.records, self.target],
        }
        files.touch_memory(self.dir, self.o.touch)
        if self.o.cold:
            os.sync()
            for path in (self.records, self.parquet):
                if path.exists():
                    files.forget(path)
        start = time.monotonic()
        if side in ('duckdb', 'polars'):
            self.python(DUCKDB if side == 'duckdb' else POLARS)
        else:
            subprocess.run(commands[side], check=True, env={**os.environ, 'LC_ALL': 'C'})
        if self.o.sync:
            os.sync()
        seconds = time.monotonic() - start
        if self.o.check and side not in ('duckdb', 'polars', 'cp') and not self.o.lines:
            subprocess.run([tool, 'valsort', '-q', self.target], check=True)
        self.target.unlink()
        return seconds


def rank(side):
    """Ours first."""
    return not side.startswith('isotherm'), side


def table(options):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    least = bound(options.profile, options.past_the_cache) if options.profile else None
    quiet = [one for one in saved.rows(options.table)
             if one.get('others_busy', 0) <= options.quiet]
    named = [one for one in quiet if 'peak_bytes' in one]
    if named:
        rounds.table(named)
    for one in quiet:
        if 'peak_bytes' not in one:
            groups[one['what'], one['megabytes']][one['side']].append(one['seconds'])
    for (what, megabytes), sides in groups.items():
        ours = statistics.median(sides[min(sides, key=rank)])
        seconds_least = least * megabytes if least else None
        if least:
            print(f'\nlower bound by {options.profile}: {seconds_least:.2f} s')
        print(f'\n{what}\n| sorter | runs | seconds (spread) | over isotherm | share of the bound |'
              '\n|---|---|---|---|---|')
        for side, seconds in sorted(sides.items(), key=lambda one: rank(one[0])):
            middle = statistics.median(seconds)
            print(f'| {side} | {len(seconds)} | {middle:.2f} ({min(seconds):.2f} .. '
                  f'{max(seconds):.2f}) | {middle / ours:.2f} '
                  f'| {f"{100 * seconds_least / middle:.0f}%" if least else ""} |')


def measure_cases(options):
    for name in options.cases:
        rounds.measure(options, name)
    if not options.keep:
        rounds.forget(options, options.cases)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--dir', default='/dev/shm')
    parser.add_argument('--case', dest='cases', action='append', choices=cases.CASES)
    parser.add_argument('--megabytes', type=int, help="2000, or the case's own")
    parser.add_argument('--touch', type=int, default=2000, help='megabytes, before each run')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--lines', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--sync', action='store_true', help='time the way to the disk as well')
    parser.add_argument('--cold', action='store_true', help='the input is not in the page cache')
    parser.add_argument('--order', choices=('random', 'sorted', 'reversed'), default='random')
    parser.add_argument('--profile', help='of the same directory, for the lower bound')
    parser.add_argument('--past-the-cache', action='store_true',
                        help='the bound is that of the disk, not of the page cache')
    parser.add_argument('--python', default=sys.executable,
                        help='with duckdb, chdb, polars, numpy, pyarrow')
    parser.add_argument('--uutils', default='coreutils', help='program of uutils')
    parser.add_argument('--side', dest='sides', action='append')
    parser.add_argument('--keep', action='store_true', help='leave the inputs for the next call')
    parser.add_argument('--save', default='sort_peers.jsonl')
    parser.add_argument('--table')
    parser.add_argument('--quiet', type=float, default=0.2, help='--table leaves out named cases\' '
                        'runs beside which others kept more processors busy')
    options = parser.parse_args()
    if options.table:
        return table(options)
    if options.cases:
        return measure_cases(options)
    options.megabytes = options.megabytes or 2000
    work = peers(options)
    if not work.records.exists():
        work.prepare()
    kind = 'lines' if options.lines else 'records of 100 B'
    what = (f'{options.megabytes} MB of {kind} in {options.dir}, {options.order}'
            f'{", synced" if options.sync else ""}{", cold" if options.cold else ""}')
    for _ in range(options.rounds):
        for side in random.sample(work.sides(), len(work.sides())):
            seconds = work.run(side)
            saved.append(options.save, 'sort peers', what=what, megabytes=options.megabytes,
                         side=side, seconds=seconds)
            print(f'{side:28} {seconds:7.2f} s', flush=True)
    if not options.keep:
        for old in (work.records, work.parquet):
            old.unlink(missing_ok=True)


if __name__ == '__main__':
    main()
