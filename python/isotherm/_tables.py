"""Files of tables, Parquet, Arrow's IPC format and CSV, also larger than memory.

A file that fits is read, sorted and written. A sample of the keys of a larger one is taken first,
which cuts the order into parts that fit. Then the rows are read once more and go, each to its part,
into temporary files; and the parts are sorted and written one after the other. The rows of a part
whose keys are all equal are in order already, so that no number of equal keys is too much.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import pathlib
import tempfile
from collections.abc import Iterator

import pyarrow as pa
import pyarrow.compute
import pyarrow.csv
import pyarrow.parquet

from . import _arrow, _native
from ._by import By, keys_of
from ._options import Path

FORMATS = {'.parquet': 'parquet', '.arrow': 'ipc', '.feather': 'ipc', '.csv': 'csv'}
SHARES = 6  # of the memory: a piece has one, its rows in order, its keys and what is read ahead the
            # others
MOST_ROOM = 1 << 30  # bytes of a piece: Arrow takes rows of text that has 2 GiB at the most
SAMPLES = 256  # of the keys, for each part
MOST_PARTS = 256
READ_AHEAD = 1 << 20  # bytes of a column
NO_LIMIT: dict[str, object] = {'memory': 1 << 40}  # of the index map: pieces are small


def sort_table(source: Path, target: Path, by: By, *, memory: int | str = '1gb',
               tmp: Path | None = None) -> int:
    source, target = pathlib.Path(source), pathlib.Path(target)
    rows = _Rows(format_of(source), source)
    room = min(_native.bytes_of(memory) // SHARES, MOST_ROOM)
    with (tempfile.TemporaryDirectory(dir=tmp or target.parent, prefix='.isotherm-') as parts,
          tempfile.TemporaryDirectory(dir=target.parent, prefix='.isotherm-') as beside):
        done = pathlib.Path(beside, 'done')
        with writer_of(format_of(target), done, rows.schema) as writer:
            written = _Sort(by, room, pathlib.Path(parts), writer).sort(rows)
        os.replace(done, target)
    return written


def format_of(path: pathlib.Path) -> str:
    if path.suffix not in FORMATS:
        raise ValueError(f"{path}: '{path.suffix}' is none of {', '.join(FORMATS)}")
    return FORMATS[path.suffix]


def writer_of(kind: str, path: pathlib.Path, schema: pa.Schema):
    if kind == 'parquet':
        return pa.parquet.ParquetWriter(path, schema)
    if kind == 'csv':
        return pa.csv.CSVWriter(path, schema)
    return pa.ipc.new_file(path, schema)


# Readers of each format: the schema, and the batches, with little read ahead.


def read_parquet(path: pathlib.Path, columns: list[str] | None):
    file = pa.parquet.ParquetFile(path, pre_buffer=False, buffer_size=READ_AHEAD)
    return file.schema_arrow, file.iter_batches(columns=columns)


def read_ipc(path: pathlib.Path, columns: list[str] | None):
    schema = pa.ipc.open_file(pa.OSFile(str(path))).schema
    wanted = None if columns is None else [schema.get_field_index(name) for name in columns]
    file = pa.ipc.open_file(pa.OSFile(str(path)),
                            options=pa.ipc.IpcReadOptions(included_fields=wanted))
    return schema, map(file.get_batch, range(file.num_record_batches))


def read_csv(path: pathlib.Path, columns: list[str] | None):
    """An empty field is none, unless it is in quotes, as CSVWriter writes them."""
    reader = pa.csv.open_csv(path, convert_options=pa.csv.ConvertOptions(
        include_columns=columns, null_values=[''], strings_can_be_null=True,
        quoted_strings_can_be_null=False))
    return reader.schema, reader


READERS = {'parquet': read_parquet, 'ipc': read_ipc, 'csv': read_csv}


class _Rows:
    """The rows of a file, which can be read more than once. Dictionaries are decoded."""

    def __init__(self, kind: str, path: pathlib.Path):
        self.read = READERS[kind]
        self.path = path
        self.schema = pa.schema([
            field.with_type(field.type.value_type)
            if pa.types.is_dictionary(field.type) else field for field in self.read(path, None)[0]])

    def batches(self, columns: list[str] | None = None) -> Iterator[pa.RecordBatch]:
        names = self.schema.names if columns is None else columns
        schema = pa.schema([self.schema.field(name) for name in names])
        for batch in self.read(self.path, columns)[1]:
            if batch.num_rows:
                batch = batch.select(names)
                yield batch if batch.schema.equals(schema) else batch.cast(schema)

    def tables(self, room: int) -> Iterator[pa.Table]:
        """The rows in pieces of about `room` bytes, of one batch at least. A piece is not held here
        while its user has it."""
        held: list[pa.RecordBatch] = []
        taken = 0
        for batch in self.batches():
            if held and taken + batch.nbytes > room:
                ready, held, taken = [pa.Table.from_batches(held)], [], 0
                yield ready.pop()
            held.append(batch)
            taken += batch.nbytes
        yield pa.Table.from_batches(held, self.schema)


class _Sort:
    """Sorts rows into a writer, with files in `folder` where they do not fit in `room` bytes."""

    def __init__(self, by: By, room: int, folder: pathlib.Path, writer):
        self.by = by
        self.room = room
        self.folder = folder
        self.writer = writer
        self.names = itertools.count()

    def sort(self, rows: _Rows) -> int:
        """Writes all rows in order; returns how many."""
        pieces = rows.tables(self.room)
        first = next(pieces)
        if next(pieces, None) is None:
            return self.write(_arrow.sort_arrow(first, self.by, NO_LIMIT, None))
        row_bytes = max(1, first.nbytes // first.num_rows)
        del first, pieces
        pa.default_memory_pool().release_unused()
        cuts = self.cuts(rows, row_bytes)
        return sum(self.finish(*part) for part in self.partition(rows, cuts))

    def write(self, table: pa.Table) -> int:
        self.writer.write_table(table)
        return table.num_rows

    def finish(self, part: pathlib.Path, in_order: bool) -> int:
        """Writes the rows of a part, and removes it."""
        rows = _Rows('ipc', part)
        if in_order:
            written = sum(map(self.write, rows.tables(self.room)))
        else:
            written = self.sort(rows)
        part.unlink()
        return written

    def cuts(self, rows: _Rows, row_bytes: int) -> pa.Table:
        """Returns keys, in order, that cut all rows into parts of less than `room` bytes."""
        names = list(dict.fromkeys(name for name, _ in keys_of(self.by, rows.schema.names)))
        kept: list[pa.Table] = []
        step, total = 1, 0
        for batch in rows.batches(names):
            kept.append(every(pa.Table.from_batches([batch]), -total % step, step))
            total += batch.num_rows
            while sum(map(len, kept)) > SAMPLES * MOST_PARTS:
                step *= 2
                kept = [every(pa.concat_tables(kept), 0, 2)]
        sampled = _arrow.sort_arrow(pa.concat_tables(kept), self.by, NO_LIMIT, None)
        parts = min(MOST_PARTS, total * row_bytes * 5 // (self.room * 4) + 2, len(sampled))
        return sampled.take([len(sampled) * i // parts for i in range(1, parts)])

    def partition(self, rows: _Rows, cuts: pa.Table) -> list[tuple[pathlib.Path, bool]]:
        """Puts each row into the file of its part. Returns the files in order, and of each whether
        all its keys are equal."""
        files: dict[int, tuple[pathlib.Path, bool]] = {}
        writers: dict[int, pa.ipc.RecordBatchFileWriter] = {}
        with contextlib.ExitStack() as opened:
            for table in rows.tables(self.room):
                pieces = self.split(table, cuts)
                del table  # a piece is large: the next one is read without it
                for number, is_equal, part in pieces:
                    if number not in writers:
                        path = self.folder / str(next(self.names))
                        files[number] = path, is_equal
                        writers[number] = opened.enter_context(pa.ipc.new_file(path, rows.schema))
                    writers[number].write_table(part)
                    del part
        return [files[number] for number in sorted(files)]

    def split(self, table: pa.Table, cuts: pa.Table) -> Iterator[tuple[int, bool, pa.Table]]:
        """Cuts a table: the number of each part that has rows, whether its keys are all equal, and
        the rows. The cuts are sorted twice with the rows, before and behind those that are equal to
        them; so parts of equal keys begin with a cut of the first kind and end with the second."""
        keys = pa.concat_tables([cuts, table.select(cuts.schema.names), cuts])
        order = _arrow.order_of(keys, self.by, NO_LIMIT, None)
        first, behind = len(cuts), len(cuts) + len(table)
        is_cut = pa.compute.or_(pa.compute.less(order, first),
                                pa.compute.greater_equal(order, behind))
        places = pa.compute.indices_nonzero(is_cut).to_pylist()
        in_front = [each < first for each in order.take(places).to_pylist()]
        rows = order.filter(pa.compute.invert(is_cut))
        in_order = _arrow.take(table, pa.compute.subtract(rows, first))
        ends = [place - number for number, place in enumerate(places)] + [len(table)]
        begin = 0
        for number, end in enumerate(ends):
            if end > begin:
                is_equal = 0 < number < len(places) and in_front[number - 1] > in_front[number]
                yield number, is_equal, in_order.slice(begin, end - begin)
            begin = end


def every(table: pa.Table, first: int, step: int) -> pa.Table:
    """One row of `step`, from the row `first` on."""
    return table.take(pa.array(range(first, len(table), step), pa.int64()))
