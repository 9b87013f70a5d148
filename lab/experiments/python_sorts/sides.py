"""One sort in a process of its own: `sides.py SIDE CASE SOURCE TARGET MEMORY` prints what it took.

The input is loaded before the clock starts, but where files are sorted into files. The peak is that
of the resident memory of the process, with packages and input.
"""
import json
import os
import pathlib
import re
import sys
import time

BY = [('l_shipdate', 'ascending'), ('l_extendedprice', 'descending')]
NAMES = [name for name, _ in BY]
DOWN = [direction == 'descending' for _, direction in BY]


def load(kind, path):
    """The input as the packages take it: an array, or a table with columns in one piece."""
    if kind == 'integers':
        import numpy
        return numpy.load(path)
    import pyarrow
    return pyarrow.ipc.open_file(pyarrow.memory_map(path)).read_all()


def isotherm(kind, data):
    import isotherm as package
    if kind == 'integers':
        return lambda: package.sort(data)
    return lambda: package.sort(data, by=BY if kind == 'lineitem' else 'text')


def numpy(kind, data):
    import numpy as package
    if kind == 'integers':
        return lambda: package.sort(data)
    return None


def pyarrow(kind, data):
    import pyarrow as package
    import pyarrow.compute
    if kind == 'integers':
        array = package.array(data)
        return lambda: array.take(package.compute.sort_indices(array))
    return lambda: data.sort_by(BY if kind == 'lineitem' else 'text')


def polars(kind, data):
    import polars as package
    if kind == 'integers':
        series = package.Series(data)
        return series.sort
    frame = package.from_arrow(data)
    if kind == 'lineitem':
        return lambda: frame.sort(NAMES, descending=DOWN, nulls_last=True)
    return lambda: frame.sort('text')


def duckdb(kind, data):
    import duckdb as package
    if kind == 'integers':
        import pyarrow as arrow
        data = arrow.table({'n': arrow.array(data)})
    order = {'integers': 'n', 'strings': 'text',
             'lineitem': 'l_shipdate, l_extendedprice desc'}[kind]
    connection = package.connect()
    connection.register('input', data)
    return lambda: connection.sql(f'select * from input order by {order}').to_arrow_table()


def of_files(side, source, target, memory):
    """Sorts a Parquet file into another in `memory` bytes, as far as the package can be told."""
    import pyarrow.dataset
    import pyarrow.parquet
    if side == 'isotherm':
        import isotherm as package
        return lambda: package.sort_table(source, target, BY, memory=memory)
    if side == 'pyarrow':
        return lambda: pyarrow.parquet.write_table(
            pyarrow.parquet.read_table(source).sort_by(BY), target)
    if side == 'polars':
        import polars as package
        return lambda: package.scan_parquet(source).sort(NAMES, descending=DOWN, nulls_last=True
                                                         ).sink_parquet(target)
    import duckdb as package
    connection = package.connect()
    connection.execute(f"set memory_limit='{memory}B'; set temp_directory='{target}.duckdb'; "
                       "set preserve_insertion_order=false")
    return lambda: connection.execute(
        f"copy (select * from '{source}' order by l_shipdate, l_extendedprice desc) to '{target}' "
        '(format parquet, compression snappy)')


def main():
    side, kind, source, target, memory = sys.argv[1:]
    if kind == 'files':
        work = of_files(side, source, target, int(memory))
    else:
        data = load(kind, source)
        globals()[side](kind, data[:1000])()  # imports, and starts threads
        work = globals()[side](kind, data)
    start = time.monotonic()
    result = work()
    seconds = time.monotonic() - start
    peak = re.search(r'VmHWM:\s*(\d+)', pathlib.Path('/proc/self/status').read_text())
    print(json.dumps({'seconds': seconds, 'peak_bytes': int(peak[1]) << 10}), flush=True)
    del result
    os._exit(0)  # what the packages tidy up then is nobody's time


if __name__ == '__main__':
    main()
