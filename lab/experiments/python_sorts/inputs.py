"""Inputs of the sorts of Python packages, always the same. Needs numpy and pyarrow."""
import datetime

import numpy
import pyarrow
import pyarrow.parquet

SEED = 1
ORDERS = ('random', 'presorted', 'reversed', 'skewed')
FIRST_DAY = datetime.date(1992, 1, 1)


def integers(rows, order):
    r = numpy.random.default_rng(SEED)
    if order == 'skewed':
        return r.zipf(1.2, rows).astype('i8')
    values = r.integers(-2**62, 2**62, rows)
    if order == 'random':
        return values
    return numpy.sort(values)[::1 if order == 'presorted' else -1].copy()


def strings(rows):
    """Addresses: hosts whose ranks are about equally likely on a log scale, and random paths."""
    r = numpy.random.default_rng(SEED)
    hosts = (100_000 ** r.random(rows)).astype(int)
    years, pages = r.integers(2000, 2027, rows), r.integers(0, 2**62, rows)
    return pyarrow.table({'text': [
        f'https://www.host{host}.example.com/{year}/{page:016x}.html'
        for host, year, page in zip(hosts.tolist(), years.tolist(), pages.tolist())]})


def lineitem(rows, first=0):
    """Columns like those of TPC-H's table of that name."""
    r = numpy.random.default_rng(SEED + first)
    day = pyarrow.array(r.integers(0, 2526, rows, 'i4')
                        + (FIRST_DAY - datetime.date(1970, 1, 1)).days, pyarrow.date32())

    def chosen(*words):
        return pyarrow.array(words).take(pyarrow.array(r.integers(0, len(words), rows)))
    comments = pyarrow.array([f'{n:x} carefully final' for n in
                              r.integers(0, 2**60, 5000).tolist()])
    return pyarrow.table({
        'l_orderkey': numpy.arange(first, first + rows) // 4,
        'l_partkey': r.integers(0, 200_000, rows), 'l_suppkey': r.integers(0, 10_000, rows),
        'l_quantity': r.integers(1, 51, rows),
        'l_extendedprice': r.integers(90_000, 9_999_999, rows) / 100,
        'l_discount': r.integers(0, 11, rows) / 100, 'l_returnflag': chosen('A', 'N', 'R'),
        'l_shipdate': day, 'l_shipinstruct': chosen('NONE', 'COLLECT COD', 'TAKE BACK RETURN'),
        'l_shipmode': chosen('AIR', 'FOB', 'MAIL', 'RAIL', 'SHIP', 'TRUCK'),
        'l_comment': comments.take(pyarrow.array(r.integers(0, len(comments), rows)))})


def make(kind, order, rows, path):
    """Writes an input: an array, a table of Arrow in one piece, or a Parquet file, the rows of
    which are made 250,000 at a time."""
    if kind == 'integers':
        return numpy.save(path, integers(rows, order))
    if kind != 'files':
        table = (strings if kind == 'strings' else lineitem)(rows).combine_chunks()
        with pyarrow.ipc.new_file(path, table.schema) as file:
            return file.write_table(table)
    step = 250_000
    first = lineitem(min(step, rows))
    with pyarrow.parquet.ParquetWriter(path, first.schema) as file:
        for begin in range(0, rows, step):
            file.write_table(lineitem(min(step, rows - begin), begin) if begin else first)
    return None
