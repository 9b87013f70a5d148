"""Tables and record batches of Arrow."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.types as types

from . import _native
from ._by import By, keys_of


def sort_arrow(table: pa.Table | pa.RecordBatch, by: By, options: dict[str, object],
               progress: object) -> pa.Table | pa.RecordBatch:
    """Sorts rows; those without a value in a key go last, and before them those with NaN."""
    return take(table, order_of(table, by, options, progress))


def order_of(table: pa.Table | pa.RecordBatch, by: By, options: dict[str, object],
             progress: object) -> pa.UInt64Array:
    """The numbers of the rows in order."""
    columns = [column(name, table.column(name), descending)
               for name, descending in keys_of(by, table.schema.names)]
    order = _native.order_rows(columns, table.num_rows, options, progress)
    return pa.Array.from_buffers(pa.uint64(), table.num_rows, [None, pa.py_buffer(order)])


def take(table: pa.Table | pa.RecordBatch, order: pa.UInt64Array) -> pa.Table | pa.RecordBatch:
    """The rows in `order`, columns side by side."""
    with ThreadPoolExecutor(pa.cpu_count()) as pool:
        columns = list(pool.map(lambda each: each.take(order), table.columns))
    return type(table).from_arrays(columns, schema=table.schema)


def column(name: str, values: pa.Array | pa.ChunkedArray, descending: bool) -> _native.Column:
    array = in_one(sortable(name, values))
    kind, width = storage_of(array.type) or ('', 0)
    validity, *buffers = array.buffers()
    common = {'descending': descending, 'kind': getattr(_native.Storage, kind), 'width': width,
              'stride': width, 'validity': validity if array.null_count else None,
              'validity_offset': array.offset}
    if kind == 'text':
        offsets, text = buffers
        return _native.Column(values=text or b'', offsets=offsets or bytes(width),
                              offsets_offset=array.offset * width if offsets else 0, **common)
    return _native.Column(values=buffers[0] or b'', values_offset=array.offset * width, **common)


def sortable(name: str, values: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """The values as a type whose bytes storage_of() knows."""
    kind = values.type
    if types.is_dictionary(kind):
        return sortable(name, values.cast(kind.value_type))
    if types.is_boolean(kind):
        return values.cast(pa.uint8())
    if types.is_null(kind):
        return values.cast(pa.int8())
    if types.is_string(kind):
        return values.cast(pa.large_string())
    if types.is_binary(kind):
        return values.cast(pa.large_binary())
    if storage_of(kind) is None:
        raise TypeError(f"'{name}' of type {kind} cannot be a key: numbers, times, text and bytes "
                        'can')
    return values


def storage_of(kind: pa.DataType) -> tuple[str, int] | None:
    """How the native part calls it, and its bytes."""
    if types.is_large_string(kind) or types.is_large_binary(kind):
        return 'text', 8
    if types.is_fixed_size_binary(kind):
        return 'bytes', kind.byte_width
    if types.is_decimal(kind):
        return 'decimal', kind.bit_width // 8
    if types.is_unsigned_integer(kind):
        return 'natural', kind.bit_width // 8
    if types.is_floating(kind):
        return 'real', kind.bit_width // 8
    if types.is_integer(kind) or (types.is_temporal(kind) and not types.is_interval(kind)):
        return 'integer', kind.bit_width // 8
    return None


def in_one(values: pa.Array | pa.ChunkedArray) -> pa.Array:
    """The values in one piece: where they are in several, a copy of them."""
    if isinstance(values, pa.Array):
        return values
    return values.chunk(0) if values.num_chunks == 1 else values.combine_chunks()
