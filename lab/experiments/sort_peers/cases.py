"""Named cases: an input, a memory limit, and the same task in the words of each side."""
import typing

TOP = 1000
BY_KEY = '-t, -k3,3'
AMOUNT = "polars.col('amount').cast(polars.Decimal(18, 2))"
PLAIN = '{gnu} {flags} -o {target} {source}'
INTEGERS = '--record 8 --key-size 8'


class Case(typing.NamedTuple):
    """`flags` are ours, and GNU sort's and uutils' too where `gnu`, a line of shell, holds them."""
    what: str
    kind: str          # of inputs.KINDS
    memory: str        # as GNU sort has it; '' for no limit
    flags: str
    gnu: str = PLAIN   # '' where no sort of lines takes the input
    sql: str = ''      # what DuckDB and ClickHouse select, of the table t
    polars: str = ''   # what is done with a lazy frame
    script: str = ''   # name of one in peers.SCRIPTS
    packed: bool = False
    same: bool = True  # outputs of the sorts of lines


CASES = {
    'csv': Case('CSV by a field', 'csv', '128M', BY_KEY, sql='* from t order by key',
                polars="sort('key')"),
    'csv-number': Case('CSV by a number, -k2,2n', 'csv', '128M', '-t, -k2,2n',
                       sql='* from t order by amount::decimal(18, 2)', polars=f'sort({AMOUNT})'),
    'csv-keys': Case('CSV by two keys, -k4,4 -k2,2nr', 'csv', '128M', '-t, -k4,4 -k2,2nr',
                     sql='* from t order by town, amount::decimal(18, 2) desc',
                     polars=f"sort('town', {AMOUNT}, descending=[False, True])"),
    'csv-folded': Case('CSV without case, -k3,3f', 'csv', '128M', '-t, -k3,3f',
                       sql='* from t order by upper(key)',
                       polars="sort(polars.col('key').str.to_uppercase())"),
    'csv-zstd': Case('CSV by a field, zstd in and out', 'csv', '128M', BY_KEY, packed=True,
                     gnu='zstd -dcq {source} | {gnu} {flags} | zstd -q -T0 -o {target}',
                     sql='* from t order by key', polars="sort('key')", same=False),
    'csv-top': Case(f'CSV by a field, first {TOP}', 'csv', '128M', f'{BY_KEY} --top {TOP}',
                    gnu='{gnu} ' + f'{BY_KEY} {{source}} | head -n {TOP} > {{target}}',
                    sql=f'* from t order by key limit {TOP}', polars=f"sort('key').head({TOP})"),
    'csv-unique': Case('CSV by a field, -u', 'csv', '128M', BY_KEY + ' -u',
                       sql='distinct on (key) * from t order by key',
                       polars="unique('key').sort('key')"),
    'csv-count': Case('CSV by a field, --count', 'csv', '128M', BY_KEY + ' --count',
                      gnu='cut -d, -f3 {source} | {gnu} | uniq -c > {target}',
                      sql='count(*), key from t group by key order by key',
                      polars="group_by('key').len().sort('key')", same=False),
    'urls': Case('URLs', 'urls', '128M', '', sql='line from t order by line',
                 polars="sort('line')"),
    'urls-top': Case(f'URLs, first {TOP}', 'urls', '128M', f'--top {TOP}',
                     gnu='{gnu} {source} ' + f'| head -n {TOP} > {{target}}',
                     sql=f'line from t order by line limit {TOP}',
                     polars=f"sort('line').head({TOP})"),
    'tiny': Case('lines of up to 6 digits', 'tiny', '64M', '', sql='line from t order by line',
                 polars="sort('line')"),
    'repeated': Case('lines of 1000 values', 'repeated', '64M', '',
                     sql='line from t order by line', polars="sort('line')"),
    'repeated-unique': Case('lines of 1000 values, -u', 'repeated', '64M', '-u',
                            sql='distinct line from t order by line',
                            polars="unique().sort('line')"),
    'repeated-count': Case('lines of 1000 values, --count', 'repeated', '64M', '--count',
                           gnu='{gnu} {source} | uniq -c > {target}',
                           sql='count(*), line from t group by line order by line',
                           polars="group_by('line').len().sort('line')", same=False),
    'long': Case('lines of 500 bytes', 'long', '128M', '', sql='line from t order by line',
                 polars="sort('line')"),
    'klv': Case('klv records of 1 to 100 KB', 'klv', '', '--klv', gnu='', script='python'),
    'records': Case('100-byte records', 'records', '128M', '--record 100', gnu=''),
    'records-256': Case('100-byte records', 'records', '256M', '--record 100', gnu=''),
    'records-ems': Case('100-byte records, ems', 'records', '128M',
                        '--record 100 --algorithm ems', gnu=''),
    'integers': Case('8-byte integers', 'integers', '64M', INTEGERS, gnu='', script='numpy'),
    'integers-free': Case('8-byte integers', 'integers', '', INTEGERS, gnu='', script='numpy'),
}
CASES |= {'csv-64': CASES['csv']._replace(memory='64M'),
          'csv-free': CASES['csv']._replace(memory=''),
          'urls-256': CASES['urls']._replace(memory='256M'),
          'urls-free': CASES['urls']._replace(memory='')}


def what(case):
    """Names the case in tables."""
    return f'{case.what}, {case.memory or "memory for all"}'
