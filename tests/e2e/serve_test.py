#!/usr/bin/env python3
"""isotherm serve against a real redis-server and with the clients that people use.

    serve_test.py ISOTHERM INDEX

Commands whose answers do not depend on time or on the process go to both servers, and the raw
replies must be the same byte for byte, in RESP2 and RESP3.
"""

import math
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

import redis
from redis.connection import UnixDomainSocketConnection

from serve_dialogue import DIALOGUE, LOCKED, LOOKUPS, NAMES
from serve_process import PATIENCE, Raw, info, start_ours, start_redis

ISOTHERM, INDEX = sys.argv.pop(1), sys.argv.pop(1)


def ttl_lost(began):
    """The most that TTL, which Redis rounds to whole seconds, can have lost since `began`."""
    return math.ceil(max(time.monotonic() - began - 0.5, 0))


def start(*flags):
    return start_ours(ISOTHERM, INDEX, *flags)


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.ours = start()

    @classmethod
    def tearDownClass(cls):
        status, said, leftover = cls.ours.stop()
        assert status == 0, said
        assert not leftover, 'the socket file was left behind'

    def setUp(self):
        self.client = redis.Redis(unix_socket_path=self.ours.path)
        self.client.flushall()
        self.addCleanup(self.client.close)

    def raw(self):
        connection = Raw(self.ours.path)
        self.addCleanup(connection.close)
        return connection

    def test_answers_as_redis_does(self):
        theirs = start_redis()
        self.addCleanup(theirs.stop)
        for protocol in (2, 3):
            both = [Raw(self.ours.path), Raw(theirs.path)]
            for each in both:
                self.addCleanup(each.close)
                each.ask('HELLO', protocol)
                each.ask('FLUSHALL')
            began = time.monotonic()
            for words in DIALOGUE:
                with self.subTest(words=words, protocol=protocol):
                    ours, expected = (each.ask(*words) for each in both)
                    apart = 0
                    if words[0] == 'TTL':
                        apart = ttl_lost(began)  # one server may have been asked later
                    elif words[:2] == ('OBJECT', 'IDLETIME'):
                        # Whole seconds by two clocks: one of them may just have ticked.
                        apart = 1 + int(time.monotonic() - began)
                    if apart > 0 and re.match(rb':\d', expected):
                        self.assertRegex(ours, rb'^:\d')
                        self.assertLessEqual(abs(int(ours[1:]) - int(expected[1:])), apart)
                    else:
                        self.assertEqual(ours, expected)

    def test_counts_look_ups_as_redis_does(self):
        theirs = start_redis()
        self.addCleanup(theirs.stop)
        both = [Raw(self.ours.path), Raw(theirs.path)]
        for each in both:
            self.addCleanup(each.close)
            each.ask('FLUSHALL')
        for words in LOOKUPS:
            counted = []
            for each in both:
                each.ask('CONFIG', 'RESETSTAT')
                each.ask(*words)
                told = info(each, 'stats')
                counted.append((told['keyspace_hits'], told['keyspace_misses']))
            with self.subTest(words=words):
                self.assertEqual(*counted)

    def test_values_that_no_memory_holds(self):
        one = self.raw()
        self.assertEqual(one.ask('CONFIG', 'SET', 'proto-max-bulk-len', str(2**63 - 1)), b'+OK\r\n')
        for offset in (2**63 - 1, 2**63 - 2, 2**32 - 1, 2**32 - 2**20):
            self.assertEqual(one.ask('SETRANGE', 'k', offset, 'x'),
                             b'-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n')
        other = self.raw()
        other.socket.sendall(b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n' % 2**32)
        self.assertEqual(other.reply(), b'-ERR Protocol error: invalid bulk length\r\n')
        self.assertEqual(one.ask('CONFIG', 'SET', 'proto-max-bulk-len', '512mb'), b'+OK\r\n')

    def test_says_hello_as_redis_does(self):
        theirs = start_redis()
        self.addCleanup(theirs.stop)
        both = [Raw(self.ours.path), Raw(theirs.path)]
        for each in both:
            self.addCleanup(each.close)
        for words in (('HELLO',), ('HELLO', 3), ('HELLO', 3, 'SETNAME', 'me'), ('HELLO',),
                      ('CLIENT', 'GETNAME'), ('HELLO', 2), ('RESET',), ('HELLO',)):
            ours, expected = (re.sub(rb'id\r\n:\d+', b'id', each.ask(*words)) for each in both)
            self.assertEqual(ours, expected, words)
        ours, expected = (re.findall(rb'([a-z-]+)=', each.ask('CLIENT', 'INFO')) for each in both)
        self.assertEqual(ours, expected)

    def test_describes_its_commands_as_redis_does(self):
        theirs = start_redis()
        self.addCleanup(theirs.stop)
        client = redis.Redis(unix_socket_path=theirs.path)
        self.addCleanup(client.close)
        expected, ours = client.command(), self.client.command()
        # States of a server that this one does not have.
        states = {'loading', 'stale', 'noscript', 'allow_busy', 'no_multi', 'skip_slowlog'}
        compared = 0
        for name, told in ours.items():
            if name == 'isotherm':
                continue
            for field in ('arity', 'first_key_pos', 'last_key_pos', 'step_count'):
                self.assertEqual(told[field], expected[name][field], (name, field))
            self.assertEqual(set(told['flags']), set(expected[name]['flags']) - states, name)
            compared += 1
        self.assertGreaterEqual(compared, len(NAMES))

    def test_files_its_commands_as_redis_does(self):
        theirs = start_redis()
        self.addCleanup(theirs.stop)

        def ask(path, *words):
            connection = UnixDomainSocketConnection(path=path)
            self.addCleanup(connection.disconnect)
            connection.send_command('COMMAND', *words)
            return connection.read_response()
        names = [name for name in ask(self.ours.path, 'LIST') if not name.startswith(b'isotherm')]
        self.assertIn(b'config|get', names)
        ours, expected = (
            {told[0]: (told[1], sorted(told[6])) for told in ask(path, 'INFO', *names)}
            for path in (self.ours.path, theirs.path))
        self.assertEqual(ours, expected)
        documented = ask(self.ours.path, 'DOCS', 'client|list')
        self.assertEqual(documented[0], b'client|list')
        for category in (b'connection', b'DANGEROUS', b'string'):
            ours, expected = (set(ask(path, 'LIST', 'FILTERBY', 'ACLCAT', category)) & set(names)
                              for path in (self.ours.path, theirs.path))
            self.assertTrue(ours)
            self.assertEqual(ours, expected)

    def test_redis_py(self):
        db = self.client
        began = time.monotonic()
        self.assertTrue(db.set('k', b'\x00\xff', ex=100))
        self.assertEqual(db.get('k'), b'\x00\xff')
        ttl = db.ttl('k')
        self.assertIn(ttl, range(100 - ttl_lost(began), 101))
        with db.pipeline(transaction=False) as pipe:
            for i in range(1000):
                pipe.set(f'p{i}', i)
            pipe.mget([f'p{i}' for i in range(1000)])
            self.assertEqual(pipe.execute()[-1], [b'%d' % i for i in range(1000)])
        self.assertEqual(len(set(db.scan_iter(match='p*', count=100))), 1000)
        self.assertEqual(db.dbsize(), 1001)
        self.assertIn(db.randomkey(), db.keys('*'))
        self.assertEqual(db.info('persistence')['persistence'], 'none')
        self.assertEqual(db.config_get('maxmemory'), {'maxmemory': '0'})
        self.assertIn('get', db.command())
        self.assertGreaterEqual(db.command_count(), 60)

    def test_transactions_of_redis_py_fail_whole(self):
        # More than one read of the server; each piece after MULTI must be refused.
        for values in ('v', 'v' * 100_000):
            with self.client.pipeline() as pipe:
                for i in range(50):
                    pipe.set(f't{i}', values)
                with self.assertRaisesRegex(redis.ResponseError, 'has no transactions'):
                    pipe.execute()
                self.assertEqual(self.client.dbsize(), 0)
                pipe.set('after', 'v')
                with self.assertRaisesRegex(redis.ResponseError, 'has no transactions'):
                    pipe.execute()
            self.assertTrue(self.client.set('plain', 'v'))  # by the pool's same connection
            self.client.flushall()
        with self.client.pipeline() as pipe:
            with self.assertRaises(redis.ResponseError):
                pipe.watch('k')

    def test_large_values(self):
        value = os.urandom(1 << 20) * 64
        self.client.set('large', value)
        self.assertEqual(self.client.strlen('large'), len(value))
        self.assertEqual(self.client.get('large'), value)
        self.client.delete('large')

    def test_redis_cli_and_benchmark(self):
        say = subprocess.run(['redis-cli', '-3', '-s', self.ours.path, 'hello'],
                             capture_output=True, text=True, timeout=PATIENCE, check=True).stdout
        self.assertIn('standalone', say)
        run = subprocess.run(['redis-benchmark', '-s', self.ours.path, '-q', '-n', '2000', '-P',
                              '16', '-t', 'ping,set,get,incr,mset'], capture_output=True, text=True,
                             timeout=PATIENCE, check=True)
        said = run.stdout + run.stderr
        self.assertNotIn('WARNING', said)
        self.assertNotIn('rror', said)
        self.assertEqual(said.count('requests per second'), 6, said)

    def test_isotherm_commands(self):
        for i in range(200):
            self.client.set(f'k{i}', 'x' * 500)
        one = self.raw()
        self.assertTrue(one.ask('ISOTHERM', 'COLLECT').startswith(b'*64\r\n'))
        self.assertIn(b'cold', one.ask('ISOTHERM', 'HEAPS'))
        self.assertIn(b'page_utilization', one.ask('ISOTHERM', 'STATS'))
        self.assertRegex(one.ask('ISOTHERM', 'LOCATE', 'k7', 'absent'),
                         rb'^\*2\r\n\*2\r\n:\d+\r\n:500\r\n\$-1\r\n$')
        self.assertEqual(one.ask('ISOTHERM', 'CONFIG', 'SET', 'window', '0.5'), b'+OK\r\n')
        self.assertIn(b'0.5', one.ask('ISOTHERM', 'CONFIG', 'GET', 'window'))
        self.assertTrue(one.ask('ISOTHERM', 'CONFIG', 'SET', 'window', 'x').startswith(b'-ERR'))
        for i in range(200):
            self.assertEqual(self.client.get(f'k{i}'), b'x' * 500)

    def test_killed_clients_hurt_nobody(self):
        for piece in (b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000000\r\nabc', b'*', b'*2\r\n$4\r\nEC'):
            script = ('import socket,sys,os,signal;s=socket.socket(socket.AF_UNIX);'
                      's.connect(sys.argv[1]);s.sendall(bytes.fromhex(sys.argv[2]));'
                      'os.kill(os.getpid(), signal.SIGKILL)')
            ended = subprocess.run([sys.executable, '-c', script, self.ours.path, piece.hex()],
                                   timeout=PATIENCE, check=False)
            self.assertEqual(ended.returncode, -signal.SIGKILL)
            self.assertTrue(self.client.ping())
        self.assertEqual(self.client.exists('k'), 0)


class Start(unittest.TestCase):
    """Servers with flags of their own."""

    def serve(self, *flags):
        process = start(*flags)
        self.addCleanup(process.stop)
        connection = Raw(process.path)
        self.addCleanup(connection.close)
        return process, connection

    def test_maxmemory(self):
        # No window ends: what goes to the disk would not count.
        _, one = self.serve('--maxmemory', '64mb', '--window', '3600')
        value = b'x' * (1 << 20)
        replies = [one.ask('SET', f'k{i}', value) for i in range(100)]
        self.assertEqual(replies[0], b'+OK\r\n')
        self.assertEqual(replies[-1],
                         b"-OOM command not allowed when used memory > 'maxmemory'.\r\n")
        self.assertEqual(one.ask('GET', 'k0')[:10], b'$1048576\r\n')
        self.assertEqual(one.ask('DEL', 'k0'), b':1\r\n')

    def test_asks_for_the_password_as_redis_does(self):
        theirs = start_redis('--requirepass', 'word')
        self.addCleanup(theirs.stop)
        _, ours = self.serve('--requirepass', 'word')
        expected = Raw(theirs.path)
        self.addCleanup(expected.close)
        for words in LOCKED:
            with self.subTest(words=words):
                self.assertEqual(ours.ask(*words), expected.ask(*words))

    def test_tcp(self):
        process, _ = self.serve('--requirepass', 'word', '--manage', 'track')
        with redis.Redis(port=process.port(), password='word') as db:
            self.assertTrue(db.set('k', 'v'))
            self.assertEqual(db.get('k'), b'v')

    def test_load_while_objects_move(self):
        directory = tempfile.mkdtemp(prefix='isotherm-e2e-')
        self.addCleanup(shutil.rmtree, directory)
        for protocol in ('counts', 'veto'):
            process = start('--window', '0.02', '--policy', 'published',
                            '--cold-threshold', '1', '--protocol', protocol,
                            '--hint', 'pageout', '--cold-backing', f'file:{directory}')
            self.addCleanup(process.stop)
            load = subprocess.Popen(['redis-benchmark', '-s', process.path, '-q', '-n', '20000',
                                     '-P', '8', '-r', '500', '-d', '300', '-t',
                                     'set,get,incr,mset'], stdout=subprocess.PIPE, text=True)
            db = redis.Redis(unix_socket_path=process.path)
            self.addCleanup(db.close)
            written = 0
            while load.poll() is None or written < 500:
                key = f'mine{written % 100}'
                db.set(key, f'{key} {written}' * 20)
                self.assertEqual(db.get(key).decode(), f'{key} {written}' * 20)
                db.delete(f'mine{(written + 50) % 100}')
                written += 1
            self.assertEqual(load.stdout.read().count('requests per second'), 4)
            load.stdout.close()
            told = db.info('isotherm')
            self.assertGreater(told['window'], 0)
            status, said, _ = process.stop()
            self.assertEqual(status, 0, said)

    def test_looking_at_all_keys_warms_none(self):
        process = start_ours(ISOTHERM, 'hash-pugh', '--window', '3600',
                             '--policy', 'published', '--cold-threshold', '1')
        self.addCleanup(process.stop)
        db = redis.Redis(unix_socket_path=process.path)
        self.addCleanup(db.close)

        def window():
            told = db.execute_command('ISOTHERM', 'COLLECT')
            return {name.decode(): value for name, value in zip(told[::2], told[1::2])}
        for i in range(500):
            db.set(f'k{i}', 'x' * 500)
        while window()['accessed_objects'] or not db.execute_command('ISOTHERM', 'HEAPS')[5][1]:
            pass
        self.assertEqual(len(db.keys('*')), 500)
        self.assertEqual(len(set(db.scan_iter())), 500)
        for _ in range(20):
            self.assertIsNotNone(db.randomkey())
        self.assertEqual(window()['accessed_objects'], 0)
        self.assertEqual(db.get('k7'), b'x' * 500)
        self.assertEqual(window()['accessed_objects'], 2)  # the key and its value

    def test_the_map_has_one_cell_a_page(self):
        _, one = self.serve('--window', '3600')
        value = b'x' * (1 << 20)
        for i in range(300):  # more than the 65536 pages that a smaller map would hold
            self.assertEqual(one.ask('SET', f'k{i}', value), b'+OK\r\n')
        told = one.ask('ISOTHERM', 'PAGES').split(b'\r\n')
        self.assertGreater(int(told[told.index(b'pages') + 1][1:]), 300 * 256)
        cells = [told[i + 1] for i, name in enumerate(told) if name == b'pages_per_cell']
        self.assertEqual(cells, [b':1'] * 4)

    def test_shutdown_command(self):
        process, one = self.serve('--manage', 'off')
        one.socket.sendall(b'SHUTDOWN NOSAVE\r\n')
        self.assertEqual(one.file.readline(), b'')
        self.assertEqual(process.process.wait(timeout=PATIENCE), 0)
        self.assertFalse(os.path.exists(process.path))


if __name__ == '__main__':
    unittest.main(verbosity=1)
