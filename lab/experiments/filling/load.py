"""A client that fills a store: batches of requests made beforehand, sent over Unix sockets.

Only the keys of a batch are new: they are written into a request of which all else stands there. So
the client sends more than a store takes in.
"""
import array
import collections
import dataclasses
import math
import random
import select
import socket
import time

import numpy
from servers import MIB, PATIENCE, Trouble

KEY_BYTES = 16
SIZES = (16, 100, 1024, 10240, MIB)
# How many of 1,000 records have each size, in `mix`: 2.3 KB on average.
MIX = {16: 400, 100: 300, 1024: 200, 10240: 99, MIB: 1}
SAMPLE_SECONDS = 0.1
RECEIVED_AT_ONCE = 1 << 16
KEYS_AT_ONCE = 1 << 20
LONGEST_REFUSAL = 200
PLACE_STEP = 61  # bytes between the values of two places of a period


@dataclasses.dataclass(frozen=True)
class Protocol:
    """A request that sets a key: `before` KEY `between` VALUE \\r\\n, where `between` has a place
    for the length. Each reply is a line."""
    before: bytes
    between: bytes
    good: bytes

    def request(self, value):
        return b'%b%b%b%b\r\n' % (self.before, bytes(KEY_BYTES), self.between % len(value), value)


RESP = Protocol(b'*3\r\n$3\r\nSET\r\n$%d\r\n' % KEY_BYTES, b'\r\n$%d\r\n', b'+OK\r\n')
MEMCACHED = Protocol(b'set ', b' 0 0 %d\r\n', b'STORED\r\n')


def sizes_of_mix():
    sizes = [size for size, count in MIX.items() for _ in range(count)]
    random.Random(1).shuffle(sizes)
    return sizes


def mean_bytes(value_size):
    """Returns the mean size of a record, its key included."""
    sizes = sizes_of_mix() if value_size == 'mix' else [value_size]
    return KEY_BYTES + sum(sizes) / len(sizes)


def hex_keys(count, seed):
    """`count` different keys of 16 hexadecimal digits in random order: a bijection of 64-bit
    numbers (the end of splitmix64), of a number and its successors."""
    digits = numpy.frombuffer(b'0123456789abcdef', numpy.uint8)
    keys = numpy.empty((count, KEY_BYTES), numpy.uint8)
    for start in range(0, count, KEYS_AT_ONCE):
        mixed = numpy.arange(start, min(start + KEYS_AT_ONCE, count), dtype=numpy.uint64)
        mixed += numpy.uint64(seed << 32)
        for shift, factor in ((30, 0xbf58476d1ce4e5b9), (27, 0x94d049bb133111eb)):
            mixed ^= mixed >> numpy.uint64(shift)
            mixed *= numpy.uint64(factor)
        mixed ^= mixed >> numpy.uint64(31)
        octets = mixed.view(numpy.uint8).reshape(-1, 8)
        keys[start:start + len(mixed), 0::2] = digits[octets >> 4]
        keys[start:start + len(mixed), 1::2] = digits[octets & 15]
    return keys


class Load:
    """`records` new records, rounded up to whole batches. Their values' sizes and contents repeat
    after a period of batches, and their keys never do."""

    def __init__(self, value_size, records, batch, seed):
        base = sizes_of_mix() if value_size == 'mix' else [value_size]
        self.batch = batch
        self.batches = max(1, -(-records // batch))
        self.records = self.batches * batch
        self.sizes = base * (math.lcm(len(base), batch) // len(base))
        self.seed = seed
        self.pool = random.Random(seed).randbytes(max(base) + PLACE_STEP * len(self.sizes))
        self.keys = hex_keys(self.records, seed)

    @property
    def bytes(self):
        """The size of all records, keys included, from the mean size rounded down to a byte."""
        return self.records * (KEY_BYTES + sum(self.sizes) // len(self.sizes))

    @property
    def period(self):
        """In batches."""
        return len(self.sizes) // self.batch

    def value(self, number):
        place = number % len(self.sizes)
        return self.pool[PLACE_STEP * place:][:self.sizes[place]]

    def key(self, number):
        return self.keys[number].tobytes()

    def sizes_of(self, batch):
        """The bytes of the records of a batch, keys included."""
        start = batch % self.period * self.batch
        return [KEY_BYTES + size for size in self.sizes[start:start + self.batch]]

    def templates(self, protocol):
        """For each batch of a period its requests, without keys, and the keys' places."""
        made = []
        for start in range(0, len(self.sizes), self.batch):
            requests = [protocol.request(self.value(start + i)) for i in range(self.batch)]
            starts = numpy.cumsum([0, *map(len, requests[:-1])]) + len(protocol.before)
            made.append((b''.join(requests), starts[:, None] + numpy.arange(KEY_BYTES)))
        return made


@dataclasses.dataclass
class Filled:
    """The findings of a fill."""
    records: int = 0
    bytes: int = 0            # of the records that were taken, keys included
    seconds: float = 0
    client_seconds: float = 0  # of a processor
    crossed: tuple = ()       # seconds and bytes when there were more bytes than the target
    latencies: array.array = dataclasses.field(default_factory=lambda: array.array('d'))
    refused: bytearray = b''  # by a record's number
    refusals: collections.Counter = dataclasses.field(default_factory=collections.Counter)

    def percentile(self, share):
        """Returns the percentile `share` of the batches' latencies, in milliseconds."""
        return float(numpy.percentile(self.latencies, share)) * 1000


class Connection:
    """One client: a batch is under way, or none."""

    def __init__(self, address, load, protocol, templates):
        self.load, self.good = load, protocol.good * load.batch
        self.requests = [(bytearray(text), places) for text, places in templates]
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(str(address))
        self.socket.setblocking(False)
        self.unsent = memoryview(b'')

    def begin(self, number):
        self.number = number
        text, places = self.requests[number % len(self.requests)]
        first = number * self.load.batch
        numpy.frombuffer(text, numpy.uint8)[places] = self.load.keys[first:first +
                                                                     self.load.batch]
        self.unsent = memoryview(text)
        self.reply, self.lines = b'', 0
        self.began = time.perf_counter()
        self.send()

    def send(self):
        """Sends as much as the server takes now."""
        try:
            while self.unsent:
                self.unsent = self.unsent[self.socket.send(self.unsent):]
        except BlockingIOError:
            pass
        except OSError as error:
            raise Trouble(f'the server closed a connection: {error.strerror}') from None

    def receive(self):
        """Returns whether all replies to the batch are there."""
        try:
            more = self.socket.recv(RECEIVED_AT_ONCE)
        except BlockingIOError:
            return False
        except OSError as error:
            raise Trouble(f'the server closed a connection: {error.strerror}') from None
        if not more:
            raise Trouble('the server closed a connection')
        self.reply += more
        self.lines += more.count(b'\n')
        if self.lines > self.load.batch:
            raise Trouble(f'the server said more than was asked: {self.reply[-80:]}')
        return self.lines == self.load.batch

    def add_to(self, filled):
        """Adds the finished batch to what was found out."""
        filled.latencies.append(time.perf_counter() - self.began)
        sizes = self.load.sizes_of(self.number)
        filled.records += len(sizes)
        filled.bytes += sum(sizes)
        if self.reply == self.good:
            return
        good = self.good[:len(self.good) // self.load.batch].strip()
        for place, line in enumerate(self.reply.split(b'\r\n')[:-1]):
            if line != good:
                filled.records -= 1
                filled.bytes -= sizes[place]
                filled.refused[self.number * self.load.batch + place] = True
                filled.refusals[line.decode('latin-1')[:LONGEST_REFUSAL]] += 1


def fill(load, protocol, address, clients, target, sample):
    """Sends all records, a batch of each client under way at a time, and calls `sample` every
    100 ms. `target` is in bytes."""
    templates = load.templates(protocol)
    connections = {}
    poll = select.epoll()
    try:
        for _ in range(clients):
            made = Connection(address, load, protocol, templates)
            connections[made.socket.fileno()] = made
            poll.register(made.socket, select.EPOLLIN)
        return drive(load, connections, poll, target, sample)
    finally:
        poll.close()
        for connection in connections.values():
            connection.socket.close()


def drive(load, connections, poll, target, sample):
    filled = Filled(refused=bytearray(load.records))
    unsent = iter(range(load.batches))
    open_batches = 0
    processor = time.process_time()
    start = due = heard = time.perf_counter()
    for handle, connection in connections.items():
        open_batches += start_batch(poll, handle, connection, unsent)
    while open_batches:
        for handle, event in poll.poll(max(0, due - time.perf_counter())):
            heard = time.perf_counter()
            connection = connections[handle]
            if event & select.EPOLLOUT:
                connection.send()
                if not connection.unsent:
                    poll.modify(handle, select.EPOLLIN)
            if event & ~select.EPOLLOUT and connection.receive():
                connection.add_to(filled)
                if not filled.crossed and filled.bytes > target:
                    filled.crossed = (time.perf_counter() - start, filled.bytes)
                open_batches += start_batch(poll, handle, connection, unsent) - 1
        now = time.perf_counter()
        if now >= due:
            due = now + SAMPLE_SECONDS
            sample()
        if now - heard > PATIENCE:
            raise Trouble(f'the server has not answered for {PATIENCE} seconds')
    filled.seconds = time.perf_counter() - start
    filled.client_seconds = time.process_time() - processor
    sample()
    return filled


def start_batch(poll, handle, connection, unsent):
    """Starts the connection's next batch, and returns the number of batches that it started."""
    number = next(unsent, None)
    if number is None:
        return 0
    connection.begin(number)
    if connection.unsent:
        poll.modify(handle, select.EPOLLIN | select.EPOLLOUT)
    return 1
