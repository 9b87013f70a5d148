"""Arrays of numpy."""

from __future__ import annotations

import typing
from collections.abc import Sequence

from . import _native
from ._by import By, keys_of

if typing.TYPE_CHECKING:
    import numpy

_STORAGE = {'b': 'natural', 'u': 'natural', 'i': 'integer', 'f': 'real', 'm': 'time', 'M': 'time',
            'S': 'bytes', 'V': 'bytes'}


def sort_array(array: numpy.ndarray, by: By | None, options: dict[str, object],
               progress: object) -> numpy.ndarray:
    """Sorts an array of one dimension; NaN and NaT go last."""
    import numpy
    if array.ndim != 1:
        raise ValueError(f'an array of {array.ndim} dimensions: give one of one')
    if isinstance(array, numpy.ma.MaskedArray):
        raise TypeError('a masked array: fill it first')
    plain = numpy.require(array, requirements=['C', 'A'])
    out = numpy.empty_like(plain)
    if by is None and plain.dtype.kind in 'buifmM' and is_plain(plain.dtype):
        kind = getattr(_native.Number, _STORAGE[plain.dtype.kind])
        _native.sort_numbers(kind, plain.dtype.itemsize, raw(plain), raw(out))
        return out
    order = order_of(plain, by, options, progress)
    _native.take_records(raw(plain), plain.dtype.itemsize, order, raw(out))
    return out


def order_of(array: numpy.ndarray, by: By | None, options: dict[str, object],
             progress: object) -> bytes:
    """The numbers of the records in order, each of 8 bytes."""
    if array.dtype.hasobject:
        raise TypeError('an array of Python objects has no order in bytes')
    columns = [column(array, *key) for key in keys(array.dtype, by)]
    return _native.order_rows(columns, len(array), options, progress)


def keys(dtype: numpy.dtype, by: By | None) -> Sequence[tuple[str | None, bool]]:
    if by is not None:
        return keys_of(by, dtype.names or ())
    return [(name, False) for name in dtype.names or [None]]


def is_plain(dtype: numpy.dtype) -> bool:
    return dtype.itemsize in (1, 2, 4, 8) and dtype.isnative


def column(array: numpy.ndarray, name: str | None, descending: bool) -> _native.Column:
    """The field `name`, or the array itself."""
    dtype, offset = (array.dtype.fields or {})[name][:2] if name else (array.dtype, 0)
    storage = _STORAGE.get(dtype.kind)
    if storage is None or dtype.subdtype or dtype.fields:
        raise TypeError(f'{dtype} cannot be a key: numbers, times and byte strings can')
    if storage != 'bytes' and not is_plain(dtype):
        raise TypeError(f'{dtype} cannot be a key: numbers of 1 to 8 bytes in the order of this '
                        'machine can')
    return _native.Column(kind=getattr(_native.Storage, storage), width=dtype.itemsize,
                          stride=array.dtype.itemsize, descending=descending, values=raw(array),
                          values_offset=offset)


def raw(array: numpy.ndarray) -> numpy.ndarray:
    """The bytes of an array, which some types do not give as a buffer."""
    return array.view('u1') if array.dtype.itemsize and len(array) else array.view('V0')[:0]
