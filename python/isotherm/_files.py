"""Files, and records in memory that are given as bytes."""

from __future__ import annotations

import os
import typing
from collections.abc import Iterable

from . import _native
from ._options import Division, Options, Order, Path, Progress, checked

if typing.TYPE_CHECKING:
    from typing_extensions import Buffer, Unpack

Source = typing.Union[Path, 'Buffer']


def sort_file(inputs: Path | Iterable[Path], output: Path, *, progress: Progress | None = None,
              **options: Unpack[Options]) -> _native.Report:
    """Sorts a file, or several together, into `output`, which gets its name when it is complete.

        isotherm.sort_file('in.csv', 'out.csv', separator=',', key='2,2n', memory='1gb')

    The GIL is released meanwhile. `progress` is called by this thread, some times a second; an
    exception there ends the sort, as a KeyboardInterrupt does, and nothing is left behind.
    """
    return _native.sort_files(names(inputs), os.fsdecode(output), checked(options, Options),
                              progress)


def split_file(inputs: Path | Iterable[Path], outputs: Iterable[Path],
               boundaries: Path | None = None, place: tuple[float, float] = (0, 1), *,
               progress: Progress | None = None,
               **options: Unpack[Division]) -> _native.SplitReport:
    """Writes each record to the one of `outputs`, two files or more, in whose range of keys it
    lies. Sorted apart by the same options and put together, the parts are the sorted input.

        isotherm.split_file('in.csv', ['low', 'high'], separator=',', key='2,2n')

    `boundaries` is a file of the records that begin all parts but the first, in order; without it a
    sample of the input chooses them. Boundaries that are equal share out the records equal to them,
    earlier ones first: `place` is where the input begins and ends, from 0 to 1, in all that is
    divided by the same boundaries. The GIL, `progress` and interrupts are as in sort_file().
    """
    return _native.split_files(names(inputs), names(outputs), os.fsdecode(boundaries or ''), place,
                               checked(options, Division), progress)


def sample(inputs: Path | Iterable[Path], output: Path, records: int, *,
           progress: Progress | None = None, **options: Unpack[Division]) -> int:
    """Writes `records` records from even places of the input to `output`, sorted; all, if there are
    no more; of lines those behind even bytes, which may be fewer. Returns how many. A sample of a
    sorted one has its quantiles: boundaries of split_file().

        isotherm.sample('in.csv', 'sample', 15_000, separator=',', key='2,2n')
        isotherm.sample('sample', 'boundaries', 15, separator=',', key='2,2n')
    """
    return _native.sample_files(names(inputs), os.fsdecode(output), records,
                                checked(options, Division), progress)


def names(paths: Path | Iterable[Path]) -> list[str]:
    each = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return [os.fsdecode(path) for path in each]


def sort_bytes(data: Buffer, progress: Progress | None, **options: Unpack[Order]) -> bytes:
    """Sorts the records that lie in `data`; copies them once, to the bytes that it returns."""
    records = _native.map_buffer(data, checked(options, Order), progress)
    records.sort()
    return records.gather()


def index_map(source: Source, **options: Unpack[Order]) -> _native.IndexMap:
    """Reads the keys of a file, or of a buffer, which must not change as long as the map lives."""
    given = checked(options, Order)
    if isinstance(source, (str, os.PathLike)):
        return _native.map_file(os.fsdecode(source), given, None)
    return _native.map_buffer(source, given, None)


def top_k(source: Source, k: int, **options: Unpack[Order]) -> list[bytes]:
    """Returns the first `k` records of the order. Takes 16 bytes of memory for each record of the
    source; sort_file(top=k) does not."""
    records = index_map(source, **options)
    records.sort_first(k)
    return [records.record(i) for i in range(min(k, len(records)))]


def count(source: Source, **options: Unpack[Order]) -> list[tuple[bytes, int]]:
    """Returns each key once, in order, with the number of its records. Takes 16 bytes of memory for
    each record of the source; sort_file(count=True) does not."""
    records = index_map(source, **options)
    records.sort()
    return [(records.key(first), number) for first, number in records.groups()]


def check(path: Path, *, unique: bool = False, header: int = 0,
          **options: Unpack[Order]) -> _native.Disorder | None:
    """Returns the first record of a file that should go before its predecessor (or, with `unique`,
    has the same key); None if there is none."""
    given = {**checked(options, Order), 'unique': unique, 'header': header}
    return _native.find_disorder(os.fsdecode(path), given)


def plan(path: Path, **options: Unpack[Options]) -> list[_native.Prediction]:
    """Returns the time that each algorithm would take on an emulated device (device='emu:pmem'), by
    the cost model, the cheapest first."""
    return _native.explain(os.fsdecode(path), checked(options, Options))
