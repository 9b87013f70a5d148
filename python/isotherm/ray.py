"""Sorts files on a cluster of Ray, in the manner of Exoshuffle.

    import isotherm.ray
    isotherm.ray.sort(inputs, 'sorted', separator=',', key='2,2n', memory='1gb')

Ray schedules the tasks, keeps and moves the parts between them, spills those that do not fit in its
memory, and repeats tasks whose worker is gone. The tasks are sample(), split_file() and sort_file()
of the package. Inputs, output and `tmp` have the same names on all machines.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import mmap
import os
import pathlib
import pickle
import re
import tempfile
import typing
from collections.abc import Iterable, Iterator

import ray

from . import _native
from ._error import Error
from ._files import names, sample, sort_file, split_file
from ._options import Division, Path, Progress, checked

if typing.TYPE_CHECKING:
    from typing_extensions import Unpack

__all__ = ['sort']

MANIFEST = 'manifest.json'
SAMPLED_OF_PART = 200  # records: the sizes of parts have a standard deviation of 7% then
SECONDS_TO_END = 60  # that tasks have when the sort is given up


def sort(inputs: Path | Iterable[Path], output_directory: Path, *, parts: int | None = None,
         cpus: int = 1, tasks: int | None = None, memory: int | str = '1gb',
         progress: Progress | None = None, **options: Unpack[Division]) -> dict[str, typing.Any]:
    """Sorts files into the files part-0, part-1 and so on of a directory, which are the sorted
    input if they are put together, and returns the manifest, which manifest.json there also holds.

        isotherm.ray.sort(['in1', 'in2'], 'sorted', record=100, memory='500mb')

    A task for each input divides it, and one for each of the `parts` sorts that. A task takes
    `cpus` processors and `memory` beside what its worker holds, which Ray is told, and at most
    `tasks` of them are in flight (without a number: as many as the cluster has processors for).
    Without a number there are so many parts that half of `memory` holds one. Keys that are more
    frequent than a part is large share several. There are fewer parts where the sample has fewer
    records.

    A file gets its name when it is complete, and the manifest when all are: it tells records,
    bytes and checksum of each part and of all, sums as `isotherm valsort` prints them. Those of all
    parts were compared with those of what was divided. Temporary files lie in `tmp`, without it in
    the output directory, and are removed at the end, also after an error or an interrupt.

    `progress` is told 'sample', 'split' or 'sort', how many of its tasks are done, and of how many.
    """
    paths = names(inputs)
    target = pathlib.Path(output_directory)
    given = checked({'read_threads': cpus, 'sort_threads': cpus, **options, 'memory': memory},
                    Division)
    if parts is not None and parts < 2:
        raise ValueError(f'parts: there are two or more, not {parts}')
    check_names(paths, target)
    room = _native.bytes_of(memory)
    wanted = parts or max(2, -(-sum(map(os.path.getsize, paths)) * 2 // room))
    if not ray.is_initialized():
        ray.init()
    target.mkdir(parents=True, exist_ok=True)
    (target / MANIFEST).unlink(missing_ok=True)
    with tempfile.TemporaryDirectory(dir=given.pop('tmp', target), prefix='.isotherm-') as scratch:
        limit = tasks or max(1, int(ray.cluster_resources().get('CPU', 1)) // cpus)
        with Tasks({'num_cpus': cpus, 'memory': room}, limit, progress) as running:
            manifest = Sort(paths, target, scratch, given, running).run(wanted)
    write_whole(target / MANIFEST, json.dumps(manifest, indent=2).encode() + b'\n')
    return manifest


def check_names(paths: list[str], target: pathlib.Path) -> None:
    if not paths:
        raise ValueError('inputs: name at least one file')
    for path in paths:
        if target.resolve() == pathlib.Path(path).resolve().parent:
            raise ValueError(f"'{path}' lies in the output directory: name another directory")


class Tasks:
    """Tasks of Ray, `limit` at the most in flight. Leaving its context ends those that are left."""

    def __init__(self, needs: dict[str, object], limit: int, progress: Progress | None):
        self.needs = needs
        self.limit = limit
        self.progress = progress
        self.flying: dict[ray.ObjectRef, tuple[int, list[ray.ObjectRef]]] = {}

    def __enter__(self) -> Tasks:
        return self

    def __exit__(self, *_: object) -> None:
        for last in self.flying:
            ray.cancel(last)
        if self.flying:
            ray.wait(list(self.flying), num_returns=len(self.flying), timeout=SECONDS_TO_END)

    def run(self, stage: str, body: typing.Callable, calls: Iterable[tuple], count: int,
            results: int = 1) -> list[tuple[list[ray.ObjectRef], typing.Any]]:
        """Runs `body` for the arguments of each of `count` calls. Returns of each the references of
        all its `results` but the last, and the last itself."""
        remote = ray.remote(num_returns=results, **self.needs)(body)
        done: dict[int, tuple[list[ray.ObjectRef], typing.Any]] = {}

        def finish_one() -> None:
            last = ray.wait(list(self.flying), num_returns=1)[0][0]
            number, others = self.flying.pop(last)
            done[number] = others, fetched(last)
            if self.progress:
                self.progress(stage, len(done), count)

        for number, arguments in enumerate(calls):
            if len(self.flying) == self.limit:
                finish_one()
            made = remote.remote(*arguments)
            *others, last = made if results > 1 else [made]
            self.flying[last] = number, others
        while self.flying:
            finish_one()
        return [done[number] for number in range(count)]


def fetched(reference: ray.ObjectRef) -> typing.Any:
    """The object; an error of the package as it was raised in the task."""
    try:
        return ray.get(reference)
    except ray.exceptions.RayTaskError as failed:
        if isinstance(failed.cause, Error):
            raise failed.cause from None
        raise


class Sort:
    """One sort, by the program that asks for it."""

    def __init__(self, inputs: list[str], target: pathlib.Path, scratch: str,
                 options: dict[str, object], tasks: Tasks):
        self.inputs = inputs
        self.target = target
        self.scratch = scratch
        self.options = options
        self.between = {**options, 'fsync': False}  # of files that are removed again
        self.tasks = tasks

    def run(self, parts: int) -> dict[str, typing.Any]:
        boundaries, parts = self.boundaries(parts)
        rows = self.split(boundaries, parts)
        divided = total([row.pop() for row in rows])
        columns = [list(column) for column in zip(*rows)]
        del rows
        made = self.sort(columns)
        manifest = {**total(made), 'parts': made}
        if any(manifest[name] != divided[name] for name in ('records', 'checksum')):
            raise Error(f'the parts hold {manifest["records"]} records of checksum '
                        f'{manifest["checksum"]}, the inputs {divided["records"]} of '
                        f'{divided["checksum"]}: an input or a part has changed meanwhile')
        return manifest

    def boundaries(self, parts: int) -> tuple[bytes | None, int]:
        """Returns the records that begin all parts but the first, and how many parts these make;
        None if no records are found."""
        sizes = [os.path.getsize(path) for path in self.inputs]
        calls = [([path], max(1, -(-SAMPLED_OF_PART * parts * size // (sum(sizes) or 1))),
                  self.scratch, self.between) for path, size in zip(self.inputs, sizes)]
        samples = [found for _, found in self.tasks.run('sample', take_sample, calls, len(calls))]
        with folder_in(self.scratch) as here:
            files = [here / str(number) for number in range(len(samples))]
            for file, content in zip(files, samples):
                file.write_bytes(content)
            sort_file(files, here / 'sorted', **self.between)
            number = sample(here / 'sorted', here / 'boundaries', parts - 1, **self.between)
            return ((here / 'boundaries').read_bytes(), number + 1) if number else (None, 2)

    def split(self, boundaries: bytes | None, parts: int) -> list[list[typing.Any]]:
        """Divides the inputs. Returns of each the references of its parts, then its sums."""
        groups = [[path] for path in self.inputs] if boundaries else [self.inputs]
        sizes = [sum(map(os.path.getsize, group)) for group in groups]
        ends = [end / (sum(sizes) or 1) for end in itertools.accumulate(sizes, initial=0)]
        shared = ray.put(boundaries)
        calls = [(group, shared, place, parts, self.scratch, self.between)
                 for group, place in zip(groups, itertools.pairwise(ends))]
        return [[*references, sums] for references, sums
                in self.tasks.run('split', divide, calls, len(calls), parts + 1)]

    def sort(self, columns: list[list[ray.ObjectRef]]) -> list[dict[str, typing.Any]]:
        """Sorts parts, each of which comes in pieces. References to them are dropped on the way."""
        count = len(columns)
        width = len(str(count - 1))

        def calls() -> Iterator[tuple]:
            for number in range(count):
                output = self.target / f'part-{number:0{width}}'
                yield columns.pop(0), str(output), self.scratch, self.options
        return [sums for _, sums in self.tasks.run('sort', sort_part, calls(), count)]


def total(each: list[dict[str, typing.Any]]) -> dict[str, typing.Any]:
    return {'records': sum(sums['records'] for sums in each),
            'bytes': sum(sums['bytes'] for sums in each),
            'checksum': f"{sum(int(sums['checksum'], 16) for sums in each):x}"}


# The bodies of tasks. A task works in a folder of its own, so that it can be repeated, also while
# an attempt that Ray has given up still runs.


def take_sample(inputs: list[str], records: int, scratch: str, options: dict) -> bytes:
    with folder_in(scratch) as here:
        sample(inputs, here / 'sample', records, **options)
        return (here / 'sample').read_bytes()


def divide(inputs: list[str], boundaries: bytes | None, place: tuple[float, float], parts: int,
           scratch: str, options: dict) -> Iterator[typing.Any]:
    """Yields each part, which is removed behind it, and the sums over all."""
    with folder_in(scratch) as here:
        outputs = [here / str(number) for number in range(parts)]
        between = None
        if boundaries is not None:
            between = here / 'boundaries'
            between.write_bytes(boundaries)
        split_file(inputs, outputs, between, place, **options)
        all_sums = []
        for output in outputs:
            piece = Piece(mapped(output))
            all_sums.append(sums_of(piece.bytes, options))
            yield piece
            output.unlink()
        yield total(all_sums)


def sort_part(pieces: list[ray.ObjectRef], output: str, scratch: str,
              options: dict) -> dict[str, typing.Any]:
    """Puts pieces of a part together, one after the other, and sorts them."""
    with folder_in(scratch) as here:
        with open(here / 'part', 'wb') as part:
            for number, reference in enumerate(pieces):
                piece = ray.get(reference).bytes
                part.write(piece[header_bytes(piece, options):] if number else piece)
                del piece
        sort_file(here / 'part', output, tmp=here, **options)
    return {'path': os.path.basename(output), **sums_of(mapped(output), options)}


class Piece:
    """Bytes that Ray writes to its memory and reads there without other copies."""

    def __init__(self, content: typing.Any):
        self.bytes = memoryview(content)

    def __reduce_ex__(self, _: object) -> tuple:
        return Piece, (pickle.PickleBuffer(self.bytes),)


def mapped(path: Path) -> typing.Any:
    with open(path, 'rb') as file:
        if os.path.getsize(path) == 0:
            return b''
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def sums_of(content: typing.Any, options: dict) -> dict[str, typing.Any]:
    records, high, low = _native.sum_records(content, options)
    return {'records': records, 'bytes': len(content), 'checksum': f'{(high << 64) + low:x}'}


def header_bytes(content: typing.Any, options: dict) -> int:
    end = b'\0' if options.get('zero_terminated') else b'\n'
    lines = options.get('header') or 0
    header = re.match(b'(?:[^%b]*%b){0,%d}' % (end, end, lines), content)
    return header.end() if header else 0


@contextlib.contextmanager
def folder_in(scratch: str) -> Iterator[pathlib.Path]:
    with tempfile.TemporaryDirectory(dir=scratch) as name:
        yield pathlib.Path(name)


def write_whole(path: pathlib.Path, content: bytes) -> None:
    waiting = path.with_name(f'.{path.name}')
    waiting.write_bytes(content)
    os.replace(waiting, path)
