#!/usr/bin/env python3
"""Nodes of isotherm serve behind twemproxy, by the configuration of deploy/proxy.

    proxy_test.py ISOTHERM DEPLOY PAGE

PAGE is docs/seeing/proxy.md: the commands that it says are not passed must be those.
"""

import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import unittest

import redis

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from serve_case import Case, until  # noqa: E402
from serve_process import PATIENCE, Raw  # noqa: E402

Case.tool, Case.index = sys.argv.pop(1), 'hash-pugh'
DEPLOY, PAGE = (pathlib.Path(sys.argv.pop(1)) for _ in range(2))
POOL = (DEPLOY / 'proxy/nutcracker.yml').read_text(encoding='utf-8')
COMPOSE = (DEPLOY / 'proxy/compose.yml').read_text(encoding='utf-8')
NODES = re.findall(r'^ +- \S+:1 (\w+)$', POOL, re.MULTILINE)

KEYS = [b'key:%d' % number for number in range(4000)]
# A node has 160 points on the ring, so that its share of the keys scatters by some 7% of itself (a
# standard deviation); three of these are allowed, and the scatter of 4000 keys.
SCATTER = 0.25


def free_port():
    with socket.socket() as one:
        one.bind(('127.0.0.1', 0))
        return one.getsockname()[1]


def is_stopped(process):
    threads = pathlib.Path(f'/proc/{process}/task').glob('*/stat')
    return all(stat.read_text(encoding='utf-8').rpartition(') ')[2][0] == 'T' for stat in threads)


class Client:
    """Asks through the proxy again what it answers by an error, as its documentation asks for."""

    def __init__(self, path):
        self.connection = Raw(path)
        self.errors = []

    def ask(self, *words):
        def answer():
            reply = self.connection.ask(*words)
            if not reply.startswith(b'-'):
                return reply
            self.errors.append(reply)
            return None
        return until(answer)

    def get(self, key):
        reply = self.ask('GET', key)
        return None if reply == b'$-1\r\n' else reply.split(b'\r\n')[1]

    def write(self, keys, value):
        for key in keys:
            assert self.ask('SET', key, value) == b'+OK\r\n', key

    def missing(self):
        return {key for key in KEYS if self.get(key) is None}


class Nodes(Case):
    def setUp(self):
        self.folder = pathlib.Path(self.scratch())
        self.nodes = {}
        for name in NODES:
            self.start_node(name)

    def path(self, name):
        return str(self.folder / name)

    def start_node(self, name, **more):
        self.nodes[name] = self.serve('--unixsocket', self.path(name), **more)

    def start_proxy(self, names, further='', timeout=120_000):
        """A client of a proxy over these nodes, at sockets here instead of the example's."""
        listen = self.path('proxy')
        settings = POOL[:POOL.index('  servers:')].replace('0.0.0.0:6379', listen) + further
        # The example's 2 s are too short for the nodes of a busy machine: they would be left out.
        settings = settings.replace('\n  timeout: 2000\n', f'\n  timeout: {timeout}\n')
        servers = ''.join(f'    - {self.path(name)}:1 {name}\n' for name in names)
        pool = self.folder / 'pool.yml'
        pool.write_text(f'{settings}  servers:\n{servers}', encoding='utf-8')
        if os.path.exists(listen):
            os.unlink(listen)

        def started():
            # Another program may take the port of the statistics first: then there is a next try.
            self.proxy = subprocess.Popen(
                ['nutcracker', '-c', pool, '-o', self.path('log'), '-p', self.path('pid'),
                 '-a', '127.0.0.1', '-s', str(free_port())],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(self.stop, self.proxy)
            until(lambda: self.proxy.poll() is not None or os.path.exists(listen))
            return self.proxy.poll() is None
        until(started)
        return self.client()

    def client(self):
        client = until(self.accepted)
        self.addCleanup(client.connection.close)
        return client

    def accepted(self):
        try:
            return Client(self.path('proxy'))
        except ConnectionRefusedError:
            return None  # it has made its socket and does not listen yet

    @staticmethod
    def stop(process):
        process.terminate()
        process.wait(timeout=PATIENCE)

    def held(self, name):
        """The keys that a node has, asked of the node itself."""
        node = self.connect(self.path(name))
        return {word for word in node.ask('KEYS', '*').split(b'\r\n') if word.startswith(b'key:')}

    def loaded(self):
        """A client of three nodes, and which keys each of them has."""
        client = self.start_proxy(NODES)
        client.write(KEYS, b'first')
        return client, {name: self.held(name) for name in NODES}

    def assert_share(self, keys, nodes):
        even = len(KEYS) / nodes
        self.assertGreater(len(keys), (1 - SCATTER) * even)
        self.assertLess(len(keys), (1 + SCATTER) * even)

    def test_each_key_lies_on_one_node(self):
        client, held = self.loaded()
        self.assertEqual(set.union(*held.values()), set(KEYS))
        self.assertEqual(sum(map(len, held.values())), len(KEYS))
        for keys in held.values():
            self.assert_share(keys, len(NODES))
        self.assertEqual(client.missing(), set())
        self.assertEqual(client.ask('MGET', *KEYS).count(b'first'), len(KEYS))

    def test_an_added_node_takes_its_share_and_no_other_key_moves(self):
        _, before = self.loaded()
        self.stop(self.proxy)
        self.start_node('node4')
        client = self.start_proxy([*NODES, 'node4'])
        missed = client.missing()
        self.assert_share(missed, len(NODES) + 1)
        client.write(missed, b'second')
        self.assertEqual(self.held('node4'), missed)
        self.assertEqual(client.missing(), set())
        # The old copies stay where they were until they expire.
        self.assertEqual({name: self.held(name) for name in NODES}, before)

    def test_a_lost_node_takes_its_keys_along_and_comes_back_empty(self):
        client, before = self.loaded()
        lost = before['node2']
        self.nodes['node2'].stop(signal.SIGKILL)
        self.assertEqual(client.missing(), lost)
        client.write(lost, b'second')
        self.assertEqual(client.missing(), set())
        self.assertEqual(self.held('node1') | self.held('node3'), set(KEYS))
        one = next(iter(lost))

        self.start_node('node2')
        until(lambda: client.get(one) is None)
        self.assertEqual(client.missing(), lost)
        client.write(lost, b'third')
        self.assertEqual(self.held('node2'), lost)

        # Values that the others took in while it was away are seen again when it goes once more.
        self.nodes['node2'].stop(signal.SIGKILL)
        self.assertEqual({client.get(key) for key in lost}, {b'second'})

    def test_a_node_that_hangs_is_left_out_until_it_answers(self):
        _, before = self.loaded()
        self.stop(self.proxy)
        client = self.start_proxy(NODES, timeout=2000)
        one = next(iter(before['node3']))
        hanging = self.nodes['node3'].process
        hanging.send_signal(signal.SIGSTOP)
        self.addCleanup(hanging.send_signal, signal.SIGCONT)
        until(lambda: is_stopped(hanging.pid))  # a thread may run on for a moment
        self.assertIsNone(client.get(one))
        self.assertTrue(client.errors)  # of the request that waited for it
        hanging.send_signal(signal.SIGCONT)
        until(lambda: client.get(one) == b'first')
        # A lost key stays missing; a node that a busy machine slowed for 2 s comes back.
        until(lambda: not client.missing())

    def test_which_commands_are_not_passed(self):
        said = re.search(r'<!-- not passed -->(.*?)<!-- -->', PAGE.read_text(encoding='utf-8'),
                         re.DOTALL).group(1)
        self.start_proxy(NODES)
        names = self.connect(self.path('node1')).ask('COMMAND', 'LIST').decode().upper().split()
        # QUIT is obeyed, without a reply.
        names = {name for name in names if re.fullmatch(r'[A-Z]+', name)} - {'QUIT'}
        self.assertIn('GET', names)
        self.assertEqual({name for name in names if not self.is_passed(name)},
                         set(re.findall(r'\b[A-Z]{2,}\b', said)))
        for words in (('CLUSTER', 'SLOTS'), ('EXPIRE', 'k', '10', 'NX'), ('PING', 'k')):
            self.assertFalse(self.is_answered(*words), words)

    def is_passed(self, name):
        words = ('k', '1', '2', '3')
        return any(self.is_answered(name, *words[:count]) for count in range(len(words) + 1))

    def is_answered(self, *words):
        """False where the proxy closes the connection instead."""
        connection = self.client().connection
        try:
            return connection.ask(*words) != b''
        except ConnectionResetError:
            return False

    def test_unchanged_clients(self):
        self.start_proxy(NODES)
        client = redis.Redis(unix_socket_path=self.path('proxy'))
        self.addCleanup(client.close)
        pipeline = client.pipeline(transaction=False)
        for key in KEYS[:100]:
            pipeline.set(key, b'piped').get(key).expire(key, 1000)
        self.assertEqual(pipeline.execute(), 100 * [True, b'piped', True])
        said = subprocess.run(['redis-cli', '-s', self.path('proxy'), 'get', 'key:1'], text=True,
                              capture_output=True, timeout=PATIENCE, check=True).stdout
        self.assertEqual(said, 'piped\n')
        with self.assertRaises(redis.exceptions.RedisClusterException):
            redis.cluster.RedisCluster(host='127.0.0.1', port=self.nodes['node1'].port())

    def test_keys_with_a_common_tag_lie_together(self):
        client = self.start_proxy(NODES)
        for number in range(100):
            client.ask('SET', b'{%d}from' % number, b'%d' % number)
            self.assertEqual(client.ask('COPY', b'{%d}from' % number, b'{%d}to' % number),
                             b':1\r\n')
            self.assertEqual(client.get(b'{%d}to' % number), b'%d' % number)

    def test_a_password_is_asked_for_by_the_proxy_and_given_to_the_nodes(self):
        for name in NODES:
            self.nodes[name].stop()
            self.start_node(name, env={**os.environ, 'ISOTHERM_REQUIREPASS': 'word'})
        client = self.start_proxy(NODES, '  redis_auth: word\n').connection
        self.assertRegex(client.ask('GET', 'k'), b'^-NOAUTH')
        self.assertRegex(client.ask('AUTH', 'wrong'), b'^-ERR')
        self.assertEqual(client.ask('AUTH', 'word'), b'+OK\r\n')
        self.assertEqual(client.ask('SET', 'k', 'v'), b'+OK\r\n')
        self.assertEqual(client.ask('GET', 'k'), b'$1\r\nv\r\n')


class Example(unittest.TestCase):
    """The files of deploy/proxy themselves."""

    def test_twemproxy_accepts_the_pool(self):
        done = subprocess.run(['nutcracker', '--test-conf', '-c', DEPLOY / 'proxy/nutcracker.yml'],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_the_nodes_are_those_of_the_pool_and_start(self):
        self.assertEqual(len(NODES), 3)
        self.assertEqual(re.findall(r'^  (node\d+):', COMPOSE, re.MULTILINE), NODES)
        for name in NODES:
            self.assertIn(f'    - {name}:6379:1 {name}\n', POOL)
        told = subprocess.run([Case.tool, 'serve', '--help'], capture_output=True, text=True,
                              timeout=PATIENCE, check=True).stdout
        flags = re.findall(r'"(--[\w-]+)"', COMPOSE)
        self.assertTrue(flags)
        for flag in flags:
            self.assertRegex(told, rf'(?m)^ +(-\w,)?{flag}\b')


if __name__ == '__main__':
    unittest.main(verbosity=1)
