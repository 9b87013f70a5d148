"""Named cases: an input, a memory limit, and what ours, GNU sort and others are asked to do."""
import os
import pathlib
import random
import subprocess
import sys
import time
import typing

import files
import inputs
import processors
import saved
import tree

TOP = 1000
COLUMNS = {'csv': ("','", ('number', 'amount', 'key', 'town', 'filler')),
           'lines': ("'\\x01'", ('line',))}
DUCKDB = '''
import duckdb
c = duckdb.connect()
c.execute("set threads={threads}; set memory_limit='{limit}'; set temp_directory='{dir}/duckdb'")
c.execute("""copy (select {select}) to '{target}' (format csv, header false, quote ''{pack})""")
'''
NUMPY = "import numpy; a = numpy.fromfile('{source}', '>u8'); a.sort(); a.tofile('{target}')"
PLAIN = '{gnu} {flags} -o {target} {source}'
BY_KEY = '-t, -k3,3'


class Case(typing.NamedTuple):
    """`flags` are ours, and GNU sort's too where `gnu`, a line of shell, holds them; `duckdb` is
    what it selects, and it gets 256 MB where the limit is less, as it fails below."""
    what: str
    kind: str
    memory: str  # as GNU sort has it; '' for no limit
    flags: str
    gnu: str = PLAIN
    duckdb: str = ''
    numpy: bool = False
    packed: bool = False
    same: bool = True  # outputs of ours and GNU sort


CASES = {
    'csv': Case('CSV by a field', 'csv', '128M', BY_KEY, duckdb='* from t order by key'),
    'csv-64': Case('CSV by a field', 'csv', '64M', BY_KEY, duckdb='* from t order by key'),
    'csv-free': Case('CSV by a field', 'csv', '', BY_KEY, duckdb='* from t order by key'),
    'csv-number': Case('CSV by a number, -k2,2n', 'csv', '128M', '-t, -k2,2n',
                       duckdb='* from t order by amount::decimal(18, 2)'),
    'csv-keys': Case('CSV by two keys, -k4,4 -k2,2nr', 'csv', '128M', '-t, -k4,4 -k2,2nr',
                     duckdb='* from t order by town, amount::decimal(18, 2) desc'),
    'csv-folded': Case('CSV without case, -k3,3f', 'csv', '128M', '-t, -k3,3f',
                       duckdb='* from t order by upper(key)'),
    'csv-zstd': Case('CSV by a field, zstd in and out', 'csv', '128M', BY_KEY, packed=True,
                     gnu='zstd -dcq {source} | {gnu} {flags} | zstd -q -T0 -o {target}',
                     duckdb='* from t order by key', same=False),
    'csv-top': Case(f'CSV by a field, first {TOP}', 'csv', '128M', f'{BY_KEY} --top {TOP}',
                    gnu='{gnu} ' + f'{BY_KEY} {{source}} | head -n {TOP} > {{target}}',
                    duckdb=f'* from t order by key limit {TOP}'),
    'csv-unique': Case('CSV by a field, -u', 'csv', '128M', BY_KEY + ' -u',
                       duckdb='distinct on (key) * from t order by key'),
    'csv-count': Case('CSV by a field, --count', 'csv', '128M', BY_KEY + ' --count',
                      gnu='cut -d, -f3 {source} | {gnu} | uniq -c > {target}',
                      duckdb='count(*), key from t group by key order by key', same=False),
    'urls': Case('URLs', 'urls', '128M', '', duckdb='line from t order by line'),
    'urls-256': Case('URLs', 'urls', '256M', '', duckdb='line from t order by line'),
    'urls-top': Case(f'URLs, first {TOP}', 'urls', '128M', f'--top {TOP}',
                     gnu='{gnu} {source} ' + f'| head -n {TOP} > {{target}}',
                     duckdb=f'line from t order by line limit {TOP}'),
    'tiny': Case('lines of up to 6 digits', 'tiny', '64M', '', duckdb='line from t order by line'),
    'repeated-unique': Case('lines of 1000 values, -u', 'repeated', '64M', '-u',
                            duckdb='distinct line from t order by line'),
    'repeated-count': Case('lines of 1000 values, --count', 'repeated', '64M', '--count',
                           gnu='{gnu} {source} | uniq -c > {target}',
                           duckdb='count(*), line from t group by line order by line', same=False),
    'long': Case('lines of 500 bytes', 'long', '128M', '', duckdb='line from t order by line'),
    'records': Case('100-byte records', 'records', '128M', '--record 100', gnu=''),
    'records-256': Case('100-byte records', 'records', '256M', '--record 100', gnu=''),
    'records-ems': Case('100-byte records, ems', 'records', '128M',
                        '--record 100 --algorithm ems', gnu=''),
    'integers': Case('8-byte integers', 'integers', '64M', '--record 8 --key-size 8', gnu='',
                     numpy=True),
    'integers-free': Case('8-byte integers', 'integers', '', '--record 8 --key-size 8', gnu='',
                          numpy=True),
}


class Work:
    """One case with its files, and the commands of its sides."""

    def __init__(self, options, case):
        self.o = options
        self.case = case
        self.megabytes = options.megabytes or inputs.KINDS[case.kind][1]
        suffix = '.zst' if case.packed else ''
        self.plain = pathlib.Path(options.dir) / f'sort_peers.{case.kind}'
        self.source = pathlib.Path(f'{self.plain}{suffix}')
        self.target = pathlib.Path(options.dir) / f'sort_peers.out{suffix}'
        self.sides = {'isotherm': self.ours()}
        if case.gnu:
            self.sides['gnu sort'] = self.gnu()
        if case.duckdb:
            self.sides['duckdb'] = [options.python, '-c', self.duckdb()]
        if case.numpy:
            self.sides['numpy'] = [options.python, '-c', NUMPY.format(**self.words())]
        self.sides = {side: command for side, command in self.sides.items()
                      if not options.sides or side in options.sides}

    def words(self):
        return {'source': self.source, 'target': self.target, 'dir': self.o.dir,
                'threads': os.cpu_count()}

    def prepare(self):
        if not self.plain.exists():
            inputs.make(self.case.kind, self.plain, self.megabytes)
        if self.case.packed and not self.source.exists():
            subprocess.run(['zstd', '-q', '-T0', '-k', self.plain], check=True)

    def ours(self):
        memory = ['--memory', self.case.memory + 'b'] if self.case.memory else []
        return [tree.TOOL, 'sort', self.source, '-o', self.target, '--no-fsync', *memory,
                *self.case.flags.split()]

    def gnu(self):
        gnu = (f'sort --parallel={os.cpu_count()} -S {self.case.memory or "4G"} '
               f'-T {self.o.dir}')
        line = self.case.gnu.format(gnu=gnu, flags=self.case.flags, **self.words())
        return ['bash', '-o', 'pipefail', '-c', line]

    def duckdb(self):
        by, names = COLUMNS.get(self.case.kind, COLUMNS['lines'])
        columns = ', '.join(f"'{name}': 'VARCHAR'" for name in names)
        table = (f"read_csv('{self.source}', auto_detect=false, header=false, delim={by}, "
                 f"quote='', escape='', columns={{{columns}}})")
        select = self.case.duckdb.replace('from t', f'from {table}')
        limit = {'': '8GB'}.get(self.case.memory, '256MB')
        return DUCKDB.format(select=select.replace('\\', '\\\\'), limit=limit,
                             pack=', compression zstd' if self.case.packed else '', **self.words())

    def run(self, command):
        """Seconds, the peak of the largest process, and how many processors others kept busy
        meanwhile; None and the last words of a failure."""
        busy = processors.busy_seconds()
        start = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                              env={**os.environ, 'LC_ALL': 'C'}) as child:
            said = child.stderr.read().decode(errors='replace')
            _, status, used = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.monotonic() - start
        if child.returncode != 0 and not self.is_broken_pipe(child.returncode):
            return None, said.strip().split('\n')[-1], 0
        others = processors.busy_seconds() - busy - used.ru_utime - used.ru_stime
        return seconds, used.ru_maxrss * 1024, max(0, others / seconds)

    def is_broken_pipe(self, status):
        """Of `sort | head`, which has all that it asked for."""
        return status == 141 and '| head' in self.case.gnu


def measure(options, name):
    case = CASES[name]
    work = Work(options, case)
    work.prepare()
    what = f'{case.what}, {case.memory or "memory for all"}'
    sides = dict(work.sides)
    for _ in range(options.rounds):
        outputs = {}
        for side in random.sample(list(sides), len(sides)):
            files.touch_memory(options.dir, options.touch)
            seconds, peak, others = work.run(sides[side])
            if seconds is None:
                print(f'{name:16} {side:10} failed: {peak}', flush=True)
                del sides[side]
                continue
            saved.append(options.save, 'sort peers', what=what, megabytes=work.megabytes,
                         side=side, seconds=seconds, peak_bytes=peak,
                         others_busy=others)
            print(f'{name:16} {side:10} {seconds:7.2f} s {peak >> 20:6} MiB '
                  f'{others:5.2f} processors of others', flush=True)
            if options.check and case.same and side in ('isotherm', 'gnu sort'):
                outputs[side] = files.digest(work.target)
            work.target.unlink()
        if len(set(outputs.values())) > 1:
            sys.exit(f'{name}: the outputs of isotherm and GNU sort differ')


def forget(options, names):
    """Removes the inputs."""
    for work in (Work(options, CASES[name]) for name in names):
        work.plain.unlink(missing_ok=True)
        work.source.unlink(missing_ok=True)
