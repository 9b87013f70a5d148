#!/usr/bin/python3
"""New records beyond a memory target: how fast stores take them in, by turns.

    lab/experiments/filling/run.py --target 1gb --times 4 10 --value-size 100 1024 mix \\
        --clients 1 16 --rounds 3 --directory /mnt/disk --save filling.jsonl

A turn starts one store, with a folder of its own in --directory, and fills it with records of
16-byte keys in random order, each key once, until there are --times the target of them, or
--records. A client sends a batch, waits for its replies, and sends the next. A batch has --batch
requests, fewer where they would be more than --batch-bytes. `mix` has values of 16 bytes to 1 MiB,
2.3 KB on average.

    isotherm     isotherm serve with --memory-target; COLD is a file in the folder
    unmanaged    isotherm serve --manage off: all records in DRAM
    redis        redis-server without persistence: all records in DRAM
    extstore     memcached with -m of the target, and values in a file of the folder
    rocksdb      RocksDB in db_bench (fillrandom): memtables and block cache take the target; direct
                 reads and writes, no log, no compression

A store that is not installed is left out with a line, as is one that would hold more in DRAM than
is available, and RocksDB for `mix`, which db_bench cannot make. foyer is left out everywhere: no
program that fills it is packaged.

Right before each turn 1 GiB is written to a file in the folder, 1 MiB at a time past the page
cache: the disk's own rate. Rates are of the records' bytes that the store took, keys included (MB:
10^6). `after` is from the moment on at which there were more of them than the target. DRAM is the
store's resident set, sampled each 100 ms; the page cache, through which memcached writes, is not in
it. memcached drops records for which it has no room, some after the load: `dropped` are those that
it took and does not count once none has left for a second. `unreadable` is the share that is
missing of 1,000 records that are read. Prints medians and ranges; --save appends a JSON object a
turn. --directory needs room for several times the records.

isotherm serve closes clients whose requests together take more than 12% of the target, as 16
batches of 4 MiB do of 500 MiB: --batch-bytes makes them smaller, and `-- --maxmemory-clients 0`
lifts that limit.

db_bench writes in its own process, without a socket, and no record of it is read again; the one of
Debian is built with assertions. It draws keys from 2^40, and tells its progress once a second: its
`after` says nothing of a run that is shorter. Flags of isotherm serve, for both of its
sides, may follow after --, as `-- --threads 2`.
"""
import argparse
import mmap
import os
import pathlib
import random
import re
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import load  # noqa: E402
import rocksdb  # noqa: E402
import saved  # noqa: E402
import servers  # noqa: E402
import stores  # noqa: E402
import tree  # noqa: E402
from servers import MIB, Lacking, Trouble  # noqa: E402

UNITS = {'': 1, 'k': 10**3, 'kb': 2**10, 'm': 10**6, 'mb': 2**20, 'g': 10**9, 'gb': 2**30}
FIGURES = (  # of a row: name, what is printed, form
    ('seconds', 'seconds', '.2f'), ('mb_s', 'MB/s', ',.1f'),
    ('mb_s_after', 'MB/s after the target', ',.1f'),
    ('disk_mb_s', "MB/s, the disk's own", ',.0f'),
    ('over_half_disk', 'over half of the disk', '.3f'),
    ('after_over_half_disk', 'the same, after the target', '.3f'),
    ('p50_ms', 'p50 of a batch, ms', '.2f'), ('p99_ms', 'p99, ms', '.2f'),
    ('p999_ms', 'p99.9, ms', '.2f'), ('max_ms', 'max, ms', ',.1f'),
    ('refused', 'refused requests', ',.0f'), ('dropped', 'dropped records', ',.0f'),
    ('unreadable', 'unreadable of a sample', '.2%'),
    ('dram_max', 'DRAM over the target, max', '.2f'),
    ('dram_last', 'the same, in the end', '.2f'),
    ('processor_seconds', "the store's processor seconds", '.2f'),
    ('client_seconds', "the client's", '.2f'),
    ('disk_written', 'bytes written to disks over those taken', '.3f'),
    ('cold_written', "COLD's bytes written over those taken", '.3f'))


def size(text):
    """Bytes, of a size as Redis writes it."""
    found = re.fullmatch(r'(\d+)([kmg]?b?)', text.lower())
    if not found or found[2] not in UNITS:
        raise argparse.ArgumentTypeError(f'{text} is no size, as 60mb is')
    return int(found[1]) * UNITS[found[2]]


def value_size(text):
    if text != 'mix' and (not text.isdecimal() or int(text) not in load.SIZES):
        raise argparse.ArgumentTypeError(
            f'{text} is none of {", ".join(map(str, load.SIZES))}, mix')
    return text if text == 'mix' else int(text)


def sides(text):
    for word in text.split(','):
        if word not in stores.PROGRAMS:
            raise argparse.ArgumentTypeError(f'{word} is none of {", ".join(stores.PROGRAMS)}')
    return text.split(',')


def directory(text):
    """An absolute path: redis-server changes its own directory."""
    if not os.path.isdir(text):
        raise argparse.ArgumentTypeError(f'{text} is no directory')
    return pathlib.Path(text).resolve()


def disk_rate(folder, count):
    """MB/s at which `count` bytes go to a new file, 1 MiB at a time past the page cache."""
    path = folder / 'written'
    with mmap.mmap(-1, MIB) as block:
        block.write(random.randbytes(MIB))
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600)
        except OSError as error:
            raise Lacking(f'{folder}: no writes past the page cache: {error.strerror}') from None
        try:
            start = time.perf_counter()
            for _ in range(max(1, count // MIB)):
                if os.write(handle, block) != MIB:
                    raise Trouble(f'{folder}: the disk is full')
            os.fdatasync(handle)
            return max(1, count // MIB) * MIB / (time.perf_counter() - start) / 1e6
        finally:
            os.close(handle)
            path.unlink()


def fill_server(side, options, folder, work, clients):
    """Fills a server; returns the findings of the fill, and fields of a row about the fill and the
    server."""
    with stores.serving(side, options, folder, options.target, work.bytes) as server:
        watch = stores.Watch(server.process)
        protocol = load.MEMCACHED if side == 'extstore' else load.RESP
        try:
            filled = load.fill(work, protocol, folder / 'socket', clients, options.target,
                               watch.sample)
        except Trouble as trouble:
            raise Trouble(' / '.join([str(trouble), *server.said[-2:]])) from None
        found = {name: filled.percentile(share) for name, share in (
            ('p50_ms', 50), ('p99_ms', 99), ('p999_ms', 99.9), ('max_ms', 100))}
        found |= watch.found(options.target)
        found |= {'client_seconds': filled.client_seconds, 'refusals': dict(filled.refusals),
                  **stores.held(side, server, folder, work, filled)}
        if side == 'isotherm':
            found |= stores.told(server)
        return filled, found


def fill_rocksdb(options, folder, work, clients):
    filled, found, watch = rocksdb.fill(folder, options.target, work.sizes[0], work.records,
                                        clients, work.batch, stores.Watch)
    return filled, found | watch.found(options.target)


def rates(filled, disk):
    """In MB/s."""
    whole = filled.bytes / filled.seconds / 1e6
    after = None
    if filled.crossed and filled.seconds > filled.crossed[0]:
        seconds, count = filled.crossed
        after = (filled.bytes - count) / (filled.seconds - seconds) / 1e6
    return {'seconds': filled.seconds, 'mb_s': whole, 'mb_s_after': after, 'disk_mb_s': disk,
            'over_half_disk': whole / (disk / 2),
            'after_over_half_disk': None if after is None else after / (disk / 2)}


def shares(found, taken):
    """Returns the bytes written to the disk and to COLD, each over the bytes that the store took;
    None: no such figure."""
    written = {name: found.get(f'{name}_bytes') for name in ('disk_written', 'cold_written')}
    return {name: None if count is None or not taken else count / taken
            for name, count in written.items()}


def turn(side, options, setting, work, round_number):
    """The row of one side's turn."""
    with tempfile.TemporaryDirectory(prefix='isotherm-filling-', dir=options.directory) as name:
        folder = pathlib.Path(name)
        disk = disk_rate(folder, options.disk_bytes)
        if side == 'rocksdb':
            filled, found = fill_rocksdb(options, folder, work, setting['clients'])
        else:
            filled, found = fill_server(side, options, folder, work, setting['clients'])
    row = {'side': side, 'round': round_number, **setting, 'records': work.records,
           'times': setting['times'] or round(work.bytes / options.target, 1),
           'batch': work.batch, 'seed': work.seed, 'flags': options.flags,
           'taken_bytes': filled.bytes, **rates(filled, disk), **found,
           **shares(found, filled.bytes), 'refused': sum(filled.refusals.values())}
    saved.append(options.save, 'filling', **row)
    return row


def cell(rows, name, form):
    """Median and range."""
    values = [row[name] for row in rows if row.get(name) is not None]
    if not values:
        return '-'
    middle, least, most = (f'{value:{form}}' for value in (
        statistics.median(values), min(values), max(values)))
    return middle if least == most else f'{middle} ({least} .. {most})'


def report(found):
    """A row a figure, and a column a side."""
    lines = [['', *found], ['rounds', *(str(len(rows)) for rows in found.values())]]
    lines += [[title, *(cell(rows, name, form) for rows in found.values())]
              for name, title, form in FIGURES]
    lines = [line for line in lines if any(text != '-' for text in line[1:])]
    widths = [max(map(len, column)) for column in zip(*lines)]
    for line in lines:
        print('  '.join(text.ljust(width) if not at else text.rjust(width)
                        for at, (text, width) in enumerate(zip(line, widths))), flush=True)
    for side, rows in found.items():
        for remark in dict.fromkeys(remark for row in rows for remark in (
                *row.get('refusals', {}), row.get('problem')) if remark):
            print(f'{side}: {remark}')


def measure(options, setting):
    """All turns of a setting. How many failed."""
    mean = load.mean_bytes(setting['value_size'])
    batch = max(1, min(options.batch, int(options.batch_bytes / mean)))
    records = options.records or int(setting['times'] * options.target / mean)
    chosen = []
    for side in options.sides:
        why = stores.lacks(side, records * mean, records, setting['value_size'])
        if why:
            print(f'filling: goes on without {side}: {why}', file=sys.stderr)
        else:
            chosen.append(side)
    print(f'\n{setting["target"]}, {records:,} records, values of {setting["value_size"]} bytes '
          f'({records * mean / options.target:.1f} times the target), {setting["clients"]} '
          f'clients, batches of {batch}', flush=True)
    found, failed = {}, 0
    for round_number in range(1, options.rounds + 1):
        work = load.Load(setting['value_size'], records, batch,
                         random.SystemRandom().randrange(1, 2**31))
        for side in chosen:
            try:
                row = turn(side, options, setting, work, round_number)
                found.setdefault(side, []).append(row)
            except Lacking:
                raise
            except Trouble as trouble:
                failed += 1
                print(f'filling: {side}, round {round_number}, seed {work.seed}: {trouble}',
                      file=sys.stderr)
    if found:
        report(found)
    return failed


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--tool', default=tree.TOOL)
    parser.add_argument('--sides', type=sides, default=list(stores.PROGRAMS),
                        help=f'some of {",".join(stores.PROGRAMS)}')
    parser.add_argument('--target', default='1gb', help='of DRAM')
    parser.add_argument('--times', type=float, nargs='+', default=[4.0],
                        help='bytes of the records over the target')
    parser.add_argument('--records', type=int, help='how many; --times is ignored')
    parser.add_argument('--value-size', type=value_size, nargs='+', default=[1024],
                        help='16, 100, 1024, 10240, 1048576 or mix')
    parser.add_argument('--clients', type=int, nargs='+', default=[1, 16])
    parser.add_argument('--batch', type=int, default=100, help='requests that are sent at once')
    parser.add_argument('--batch-bytes', type=size, default=4 * MIB,
                        help='upper limit of a batch')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--directory', type=directory, default='/var/tmp', help='on a disk')
    parser.add_argument('--disk-bytes', type=size, default=1 << 30,
                        help="written before each turn, for the disk's own rate")
    parser.add_argument('--save', help='append a JSON object a turn')
    parser.add_argument('flags', nargs='*', help='flags of isotherm serve, after --')
    options = parser.parse_args()
    options.target_text = options.target
    try:
        options.target = size(options.target)
    except argparse.ArgumentTypeError as error:
        parser.error(f'--target: {error}')
    if min(*options.clients, *options.times, options.batch, options.rounds, options.target) <= 0:
        parser.error('--clients, --times, --batch, --rounds and --target take positive numbers')
    return options


def main():
    options = parse_arguments()
    servers.check_tool(options.tool)
    print(f'{saved.here()}; flags: {" ".join(options.flags) or "none"}')
    failed = 0
    for value in options.value_size:
        for clients in options.clients:
            for times in [None] if options.records else options.times:
                failed += measure(options, {'target': options.target_text, 'times': times,
                                            'value_size': value, 'clients': clients})
    if failed:
        raise Trouble(f'{failed} turns failed')


if __name__ == '__main__':
    servers.run_main('filling', main)
