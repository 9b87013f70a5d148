#!/usr/bin/env python3
"""isotherm sort beside its peers, alternately, on the machine's own memory or disk.

    bench/experiments/sort_peers.py --dir /dev/shm --megabytes 2000 --rounds 3 --save peers.jsonl
    bench/experiments/sort_peers.py --dir /dev/shm --lines --megabytes 1000
    bench/experiments/sort_peers.py --table peers.jsonl

Fixed records: the libraries' sorts of bench/sort (read, sort in place, write), our own external
merge sort, DuckDB and Polars (Python packages, from and to uncompressed Parquet, if installed).
Lines: GNU sort. --check verifies every output by valsort outside of the time.
"""
import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = ROOT / 'build/release/bin'

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
        subprocess.run([BIN / 'isotherm', 'gensort', *flags, str(self.o.megabytes * 10_000),
                        self.records], check=True)
        if self.wants('duckdb') or self.wants('polars'):
            self.python(TO_PARQUET)

    def wants(self, name):
        return name in self.sides()

    def sides(self):
        if self.o.sides:
            return self.o.sides
        if self.o.lines:
            return ['isotherm --lines', 'gnu sort']
        return ['isotherm', 'isotherm 1/2', 'isotherm ems 1/2', 'tbb parallel_sort',
                'boost block_indirect_sort', 'duckdb', 'polars']

    def python(self, text):
        code = text.format(source=self.parquet, target=self.target, records=self.records,
                           threads=self.threads)
        subprocess.run([self.o.python, '-c', code], check=True)

    def run(self, side):
        half = str(self.o.megabytes * 500_000)
        tool = str(BIN / 'isotherm')
        library = str(BIN / 'library_sorts')
        commands = {
            'isotherm': [tool, 'sort', self.records, self.target],
            'isotherm 1/2': [tool, 'sort', self.records, self.target, '--memory', half],
            'isotherm ems 1/2': [tool, 'sort', self.records, self.target, '--memory', half,
                                 '--algorithm', 'ems'],
            'isotherm --lines': [tool, 'sort', '--lines', self.records, self.target],
            'gnu sort': ['sort', f'--parallel={self.threads}', '-S', '50%', '-T', self.dir,
                         '-o', self.target, self.records],
            'tbb parallel_sort': [library, 'tbb', str(self.threads), self.records, self.target],
            'boost block_indirect_sort': [library, 'boost', str(self.threads), self.records,
                                          self.target],
            'std::sort': [library, 'std', '1', self.records, self.target],
        }
        start = time.monotonic()
        if side in ('duckdb', 'polars'):
            self.python(DUCKDB if side == 'duckdb' else POLARS)
        else:
            subprocess.run(commands[side], check=True, env={**os.environ, 'LC_ALL': 'C'})
        if self.o.sync:
            os.sync()
        seconds = time.monotonic() - start
        if self.o.check and side not in ('duckdb', 'polars') and not self.o.lines:
            subprocess.run([tool, 'valsort', '-q', self.target], check=True)
        self.target.unlink()
        return seconds


def table(path):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for line in open(path):
        one = json.loads(line)
        groups[one['what']][one['side']].append(one['seconds'])
    for what, sides in groups.items():
        ours = statistics.median(next(iter(sides.values())))
        print(f'\n{what}\n| sorter | runs | seconds (spread) | over isotherm |\n|---|---|---|---|')
        for side, seconds in sides.items():
            middle = statistics.median(seconds)
            print(f'| {side} | {len(seconds)} | {middle:.2f} ({min(seconds):.2f} .. '
                  f'{max(seconds):.2f}) | {middle / ours:.2f} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--dir', default='/dev/shm')
    parser.add_argument('--megabytes', type=int, default=2000)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--lines', action='store_true')
    parser.add_argument('--check', action='store_true')
    parser.add_argument('--sync', action='store_true', help='time the way to the disk as well')
    parser.add_argument('--python', default=sys.executable, help='with duckdb, polars, pyarrow')
    parser.add_argument('--side', dest='sides', action='append')
    parser.add_argument('--keep', action='store_true', help='leave the inputs for the next call')
    parser.add_argument('--save', default='sort_peers.jsonl')
    parser.add_argument('--table')
    options = parser.parse_args()
    if options.table:
        return table(options.table)
    work = peers(options)
    if not work.records.exists():
        work.prepare()
    kind = 'lines' if options.lines else 'records of 100 B'
    what = f'{options.megabytes} MB of {kind} in {options.dir}{", synced" if options.sync else ""}'
    for _ in range(options.rounds):
        for side in work.sides():
            seconds = work.run(side)
            with open(options.save, 'a') as file:
                file.write(json.dumps({'what': what, 'side': side, 'seconds': seconds}) + '\n')
            print(f'{side:28} {seconds:7.2f} s', flush=True)
    if not options.keep:
        for old in (work.records, work.parquet):
            old.unlink(missing_ok=True)


if __name__ == '__main__':
    main()
