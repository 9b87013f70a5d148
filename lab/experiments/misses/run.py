#!/usr/bin/python3
"""Reads of records that have left DRAM: what others feel of them, on disks of several speeds.

    lab/experiments/misses/run.py hotkey --depth 50 --save misses.jsonl -- FLAGS
    lab/experiments/misses/run.py slow --reads-ms 0,1,5,20 --save misses.jsonl
    lab/experiments/misses/run.py slow --emulated --reads-ms 0,1,5,20 --save misses.jsonl
    lab/experiments/misses/run.py sizes --save misses.jsonl
    lab/experiments/misses/run.py scan --save misses.jsonl
    lab/experiments/misses/run.py busy --records 1500000 --value 400 --save misses.jsonl
    lab/experiments/misses/run.py table misses.jsonl

Each starts isotherm serve, loads records, and sets a memory target of a share of what they take.
FLAGS are the server's. `hotkey`: one client reads one key in a closed loop, alone, beside a second
one that reads records of DRAM as fast as it can, and beside one that reads cold records so: the
second tells what of the third is the processors' part. `slow`: the same, and Zipfian reads of all
records, while a control group lets the server read the disk so seldom that a read takes so many
milliseconds (0: as it is); with --emulated each read of an emulated disk takes so long, however
many are under way. Of the Zipfian reads those of the most popular keys are hits for sure; of the
others those count as misses that took longer than half a read of the slowed disk, or than 99 of 100
hits where it is not slowed. Needs root. `sizes`: throughput of YCSB C under the target
over that without one, for values of several sizes. `scan`: how many Zipfian reads miss before and
after a time in which, beside the same load, another client has read as many records as there are:
each once, in order, or at random. `busy`: of two event loops one runs KEYS just after it was asked
for cold records; how long does a client of the other wait for the same ones? Each appends one JSON
object a measurement; `table` prints Markdown.
"""
import argparse
import collections
import contextlib
import itertools
import json
import multiprocessing
import os
import pathlib
import random
import socket
import statistics
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import disks  # noqa: E402
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402
from servers import MIB, Trouble  # noqa: E402

SETTLES_WITHIN = 300  # seconds, for DRAM to come under its target
HOT_KEYS = 64  # the most popular ones, which nobody doubts to be in DRAM
AT_ONCE = 500  # records of one piece of the load
SHARES = ('p50', 'p99', 'p999')
PAUSE = 0.5  # seconds between two measurements


def key(i):
    return b'key:%012d' % i


def get(i):
    return b'*2\r\n$3\r\nGET\r\n$16\r\n' + key(i) + b'\r\n'


class Reader:
    """A connection on which records are read, whose replies all have one length."""

    def __init__(self, path, value_size):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(servers.PATIENCE)
        self.socket.connect(str(path))
        self.begin = b'$%d\r\n' % value_size
        self.buffer = bytearray(len(self.begin) + value_size + 2)

    def read(self, keys):
        """Pipelined."""
        self.ask(keys)
        self.receive(len(keys))

    def ask(self, keys):
        self.socket.sendall(b''.join(map(get, keys)))

    def receive(self, count):
        for _ in range(count):
            got = 0
            while got < len(self.buffer):
                with memoryview(self.buffer) as view:
                    more = self.socket.recv_into(view[got:])
                if more == 0 or not self.buffer.startswith(self.begin[:got + more]):
                    raise Trouble(f'a read failed: {bytes(self.buffer[:got + more][:80])}')
                got += more


def shares_of(latencies):
    """In microseconds."""
    found = sorted(latencies)
    at = {'p50': 0.5, 'p99': 0.99, 'p999': 0.999}
    return {name: round(found[min(len(found) - 1, int(share * len(found)))] * 1e6, 1)
            for name, share in at.items()} if found else None


def read_one(path, options, until, _):
    """Reads one key in a closed loop; returns the latencies."""
    reader, found = Reader(path, options.value), []
    while (began := time.monotonic()) < until or not found:
        reader.read([0])
        found.append(time.monotonic() - began)
    return found


def timed_reads(path, options, batches):
    """Latencies, each of all of a batch's keys together."""
    reader, found = Reader(path, options.value), []
    for keys in batches:
        began = time.monotonic()
        reader.read(keys)
        found.append(time.monotonic() - began)
    return found


def some_of(chosen, count):
    return [random.randrange(*chosen) for _ in range(count)]


def read_many(path, options, until, chosen):
    """Reads random keys of a range as fast as it can, `depth` at once; returns the latencies."""
    def batches():
        yield some_of(chosen, options.depth)
        while time.monotonic() < until:
            yield some_of(chosen, options.depth)
    return timed_reads(path, options, batches())


def read_each(path, options, _, whole):
    """Reads each key of a range once, in order; returns the latencies."""
    return timed_reads(path, options, (range(first, min(first + options.depth, whole[1]))
                                       for first in range(*whole, options.depth)))


def read_so_many(path, options, _, whole):
    """Reads as many keys as a range has, at random; returns the latencies."""
    return timed_reads(path, options, (some_of(whole, options.depth)
                                       for _ in range(*whole, options.depth)))


def read_zipfian(path, options, until, weights):
    """Latencies of the most popular keys, and of the others: of one each at least."""
    reader, hot, others = Reader(path, options.value), [], []
    while time.monotonic() < until or not hot or not others:
        for i in random.choices(range(options.records), cum_weights=weights, k=100):
            began = time.monotonic()
            reader.read([i])
            (hot if i < HOT_KEYS else others).append(time.monotonic() - began)
    return hot, others


def start_client(work, path, options, *more):
    """A process of its own; the pipe gives what it has found."""
    def run():
        # The time begins here: on a busy machine a process may start late.
        until = time.monotonic() + options.seconds
        try:
            mine.send(work(path, options, until, *more))
        except (Trouble, OSError) as trouble:
            mine.send(Trouble(str(trouble)))
    ours, mine = multiprocessing.Pipe()
    process = multiprocessing.get_context('fork').Process(target=run)
    process.start()
    return process, ours


def start_zipfian(path, options):
    # The weights take long to make: all clients get the same.
    weights = list(itertools.accumulate(1 / (i + 1)**0.99 for i in range(options.records)))
    return [start_client(read_zipfian, path, options, weights) for _ in range(options.connections)]


def results(clients):
    found = []
    for process, pipe in clients:
        found.append(pipe.recv())
        process.join()
    for each in found:
        if isinstance(each, Trouble):
            raise each
    return found


class Store:
    """A server with records, most of them out of DRAM."""

    def __init__(self, options, server, path):
        self.options, self.server, self.path = options, server, path

    def dram(self):
        return int(self.server.stats()['dram_bytes'])

    def load(self):
        """Returns the bytes that the records take."""
        before = self.dram()
        for first in range(0, self.options.records, AT_ONCE):
            with self.server.client.pipeline(transaction=False) as some:
                for i in range(first, min(first + AT_ONCE, self.options.records)):
                    some.set(key(i), os.urandom((self.options.value + 1) // 2).hex()
                             [:self.options.value])
                some.execute()
        return self.dram() - before

    def keep(self, share, taken):
        """Holds DRAM to that share of what the records have taken, and waits until it is so."""
        base = self.dram() - taken
        target = base + taken * share // 100
        self.server.client.execute_command('ISOTHERM', 'CONFIG', 'SET', 'memory-target', target)
        patience = time.monotonic() + SETTLES_WITHIN
        reader = Reader(self.path, self.options.value)
        while self.dram() > target * 1.02:
            if time.monotonic() > patience:
                raise Trouble(f'DRAM stays at {self.dram() / MIB:.0f} MiB, over the target of '
                              f'{target / MIB:.0f} MiB')
            for _ in range(100):  # these stay
                reader.read(range(HOT_KEYS))
            time.sleep(PAUSE)
        return target


@contextlib.contextmanager
def stores(options, group=None, threads=1):
    with tempfile.TemporaryDirectory(prefix='isotherm-misses-', dir=options.dir) as name:
        folder = pathlib.Path(name)
        flags = ['--threads', threads, '--expected-keys', options.records, '--window', 1,
                 '--cold-backing', f'file:{folder}', '--hint', 'pageout', *options.flags]
        words = servers.isotherm_command(folder, options.tool, flags)
        with servers.serving(words, folder / 'socket', group) as server:
            yield Store(options, server, folder / 'socket')


def save(options, **row):
    row.update(records=options.records, value=options.value, share=options.share)
    saved.append(options.save, **row)
    rest = '  '.join(f'{name} {row["latency_us"][name]:,.0f}' for name in SHARES
                     if row.get('latency_us'))
    print(f'{row["experiment"]:8} {row["beside"]:12} {row.get("read_ms", 0):>3} ms a read  {rest}  '
          f'{row.get("note", "")}', flush=True)


def others_of(options):
    """Maps the client that reads beside the one of the hot key to the range of its keys."""
    return {'nobody': None, 'warm reads': (1, HOT_KEYS), 'cold reads': (HOT_KEYS, options.records)}


def measure_hot_key(options, store, round_number, read_ms):
    """Alone, beside a warm reader, beside a cold one, by turns."""
    for beside, chosen in others_of(options).items():
        before = store.server.stats()
        clients = [start_client(read_one, store.path, options, None)]
        if chosen:
            clients.append(start_client(read_many, store.path, options, chosen))
        latencies, *more = results(clients)
        after = store.server.stats()
        seen = {name: int(after[name]) - int(before[name])
                for name in ('cold_misses', 'cold_reads') if name in after}
        rate = round(len(more[0]) * options.depth / options.seconds) if more else 0
        common = dict(round=round_number, depth=options.depth, read_ms=read_ms, seen=seen,
                      emulated=options.emulated)
        save(options, experiment='hotkey', beside=beside, latency_us=shares_of(latencies),
             reads=len(latencies), others_per_second=rate, note=f'{rate:,}/s beside  {seen}',
             **common)
        if more:
            save(options, experiment='beside hotkey', beside=beside, latency_us=shares_of(more[0]),
                 reads=len(more[0]), note=f'of {options.depth} together', **common)
        time.sleep(PAUSE)


def measure_zipfian(options, store, round_number, read_ms):
    found = results(start_zipfian(store.path, options))
    hot = [each for some, _ in found for each in some]
    others = [each for _, some in found for each in some]
    bound = read_ms / 2000 if read_ms else shares_of(hot)['p99'] / 1e6
    missed = [each for each in others if each > bound]
    for kind, some in (('hits', hot), ('misses', missed)):
        save(options, experiment='zipfian', beside=kind, round=round_number, read_ms=read_ms,
             connections=options.connections, latency_us=shares_of(some), reads=len(some),
             emulated=options.emulated,
             of=len(hot) + len(others), note=f'{len(some):,} of {len(hot) + len(others):,} reads')


def hotkey(options):
    with stores(options) as store:
        store.keep(options.share, store.load())
        for round_number in range(1, options.rounds + 1):
            measure_hot_key(options, store, round_number, 0)


def slow(options):
    disk = (disks.Emulated(options.dir, options.tool) if options.emulated
            else disks.Throttled(options.dir))
    with contextlib.ExitStack() as stack:
        stack.callback(disk.close)
        options.dir = disk.place
        store = stack.enter_context(stores(options, disk.processes))
        store.keep(options.share, store.load())
        for round_number in range(1, options.rounds + 1):
            for read_ms in map(float, options.reads_ms.split(',')):
                disk.let_a_read_take(read_ms)
                measure_hot_key(options, store, round_number, read_ms)
                measure_zipfian(options, store, round_number, read_ms)


def zipfian_misses(options, store):
    """The share of Zipfian reads that miss, in percent."""
    before = int(store.server.stats()['cold_misses'])
    found = results(start_zipfian(store.path, options))
    missed = int(store.server.stats()['cold_misses']) - before
    return missed / sum(len(hot) + len(others) for hot, others in found) * 100


def scan(options):
    beside = {'nothing': None, 'each once': read_each, 'at random': read_so_many}
    whole = (0, options.records)
    with stores(options) as store:
        store.keep(options.share, store.load())
        settle = argparse.Namespace(**{**vars(options), 'seconds': options.settle})
        zipfian_misses(settle, store)
        for round_number, (name, work) in itertools.product(range(1, options.rounds + 1),
                                                            beside.items()):
            first = zipfian_misses(options, store)
            clients = start_zipfian(store.path, options)
            if work:
                clients.append(start_client(work, store.path, options, whole))
            found = results(clients)
            reads = found[-1] if work else []
            after = zipfian_misses(options, store)
            save(options, experiment='scan', beside=name, round=round_number, before=first,
                 after=after, latency_us=shares_of(reads), depth=options.depth,
                 note=f'missed before {first:.1f}%, after {after:.1f}%')


class KeysReader(Reader):
    """Looks through all keys, of which none is wanted."""

    def ask(self, _=None):
        self.socket.sendall(b'*2\r\n$4\r\nKEYS\r\n$4\r\nnone\r\n')

    def receive(self, _=None):
        if (got := self.socket.recv(4)) != b'*0\r\n':
            raise Trouble(f'KEYS failed: {got}')


def busy(options):
    with stores(options, threads=2) as store:
        store.keep(options.share, store.load())
        # Connections are given to the loops in turn.
        first, other = (Reader(store.path, options.value) for _ in range(2))
        beside_first = KeysReader(store.path, options.value)
        waited = {'KEYS': [], 'the other loop': []}
        for _ in range(options.rounds):
            keys = some_of((HOT_KEYS, options.records), options.depth)
            first.ask(keys)
            began = time.monotonic()
            beside_first.ask()
            time.sleep(0.003)  # it has begun
            asked = time.monotonic()
            other.read(keys)
            waited['the other loop'].append(time.monotonic() - asked)
            beside_first.receive()
            waited['KEYS'].append(time.monotonic() - began)
            first.receive(options.depth)
        for who, latencies in waited.items():
            save(options, experiment='busy', beside=who, read_ms=0, depth=options.depth,
                 latency_us=shares_of(latencies), reads=len(latencies))


def sizes(options):
    for round_number, value in itertools.product(range(1, options.rounds + 1),
                                                 map(int, options.values.split(','))):
        options.value = value
        options.records = max(1000, options.bytes * MIB // value)
        with stores(options) as store:
            def drive(seconds, *more, store=store):
                report = store.path.parent / 'report.json'
                report.unlink(missing_ok=True)
                errors = servers.drive([servers.driver_command(
                    options.tool, store.server, report,
                    ['--keys', options.records, '--value-size', options.value, '--workload', 'c',
                     '--threads', options.connections, '--seconds', seconds, *more])],
                    lambda: None, servers.PATIENCE)
                if errors:
                    raise Trouble(f'the driver failed: {errors[0]}')
                return json.loads(report.read_text())
            before = store.dram()
            drive(0.1, '--rate', 100)
            taken = store.dram() - before
            unlimited = drive(options.seconds, '--no-load')
            target = before + taken * options.share // 100
            store.server.client.execute_command('ISOTHERM', 'CONFIG', 'SET', 'memory-target',
                                                target)
            patience = time.monotonic() + SETTLES_WITHIN
            while store.dram() > target * 1.02 and time.monotonic() < patience:
                drive(options.seconds, '--no-load')
            drive(options.settle, '--no-load')
            held = drive(options.seconds, '--no-load')
            if unlimited['throughput_ops_s'] == 0:
                raise Trouble('no request was served: give more --seconds')
            ratio = held['throughput_ops_s'] / unlimited['throughput_ops_s']
            save(options, experiment='sizes', beside=f'{value} bytes', round=round_number,
                 throughput=held['throughput_ops_s'], unlimited=unlimited['throughput_ops_s'],
                 ratio=ratio,
                 latency_us=held['latency_us'], unlimited_us=unlimited['latency_us'],
                 dram=store.dram(), target=target, holds=store.dram() <= target * 1.02,
                 note=f'{ratio:.3f} of {unlimited["throughput_ops_s"]:,.0f}/s')


def print_table(columns, rows):
    print(f'\n| {" | ".join(columns)} |\n|{"---|" * len(columns)}')
    for row in rows:
        print(f'| {" | ".join(map(str, row))} |')


def table(options):
    groups = collections.defaultdict(list)
    for row in saved.rows(*options.files):
        kind = (row['experiment'], row['records'], row['value'], row['share'], row.get('depth'),
                row.get('emulated'))
        groups[kind].append(row)
        groups['machines', saved.words_of(row['origin'])] = []
    print('\n'.join(sorted(kind[1] for kind in groups if kind[0] == 'machines')))
    for kind, rows in groups.items():
        if kind[0] == 'sizes':
            print_table(['value', 'records', 'throughput under the target over unlimited',
                         'unlimited, a second'],
                        [[rows[0]['beside'], kind[1],
                          ycsb.spread([r['ratio'] for r in rows], '.3f'),
                          ycsb.median([r['unlimited'] for r in rows], ',.0f')]])
        elif kind[0] == 'scan':
            scan_table(rows)
        elif rows:
            latency_table(kind, rows)


def scan_table(rows):
    found = collections.defaultdict(list)
    for row in rows:
        found[row['beside']].append(row)
    print_table(['read between', 'Zipfian reads that miss before, %', 'after, %'],
                [[beside, *(ycsb.spread([r[when] for r in some], '.1f')
                            for when in ('before', 'after'))]
                 for beside, some in found.items()])


def latency_table(kind, rows):
    title = f'{kind[0]}: {kind[1]:,} records of {kind[2]} bytes, {kind[3]}% in DRAM'
    print(f'\n{title}{f", {kind[4]} reads at once beside" if kind[4] else ""}'
          f'{", an emulated disk" if kind[5] else ""}; microseconds')
    found = collections.defaultdict(list)
    for row in rows:
        if row['latency_us']:
            found[row['read_ms'], row['beside']].append(row)
    first = {read_ms: each for (read_ms, _), each in reversed(found.items())}
    print_table(['a read takes', 'kind', *SHARES, 'p99 over the first', 'reads'],
                [[f'{read_ms:g} ms' if read_ms else 'as it does', beside,
                  *(ycsb.spread([r['latency_us'][name] for r in some], ',.0f') for name in SHARES),
                  f'{p99_of(some) / p99_of(first[read_ms]):.2f}',
                  sum(r['reads'] for r in some)]
                 for (read_ms, beside), some in found.items()])


def p99_of(rows):
    return statistics.median(r['latency_us']['p99'] for r in rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    for name, work in (('hotkey', hotkey), ('slow', slow), ('sizes', sizes), ('scan', scan),
                       ('busy', busy)):
        command = commands.add_parser(name)
        command.set_defaults(work=work)
        command.add_argument('--share', type=int, default=35, help='percent of the records in DRAM')
        command.add_argument('--rounds', type=int, default=3)
        command.add_argument('--seconds', type=float, default=5, help='of each measurement')
        command.add_argument('--dir', default='/var/tmp', help='where COLD lies')
        command.add_argument('--tool', default=tree.TOOL)
        command.add_argument('--save', help='append a JSON object for each measurement')
        command.add_argument('flags', nargs='*', help='of isotherm serve, after --')
        command.set_defaults(emulated=False)
        if name not in ('hotkey', 'busy'):
            command.add_argument('--connections', type=int, default=4)
        if name == 'sizes':
            command.add_argument('--values', default='100,1024,10240')
            command.add_argument('--bytes', type=int, default=512, help='MiB of values')
            command.add_argument('--settle', type=float, default=10, help='seconds')
            continue
        if name == 'scan':
            command.add_argument('--settle', type=float, default=60, help='seconds')
        command.add_argument('--records', type=int, default=200_000)
        command.add_argument('--value', type=int, default=1024, help='bytes')
        command.add_argument('--depth', type=int, default=1, help='reads at once, of the other')
        if name == 'slow':
            command.add_argument('--reads-ms', default='0,1,5,20')
            command.add_argument('--emulated', action='store_true',
                                 help='the disk, on a file of --dir')
    saved.add_readers(commands, table=table)
    options = parser.parse_args()
    if options.work is not table:
        servers.check_tool(options.tool)
        print(saved.here(), flush=True)
    options.work(options)


if __name__ == '__main__':
    servers.run_main('misses', main)
