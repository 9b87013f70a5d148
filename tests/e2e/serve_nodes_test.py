#!/usr/bin/env python3
"""isotherm serve with the nodes of its index placed in fast and slow memory.

    serve_nodes_test.py ISOTHERM
"""

import resource
import subprocess
import sys
import time
import unittest

from serve_process import PATIENCE, Raw, start_ours

ISOTHERM = sys.argv.pop(1)
KEYS, HOT = 20_000, 500
BATCH = 1000  # keys of one command
PLACED = ('--node-placement', 'sinlk')


def key(number):
    return b'key:%08d' % number


USES = b''.join(b'*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n' % (len(key(number)), key(number))
                for number in range(HOT))


class Placed(unittest.TestCase):
    def serve(self, index, *flags, **more):
        process = start_ours(ISOTHERM, index, *PLACED, *flags, **more)
        self.addCleanup(process.stop)
        client = Raw(process.path)
        self.addCleanup(client.close)
        return process, client

    def load(self, client):
        for first in range(0, KEYS, BATCH):
            pairs = [word for number in range(first, first + BATCH)
                     for word in (key(number), b'value')]
            self.assertEqual(client.ask('MSET', *pairs), b'+OK\r\n')

    def nodes(self, client):
        words = client.ask('ISOTHERM', 'NODES').decode().split('\r\n')
        return {name: int(words[words.index(name) + 1][1:])
                for name in ('fast_bytes', 'fast_bytes_limit', 'slow_bytes', 'leaves', 'visits',
                             'promoted_nodes', 'demoted_nodes')}

    def wait_for(self, client, condition):
        """Uses some keys until the nodes are as they are to be."""
        deadline = time.monotonic() + PATIENCE
        while not condition(seen := self.nodes(client)):
            self.assertLess(time.monotonic(), deadline, seen)
            client.socket.sendall(USES)
            replies = HOT * b'$5\r\nvalue\r\n'
            self.assertEqual(client.file.read(len(replies)), replies)
        return seen

    def test_every_tree_with_and_without_a_collector(self):
        for index in ('masstree', 'btree-occ', 'art'):
            for manage in ('on', 'off'):
                with self.subTest(index=index, manage=manage):
                    _, client = self.serve(index, '--fast-memory', '30%', '--manage', manage,
                                           '--window', '0.5')
                    self.load(client)
                    seen = self.wait_for(client, lambda now: now['visits'] > 3 and
                                         now['promoted_nodes'] + now['demoted_nodes'] > 0 and
                                         0 < now['fast_bytes'] <= now['fast_bytes_limit'])
                    self.assertGreater(seen['leaves'], 100)
                    self.assertEqual(client.ask('DBSIZE'), b':%d\r\n' % KEYS)

    def test_no_fast_memory(self):
        _, client = self.serve('art', '--fast-memory', '0')
        self.load(client)
        seen = self.wait_for(client, lambda now: now['visits'] > 0)
        self.assertEqual(seen['fast_bytes'], 0)

    def test_fast_memory_smaller_than_the_path_to_a_leaf(self):
        for index in ('masstree', 'btree-occ', 'art'):
            with self.subTest(index=index):
                _, client = self.serve(index, '--fast-memory', '100')
                self.load(client)
                self.wait_for(client, lambda now: now['visits'] > 2 and now['fast_bytes'] <= 100)
                self.assertEqual(client.ask('DBSIZE'), b':%d\r\n' % KEYS)

    def test_fast_memory_changes_its_size(self):
        for manage in ('on', 'off'):
            with self.subTest(manage=manage):
                _, client = self.serve('art', '--fast-memory', '50%', '--manage', manage)
                self.load(client)
                self.assertIn(b'$3\r\n50%\r\n', client.ask('ISOTHERM', 'CONFIG', 'GET', 'fast*'))
                self.wait_for(client, lambda now: now['fast_bytes'] > 0)
                for size, most in ((b'16kb', 16 << 10), (b'0', 0)):
                    self.assertEqual(client.ask('ISOTHERM', 'CONFIG', 'SET', 'fast-memory', size),
                                     b'+OK\r\n')
                    self.wait_for(client, lambda now, most=most: now['fast_bytes'] <= most)
                client.ask('ISOTHERM', 'CONFIG', 'SET', 'fast-memory', '30%')
                self.wait_for(client, lambda now: now['fast_bytes'] > 0)
                for wrong in ('120%', '-1', 'much', '%', '3%%'):
                    self.assertIn(b'-ERR fast-memory takes',
                                  client.ask('ISOTHERM', 'CONFIG', 'SET', 'fast-memory', wrong))

    def test_slow_memory_that_is_full_refuses_keys_and_nothing_else(self):
        for index in ('masstree', 'btree-occ', 'art'):
            with self.subTest(index=index):
                # 128 MiB for the nodes of each tier, an eighth of this.
                _, client = self.serve(
                    index, '--fast-memory', '0', '--manage', 'off',
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30)))
                many, kept, refused = 10_000, 0, b''
                while not refused.startswith(b'-'):
                    client.socket.sendall(
                        b'*%d\r\n$4\r\nMSET\r\n' % (2 * many + 1) +
                        b''.join(b'$12\r\nkey:%08d\r\n$8\r\n%08d\r\n' % (number, number)
                                 for number in range(kept, kept + many)))
                    refused = client.reply()
                    kept += many
                    self.assertLess(kept, 10_000_000)
                self.assertIn(b'OOM', refused)
                self.assertGreater(self.nodes(client)['slow_bytes'], 64 << 20)
                kept = int(client.ask('DBSIZE')[1:])
                self.assertGreater(kept, 100_000)
                for number in range(0, kept, 1000):
                    self.assertEqual(client.ask('GET', key(number)), b'$8\r\n%08d\r\n' % number)
                self.assertEqual(client.ask('SET', key(0), b'new'), b'+OK\r\n')
                half = kept // 2
                for first in range(0, half, many):
                    gone = min(many, half - first)
                    client.socket.sendall(
                        b'*%d\r\n$3\r\nDEL\r\n' % (gone + 1) +
                        b''.join(b'$12\r\nkey:%08d\r\n' % number
                                 for number in range(first, first + gone)))
                    self.assertEqual(client.reply(), b':%d\r\n' % gone)
                self.assertEqual(client.ask('SET', b'another', b'value'), b'+OK\r\n')

    def test_says_so_at_the_start_and_only_then(self):
        process, _ = self.serve('art', '--fast-memory', '64mb')
        self.assertTrue(any('64mb in fast memory, by sinlk' in line for line in process.said))
        plain = start_ours(ISOTHERM, 'art')
        self.addCleanup(plain.stop)
        client = Raw(plain.path)
        self.addCleanup(client.close)
        self.assertIn(b'--node-placement sinlk', client.ask('ISOTHERM', 'NODES'))


class Mistakes(unittest.TestCase):
    def test_are_refused_in_one_line(self):
        for words, said in (((*PLACED, '--index', 'hash-pugh'), 'btree-occ, art'),
                            ((*PLACED, '--index', 'art', '--fast-memory', '120%'), '--fast-memory'),
                            ((*PLACED, '--index', 'art', '--fast-memory', 'much'), '--fast-memory'),
                            ((*PLACED, '--index', 'art', '--policy', 'published', '--protocol',
                              'counts'), '--protocol veto'),
                            ((*PLACED, '--index', 'art', '--slow-node', '999'), 'memory node 999'),
                            (('--fast-node', '0'), '--node-placement sinlk'),
                            (('--node-placement', 'best'), '--node-placement')):
            with self.subTest(words=words):
                run = subprocess.run([ISOTHERM, 'serve', '--port', '0', *words], text=True,
                                     capture_output=True, timeout=PATIENCE, check=False)
                self.assertNotEqual(run.returncode, 0)
                self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
                self.assertIn(said, run.stderr)


if __name__ == '__main__':
    unittest.main(verbosity=1)
