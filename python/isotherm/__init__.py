"""Sorts files larger than memory, arrays and tables.

    import isotherm
    isotherm.sort_file('in.csv', 'out.csv', separator=',', key='2,2n', memory='1gb')

The options are those of `isotherm sort`: see help(isotherm.Options).
"""

from __future__ import annotations

import sys
import typing

from . import device
from ._by import By
from ._error import Error
from ._files import (check, count, index_map, plan, sample, sort_bytes, sort_file, split_file,
                     top_k)
from ._native import Disorder, IndexMap, Prediction, Report, SplitPart, SplitReport, Stage
from ._options import Division, Options, Order, Path, Progress, checked

__all__ = ['By', 'Disorder', 'Division', 'Error', 'IndexMap', 'Options', 'Order', 'Prediction',
           'Progress', 'Report', 'SplitPart', 'SplitReport', 'Stage', 'check', 'count', 'device',
           'index_map', 'plan', 'sample', 'sort', 'sort_file', 'sort_table', 'split_file', 'top_k']

if typing.TYPE_CHECKING:
    import numpy
    import pyarrow
    from typing_extensions import Buffer, Unpack

_Named = typing.TypeVar('_Named', 'pyarrow.Table', 'pyarrow.RecordBatch', 'numpy.ndarray')


@typing.overload
def sort(data: _Named, by: By | None = None, *, progress: Progress | None = None,
         **options: Unpack[Order]) -> _Named: ...


@typing.overload
def sort(data: Buffer, by: None = None, *, progress: Progress | None = None,
         **options: Unpack[Order]) -> bytes: ...


def sort(data: typing.Any, by: By | None = None, *, progress: Progress | None = None,
         **options: Unpack[Order]) -> typing.Any:
    """Returns what `data` holds, sorted. The data is read where it lies and copied once.

    Arrow tables and record batches: by the columns `by`. Arrays of numpy: by themselves, or by the
    fields `by`, which are all if it is not given. Anything else that is a buffer (bytes, bytearray,
    memoryview, mmap): records or lines, as the options say; the result is bytes.

        isotherm.sort(table, by=['town', ('amount', 'descending')])
        isotherm.sort(array)
        isotherm.sort(data, record=100, key_size=10)
    """
    package = type(data).__module__.partition('.')[0]
    if package == 'pyarrow' and isinstance(data, (_loaded('pyarrow', 'Table'),
                                                  _loaded('pyarrow', 'RecordBatch'))):
        from ._arrow import sort_arrow
        if by is None:
            raise TypeError("by: name the columns to sort by, as in by=['town']")
        return sort_arrow(data, by, _limits(options), progress)
    if 'numpy' in sys.modules and isinstance(data, _loaded('numpy', 'ndarray')):
        from ._arrays import sort_array
        return sort_array(data, by, _limits(options), progress)
    if by is not None:
        raise TypeError('by: only tables and arrays have names of keys')
    return sort_bytes(data, progress, **options)


def sort_table(source: Path, target: Path, by: By, *, memory: int | str = '1gb',
               tmp: Path | None = None) -> int:
    """Sorts the rows of a file by the columns `by`, writes them to another, and returns how many.

        isotherm.sort_table('in.parquet', 'out.parquet', by=['town', ('amount', 'descending')])

    The suffixes of the names tell the formats: .parquet, .arrow and .feather (Arrow's IPC format),
    .csv. Rows without a value in a key go last, and before them those with NaN; equal rows keep
    their order. Dictionaries are written decoded. Needs pyarrow.

    `memory` is about what the process takes beside what it held before; a batch of Arrow's format
    has to fit in a sixth of it. Larger inputs are read once for their keys and once for all rows,
    and need as much room in `tmp` (without it, the target's directory) as their rows take in
    Arrow's format. The target gets its name when it is complete.
    """
    from . import _tables
    return _tables.sort_table(source, target, by, memory=memory, tmp=tmp)


def _loaded(module: str, name: str) -> typing.Any:
    return getattr(sys.modules[module], name)


def _limits(options: typing.Mapping[str, object]) -> dict[str, object]:
    """The options of a sort whose keys are columns: how much it may take."""
    for name in options:
        if name not in ('memory', 'read_threads', 'sort_threads'):
            raise TypeError(f"'{name}' is not for tables and arrays, whose keys `by` names")
    return checked(options, Order)
