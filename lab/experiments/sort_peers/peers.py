"""The commands of the sides of a named case, and which sides this machine has."""
import functools
import os
import pathlib
import shutil
import subprocess

import inputs
import tree

LEAST_OF_TABLES = 256  # megabytes; DuckDB fails with less
COLUMNS = {'csv': (',', ('number', 'amount', 'key', 'town', 'filler'))}
LINE = ('\x01', ('line',))
# The SQL sides take fields as they are, between separators: no quotes.
DUCKDB = '''
import duckdb
c = duckdb.connect()
c.execute("set threads={threads}; set memory_limit='{limit}'; set temp_directory='{dir}/duckdb'")
c.execute("""copy (select {select}) to '{target}' (format csv, header false, quote ''{pack})""")
'''
CLICKHOUSE = '''
import chdb
chdb.query("""select {select} into outfile '{target}' truncate format CustomSeparated
settings max_threads={threads}, format_custom_escaping_rule='Raw',
format_custom_field_delimiter=',', format_csv_allow_double_quotes=0,
format_csv_allow_single_quotes=0, max_bytes_before_external_sort={bytes},
max_bytes_before_external_group_by={bytes}, max_bytes_ratio_before_external_sort=0,
max_bytes_ratio_before_external_group_by=0""")
'''
POLARS = '''
import polars
t = polars.scan_csv('{source}', has_header=False, separator={separator!r}, quote_char=None,
                    schema=dict.fromkeys({names}, polars.String))
t.{chain}.sink_csv('{target}', include_header=False, quote_style='never'{pack})
'''
SCRIPTS = {
    'numpy': "import numpy; a = numpy.fromfile('{source}', '>u8'); a.sort(); a.tofile('{target}')",
    'python': '''
data = open('{source}', 'rb').read()
records = []
at = 0
while at < len(data):
    end = at + 14 + int.from_bytes(data[at + 10:at + 14], 'little')
    records.append(data[at:end])
    at = end
records.sort(key=lambda r: r[:10])
open('{target}', 'wb').writelines(records)
''',
}
MODULES = {'duckdb': 'duckdb', 'polars': 'polars', 'clickhouse': 'chdb', 'numpy': 'numpy'}


class Work:
    """One case with its files."""

    def __init__(self, options, case):
        self.o = options
        self.case = case
        self.megabytes = options.megabytes or inputs.KINDS[case.kind][1]
        suffix = '.zst' if case.packed else ''
        self.plain = pathlib.Path(options.dir) / f'sort_peers.{case.kind}'
        self.source = pathlib.Path(f'{self.plain}{suffix}')
        self.target = pathlib.Path(options.dir) / f'sort_peers.out{suffix}'
        self.threads = os.cpu_count()
        self.separator, self.names = COLUMNS.get(case.kind, LINE)

    def prepare(self):
        if not self.plain.exists():
            inputs.make(self.case.kind, self.plain, self.megabytes)
        if self.case.packed and not self.source.exists():
            subprocess.run(['zstd', '-q', '-T0', '-k', self.plain], check=True)

    def sides(self):
        """side -> its command."""
        case, found = self.case, {'isotherm': self.ours()}
        if case.gnu:
            found['gnu sort'] = self.lines('sort')
            found['uutils sort'] = self.lines(f'{self.o.uutils} sort')
        if case.sql:
            found['duckdb'] = self.python(self.duckdb())
            found['clickhouse'] = self.python(self.clickhouse())
        if case.polars:
            found['polars'] = self.python(self.polars())
        if case.script:
            found[case.script] = self.python(SCRIPTS[case.script].format(**self.words()))
        return {side: command for side, command in found.items()
                if not self.o.sides or side in self.o.sides}

    def words(self):
        return {'source': self.source, 'target': self.target, 'dir': self.o.dir,
                'threads': self.threads}

    def python(self, code):
        return [self.o.python, '-c', code]

    def ours(self):
        memory = ['--memory', self.case.memory + 'b'] if self.case.memory else []
        return [tree.TOOL, 'sort', self.source, '-o', self.target, '--no-fsync', *memory,
                *self.case.flags.split()]

    def lines(self, program):
        gnu = (f'{program} --parallel={self.threads} -S {self.case.memory or "4G"} '
               f'-T {self.o.dir}')
        line = self.case.gnu.format(gnu=gnu, flags=self.case.flags, **self.words())
        return ['bash', '-o', 'pipefail', '-c', line]

    def limit(self):
        """Megabytes that DuckDB gets, and with which ClickHouse begins to use the disk."""
        return max(LEAST_OF_TABLES, int(self.case.memory[:-1])) if self.case.memory else 8000

    def duckdb(self):
        columns = ', '.join(f"'{name}': 'VARCHAR'" for name in self.names)
        table = (f"read_csv('{self.source}', auto_detect=false, header=false, "
                 f"delim='{self.separator}', quote='', escape='', columns={{{columns}}})")
        return DUCKDB.format(select=self.case.sql.replace('from t', f'from {table}'),
                             limit=f'{self.limit()}MB', pack=self.pack(), **self.words())

    def clickhouse(self):
        columns = ', '.join(f'{name} String' for name in self.names)
        form = 'CSV' if self.case.kind in COLUMNS else 'LineAsString'
        table = f"file('{self.source}', '{form}', '{columns}')"
        return CLICKHOUSE.format(select=self.case.sql.replace('from t', f'from {table}'),
                                 bytes=self.limit() * 1_000_000, **self.words())

    def polars(self):
        return POLARS.format(chain=self.case.polars, separator=self.separator, names=self.names,
                             pack=self.pack("='zstd'"), **self.words())

    def pack(self, zstd=' zstd'):
        return f', compression{zstd}' if self.case.packed else ''

    def environment(self):
        return {**os.environ, 'LC_ALL': 'C', 'POLARS_MAX_THREADS': str(self.threads)}

    def is_broken_pipe(self, status):
        """Accepts the end of a `sort` whose `head` has all that it asked for."""
        return status == 141 and '| head' in self.case.gnu


@functools.cache
def has_module(python, module):
    return subprocess.run([python, '-c', f'import {module}'], check=False,
                          stderr=subprocess.DEVNULL).returncode == 0


def lacking(options, side):
    """Why this side cannot run here; nothing if it can."""
    if side == 'uutils sort' and not shutil.which(options.uutils):
        return f'{options.uutils} is not there: cargo install coreutils --no-default-features ' \
               '--features sort, or name it (--uutils)'
    module = MODULES.get(side)
    if module and not has_module(options.python, module):
        return f'{options.python} has no module {module}: install it, or name another (--python)'
    return ''
