"""Options: those of `isotherm sort`, with the same names, meanings and defaults."""

from __future__ import annotations

import os
import random
import typing
from collections.abc import Callable, Mapping, Sequence

Progress = Callable[[str, int, int], object]
"""Is told the stage, and how much of its total is done (bytes or records; 0 of 0: just begun)."""

Path = str | os.PathLike[str]


class Order(typing.TypedDict, total=False):
    """How an input is divided into records, and their order. Without `record` and `klv` it is
    lines, in the order of their bytes."""

    record: int
    """Records have this many bytes."""
    klv: bool
    """Records are a key, a 4-byte little-endian length, and a value of that length."""
    key: str | Sequence[str]
    """Keys: of lines as -k of sort has them ('2,2n'); of records, a number ('u64,le', 'f32,be')."""
    key_size: int
    """Bytes of the key of a record (10)."""
    key_offset: int
    """Bytes of a record in front of its key."""
    separator: str
    """The character between the fields of a line; without it, fields begin with blanks."""
    zero_terminated: bool
    """A NUL ends each line."""
    reverse: bool
    """The largest record goes first."""
    stable: bool
    """Lines with equal keys keep their order; records always do."""
    seed: int
    """Seed of keys in random order ('R')."""
    memory: int | str
    """Bytes that the sort may take beside what the interpreter holds: a number, or '500mb' or
    '2gb'; at least 32 MiB. Without it, half of what is available."""
    read_threads: int
    sort_threads: int


class Division(Order, total=False):
    """All options of split_file() and sample()."""

    header: int
    """Number of first lines that stay in front."""
    tmp: Path
    """Directory of temporary files; without it, the output's."""
    unpack: bool
    """Decompress compressed inputs (True)."""
    fsync: bool
    """Wait until the output is on the disk (True)."""


class Options(Division, total=False):
    """All options of sort_file() and plan()."""

    unique: bool
    """Write only the first of records with equal keys."""
    count: bool
    """Write each key once, with the number of its records."""
    top: int
    """Write the first records of the order only, so many."""
    device: Path
    """An emulated device ('emu:pmem'), or a file with a profile of device.probe()."""
    algorithm: str
    concurrency: str
    compress: str
    """Whether temporary runs are compressed: 'auto', 'on' or 'off'."""
    pack: str
    """Compression of the output: 'auto' (by its suffix), 'none', 'gzip', 'zstd' or 'lz4'."""
    write_threads: int
    verify: bool
    """Read the output again: order, count and checksum."""


def checked(given: Mapping[str, object], known: type) -> dict[str, object]:
    """Returns `given`, all of which `known`, a TypedDict, has; random keys get a seed."""
    for name in given:
        if name not in known.__optional_keys__:  # type: ignore[attr-defined]
            others = ', '.join(sorted(known.__optional_keys__))  # type: ignore[attr-defined]
            raise TypeError(f"there is no option '{name}' here; there are {others}")
    return {'seed': random.getrandbits(64), **given}
