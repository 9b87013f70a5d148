"""The stores that are filled: how each is started, and what it holds in the end."""
import contextlib
import random
import shutil
import socket
import time

import servers
from servers import MIB, Trouble

PROGRAMS = {'isotherm': None, 'unmanaged': None, 'redis': 'redis-server', 'extstore': 'memcached',
            'rocksdb': 'db_bench'}  # by side; those of isotherm are built here
IN_DRAM = ('unmanaged', 'redis')
RECORD_OVERHEAD = 150  # bytes of DRAM that a record takes beside its key and value, about
CHECKED_RECORDS, CHECKED_BYTES = 1000, 64 * MIB
EXTSTORE_SPARE = 1 << 30  # bytes of its file beyond twice the records
SETTLED_SECONDS = 1
MOST_MEMCACHED_ITEM = '2m'  # its default is too small for 1 MiB


class Watch:
    """Samples the DRAM of a process, its processor time and the bytes that it wrote to disks."""

    def __init__(self, process):
        self.process = process
        self.dram_max = self.dram_last = self.disk_written = 0
        _, self.processor_before = servers.spent(process)
        self.processor = self.processor_before

    def sample(self):
        with contextlib.suppress(OSError, IndexError):  # the process may end at any moment
            resident = servers.resident_bytes(self.process)
            if resident:
                self.dram_last = resident
                self.dram_max = max(self.dram_max, resident)
            _, self.processor = servers.spent(self.process)
            with open(f'/proc/{self.process.pid}/io', encoding='utf-8') as file:
                facts = dict(line.strip().split(': ') for line in file)
            self.disk_written = int(facts['write_bytes'])

    def found(self, target):
        return {'dram_max': self.dram_max / target, 'dram_last': self.dram_last / target,
                'processor_seconds': self.processor - self.processor_before,
                'disk_written_bytes': self.disk_written}


def lacks(side, load_bytes, records, value_size):
    """Why the side cannot be run here, or None."""
    program = PROGRAMS[side]
    if program and not shutil.which(program):
        return f'{program} is not installed'
    if side == 'rocksdb' and value_size == 'mix':
        return 'db_bench has no values of these mixed sizes'
    needed = load_bytes + records * RECORD_OVERHEAD
    if side in IN_DRAM and needed > available_bytes():
        return (f'it would hold {needed / 2**30:.1f} GiB in DRAM, and '
                f'{available_bytes() / 2**30:.1f} GiB are available')
    return None


def available_bytes():
    with open('/proc/meminfo', encoding='utf-8') as file:
        facts = dict(line.split(':') for line in file)
    return int(facts['MemAvailable'].split()[0]) * 1024


def serving(side, options, folder, target, load_bytes):
    """The server of a side, with COLD or values in a file of `folder`."""
    kind = servers.Server
    if side == 'redis':
        words = servers.redis_command(folder)
    elif side == 'extstore':
        kind = servers.Memcached
        words = servers.extstore_command(folder, target, 2 * load_bytes + EXTSTORE_SPARE,
                                         '-I', MOST_MEMCACHED_ITEM)
    elif side == 'unmanaged':
        words = servers.isotherm_command(folder, options.tool, ['--manage', 'off', *options.flags])
    else:
        words = servers.isotherm_command(folder, options.tool, [
            '--memory-target', target, '--cold-backing', f'file:{folder}', *options.flags])
    return servers.serving(words, folder / 'socket', kind=kind)


class Text:
    """memcached's protocol, one request at a time."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(servers.PATIENCE)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile('rb')

    def close(self):
        self.lines.close()
        self.socket.close()

    def get(self, key):
        self.socket.sendall(b'get %b\r\n' % key)
        words = self.lines.readline().split()
        if words == [b'END']:
            return None
        if len(words) != 4:
            raise Trouble(f'memcached answered {b" ".join(words)[:80]} to a get')
        value = self.lines.read(int(words[3]))
        self.lines.readline()
        self.lines.readline()
        return value

    def dbsize(self):
        """Returns how many items are there once none has been dropped for a second: memcached
        goes on to drop items after a load."""
        last, now = None, self.items()
        while now != last:
            time.sleep(SETTLED_SECONDS)
            last, now = now, self.items()
        return now

    def items(self):
        """Returns the number of items, without those whose values have left the file."""
        self.socket.sendall(b'stats\r\n')
        facts = {}
        while (words := self.lines.readline().split()) and words[0] == b'STAT':
            facts[words[1]] = words[2]
        return int(facts[b'curr_items']) - int(facts.get(b'extstore_objects_evicted', 0))


def held(side, server, folder, work, filled):
    """Returns how many of the records that the store took it does not count any more, and, of a
    sample of these records that is read, the share that is not there. Values are compared."""
    with contextlib.closing(Text(folder / 'socket') if side == 'extstore' else server.client
                            ) as client:
        dropped = filled.records - client.dbsize()
        mean = max(1, filled.bytes // max(1, filled.records))
        wanted = max(1, min(CHECKED_RECORDS, work.records, CHECKED_BYTES // mean))
        drawn = [number for number in random.Random(work.seed).sample(range(work.records), wanted)
                 if not filled.refused[number]]
        missing = 0
        for number in drawn:
            value = client.get(work.key(number))
            missing += value is None
            if value is not None and value != work.value(number):
                raise Trouble(f'{side} holds a wrong value of record {number}')
        return {'dropped': dropped, 'unreadable': missing / max(1, len(drawn))}


def told(server):
    """Figures that only isotherm serve has."""
    stats = server.stats()
    written = stats.get('cold_written_bytes')
    problem = stats.get('problem', b'')
    return {'cold_written_bytes': None if written is None else int(written),
            'problem': problem.decode() if isinstance(problem, bytes) else str(problem)}
