"""isotherm serve beside a disk that does not give cold records back: the cold file is cut.

    serve_disk_test.py ISOTHERM INDEX
"""

import os
import random
import sys
import tempfile
import unittest

from serve_process import Raw, info, open_files, start_ours

ISOTHERM = sys.argv[1]
INDEX = sys.argv[2]

KEYS, MIB = 4000, 1 << 20


def key(i):
    return f'key:{i}'


def value(i):
    return (b'%d-' % i) * 500


def answer(i):
    return b'$%d\r\n%s\r\n' % (len(value(i)), value(i))


class Disk(unittest.TestCase):
    def start(self, *flags):
        self.directory = tempfile.TemporaryDirectory(dir='/var/tmp', prefix='isotherm-e2e-')
        self.addCleanup(self.directory.cleanup)
        self.server = start_ours(ISOTHERM, INDEX, '--window', '3600',
                                 '--policy', 'published', '--cold-threshold', '1',
                                 '--hint', 'pageout',
                                 '--cold-backing', f'file:{self.directory.name}', *flags)
        self.addCleanup(self.server.stop)
        self.client = Raw(self.server.path)
        self.addCleanup(self.client.close)
        for i in range(KEYS):
            self.assertEqual(self.client.ask('SET', key(i), value(i)), b'+OK\r\n')
        self.assertEqual(self.client.ask('SET', 'due', 'x' * 1000, 'PX', '3600000'), b'+OK\r\n')
        while self.in_cold() < KEYS or self.unwritten() > 4 * MIB:
            self.client.ask('ISOTHERM', 'COLLECT')

    def in_cold(self):
        """Values that are in COLD; keys, which lie there as well, not counted."""
        words = self.client.ask('ISOTHERM', 'HEAPS').split(b'\r\n')
        cold = words[words.index(b'cold'):]
        return int(cold[cold.index(b'objects') + 1][1:]) - KEYS

    def unwritten(self):
        """Bytes of COLD that its file lacks: at least those of extents that are not full."""
        return int(info(self.client, 'isotherm')['cold_memory_bytes'])

    def cut(self, share):
        """Cuts the server's cold file to `share` of what COLD uses."""
        folder = f'/proc/{self.server.process.pid}/fd'
        name = next(os.path.join(folder, n) for n, path in open_files(self.server).items()
                    if path.startswith(self.directory.name))
        os.truncate(name, int(os.stat(name).st_blocks * 512 * share) // 4096 * 4096)

    def problem(self):
        return info(self.client, 'isotherm')['problem']

    def new_keys_find_their_places(self, readable):
        """Enough of them that nodes between keys that cannot be read split, and merge again."""
        written = [f'{key(i)}-{n}' for i in range(0, KEYS, 4) for n in range(8)]
        random.shuffle(written)
        kept = [k for k in written if self.client.ask('SET', k, k) == b'+OK\r\n']
        self.assertGreater(len(kept), len(written) / 4)
        for k in kept:
            self.assertEqual(self.client.ask('GET', k), b'$%d\r\n%s\r\n' % (len(k), k.encode()))
        for i in readable:
            self.assertEqual(self.client.ask('GET', key(i)), answer(i))
        for k in kept:
            if self.client.ask('DEL', k) == b':1\r\n':
                self.assertIn(self.client.ask('GET', k)[:5], (b'$-1\r\n', b'-IOER'))
        for i in readable:
            self.assertEqual(self.client.ask('GET', key(i)), answer(i))

    def test_reads_are_submitted_by_whom_the_operator_says(self):
        engines = []
        for flags in ([], ['--read-thread']):
            self.start(*flags)
            while int(info(self.client, 'isotherm')['cold_reads']) < KEYS / 4:
                self.client.ask('ISOTHERM', 'COLLECT')
                for first in range(0, KEYS, 100):
                    for i in range(first, first + 100):
                        self.client.send('GET', key(i))
                    for i in range(first, first + 100):
                        self.assertEqual(self.client.reply(), answer(i))
            engines.append(info(self.client, 'isotherm')['cold_read_engine'])
            status, said, _ = self.server.stop()
            self.assertEqual(status, 0, said)
        # Threads read in both runs if the system refuses io_uring.
        self.assertIn(engines, (['io_uring', 'io_uring, polled'], ['threads'] * 2))

    def test_a_command_is_lost_and_the_server_is_not(self):
        self.start()
        self.assertEqual(self.problem(), '')
        self.cut(0.5)
        # No reader ever sees anything but the value or an error, now or later.
        for _ in range(2):
            lost = set()
            for i in range(KEYS):
                got = self.client.ask('GET', key(i))
                if got.startswith(b'-IOERR'):
                    lost.add(i)
                else:
                    self.assertEqual(got, answer(i))
            self.assertTrue(KEYS / 4 < len(lost) < KEYS, len(lost))
        self.assertIn('cannot be read', self.problem())
        lost = sorted(lost)
        # Nothing is made of what could not be read.
        for command in (('APPEND', key(lost[0]), 'x'), ('STRLEN', key(lost[0])),
                        ('GETRANGE', key(lost[0]), '0', '5'), ('INCR', key(lost[0])),
                        ('RENAME', key(lost[0]), 'other'), ('COPY', key(lost[0]), 'other'),
                        ('MGET', key(lost[0]), 'due'), ('EXPIRE', key(lost[0]), '100')):
            self.assertIn(b'-IOERR', self.client.ask(*command)[:7], command)
        self.assertTrue(self.client.ask('GET', key(lost[0])).startswith(b'-IOERR'))
        self.assertEqual(self.client.ask('GET', 'other'), b'$-1\r\n')
        # Walks leave out keys that they cannot read.
        cursor, seen = b'0', 0
        while True:
            reply = self.client.ask('SCAN', cursor.decode(), 'COUNT', '100')
            self.assertTrue(reply.startswith(b'*2'), reply)
            words = reply.split(b'\r\n')
            cursor, seen = words[2], seen + int(words[3][1:])
            if cursor == b'0':
                break
        self.assertGreater(seen, 0)
        self.client.ask('RANDOMKEY')
        self.client.ask('ISOTHERM', 'COLLECT')
        # New keys, and the same ones where their names can be read.
        deleted = overwritten = 0
        for n, i in enumerate(lost):
            if n % 2:
                if self.client.ask('DEL', key(i)) == b':1\r\n':
                    self.assertEqual(self.client.ask('GET', key(i)), b'$-1\r\n')
                    deleted += 1
            elif self.client.ask('SET', key(i), 'again') == b'+OK\r\n':
                self.assertEqual(self.client.ask('GET', key(i)), b'$5\r\nagain\r\n')
                overwritten += 1
        self.new_keys_find_their_places(set(range(KEYS)) - set(lost))
        self.client.ask('ISOTHERM', 'COLLECT')
        self.assertEqual(self.client.ask('PING'), b'+PONG\r\n')
        self.assertEqual(self.client.ask('FLUSHALL'), b'+OK\r\n')
        self.assertEqual(self.client.ask('DBSIZE'), b':0\r\n')
        self.assertEqual(self.client.ask('SET', 'a key', 'value'), b'+OK\r\n')
        self.assertEqual(self.client.ask('GET', 'a key'), b'$5\r\nvalue\r\n')
        status, said, _ = self.server.stop()
        self.assertEqual(status, 0, said)


if __name__ == '__main__':
    seed = random.randrange(1 << 32)
    print(f'seed {seed}', file=sys.stderr)
    random.seed(seed)
    unittest.main(argv=sys.argv[:1], verbosity=2)
