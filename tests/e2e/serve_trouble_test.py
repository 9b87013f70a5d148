#!/usr/bin/env python3
"""isotherm serve when things go wrong: at the start, with clients, with the cold heap's disk.

    serve_trouble_test.py ISOTHERM INDEX
"""

import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import unittest

from serve_case import Case, MIB, until
from serve_process import PATIENCE, Raw, info, start_ours, start_redis

ISOTHERM, INDEX = Case.tool, Case.index = sys.argv.pop(1), sys.argv.pop(1)


def resident_bytes(process):
    with open(f'/proc/{process.process.pid}/statm', encoding='ascii') as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def limited(which, amount):
    """For Popen: runs the server under a resource limit."""
    return {'preexec_fn': lambda: resource.setrlimit(which, (amount, amount))}


class Start(Case):
    """Mistakes of the operator: one line, exit status not 0, nothing left behind."""

    def test_a_target_where_nothing_can_leave_is_refused(self):
        with open('/proc/swaps') as swaps:
            if len(swaps.readlines()) > 1:
                self.skipTest('what is cold can leave for swap')
        said = self.refused('--memory-target', '128mb', '--hint', 'pageout', '--cold-backing',
                            'anon')
        self.assertIn('add swap or zram, or place COLD in a file', said)

    def test_port_in_use(self):
        taken = socket.create_server(('127.0.0.1', 0))
        self.addCleanup(taken.close)
        said = self.refused('--port', str(taken.getsockname()[1]))
        self.assertIn('Address already in use', said)
        self.assertIn('--port', said)

    def test_unix_socket_of_a_live_server(self):
        live = self.serve('--manage', 'off')
        self.assertIn('another server listens', self.refused('--unixsocket', live.path))
        self.assert_alive(live)  # and its socket file is still there

    def test_stale_unix_socket(self):
        path = os.path.join(self.scratch(), 's')
        with socket.socket(socket.AF_UNIX) as gone:
            gone.bind(path)
        self.assertTrue(os.path.exists(path))
        process = self.serve('--manage', 'off', '--unixsocket', path)
        self.assertEqual(self.connect(path).ask('PING'), b'+PONG\r\n')
        self.assertEqual(process.stop()[0], 0)
        self.assertFalse(os.path.exists(path))

    def test_unix_socket_path_is_a_file(self):
        path = os.path.join(self.scratch(), 'precious')
        with open(path, 'w', encoding='ascii') as file:
            file.write('data')
        self.refused('--unixsocket', path)
        with open(path, encoding='ascii') as file:
            self.assertEqual(file.read(), 'data')

    def test_unusable_paths(self):
        self.assertIn('No such file', self.refused('--unixsocket', '/nowhere/s'))
        self.assertIn('longer than', self.refused('--unixsocket', '/tmp/' + 'x' * 200))
        self.assertIn('pid file', self.refused('--pidfile', '/nowhere/pid'))
        self.assertIn('does not exist', self.refused('--cold-backing', 'file:/nowhere'))
        self.assertIn('not a directory', self.refused('--cold-backing', 'file:/dev/null'))
        self.assertIn('tmpfs', self.refused('--cold-backing', 'file:/dev/shm'))

    def test_unwritable_cold_directory(self):
        # Permissions do not bind root, so root runs the server as a user whom they bind.
        tool = os.path.join(self.scratch(), 'isotherm')
        shutil.copy(ISOTHERM, tool)
        os.chmod(os.path.dirname(tool), 0o755)
        closed = self.scratch()
        os.chmod(closed, 0o555)
        nobody = {'user': 65534, 'group': 65534} if os.geteuid() == 0 else {}
        run = subprocess.run([tool, 'serve', '--port', '0', '--cold-backing', f'file:{closed}'],
                             capture_output=True, text=True, timeout=PATIENCE, check=False,
                             **nobody)
        self.assertEqual(run.returncode, 1)
        self.assertIn('is not writable', run.stderr)
        self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)

    def test_bad_values(self):
        for flags in (('--index', 'nonsense'), ('--maxmemory-clients', '101%'),
                      ('--maxmemory', '1.5gb'), ('--maxmemory', '-1'),
                      ('--window', '0'), ('--window', 'nan'), ('--cold-backing', 'file:'),
                      ('--protocol', 'x'), ('--hint', 'x'), ('--cold-backing', 'floppy'),
                      ('--cold-threshold', '32'), ('--memory-target', '1X'),
                      ('--memory-target', '1gb', '--manage', 'off'),
                      ('--memory-target', '1gb', '--hint', 'none'),
                      ('--memory-target', '1gb', '--policy', 'published'),
                      ('--port', '-1')):
            with self.subTest(flags=flags):
                self.refused(*flags, status=2)
        self.refused('--bind', '300.1.2.3')
        self.assertIn('--expected-keys', self.refused('--expected-keys', '30000000000', status=2))
        for flags in (('--nonsense',), ('--threads', '0'), ('--threads', 'x'), ('--manage', 'x'),
                      ('--port', '65536'), ('--maxclients', '0'), ('--timeout', '-1'),
                      ('--expected-keys', '-1'), ('word',)):
            with self.subTest(flags=flags):
                said = self.refused(*flags, status=2)
                self.assertIn(flags[0].strip('-'), said)
                self.assertIn('see --help', said)

    def test_addresses_that_the_host_lacks(self):
        elsewhere = '198.51.100.7'  # for documentation: no host has it
        self.assertIn('Cannot assign', self.refused('--bind', '127.0.0.1', elsewhere))
        self.assertIn('none of the addresses', self.refused('--bind', '-' + elsewhere))
        process = self.serve('--bind', '127.0.0.1', '-' + elsewhere, '-::1', '--manage', 'off',
                             '--port', '0')
        said = ''.join(process.said)
        self.assertIn('listening on 127.0.0.1 port ', said)
        self.assertNotIn(elsewhere, said)

    def test_few_descriptors(self):
        self.assertIn('open files', self.refused(**limited(resource.RLIMIT_NOFILE, 16)))
        process = self.serve('--manage', 'off', **limited(resource.RLIMIT_NOFILE, 48))
        said = ''.join(process.said)
        self.assertIn('limit of open files is 48', said)
        most = int(next(line for line in process.said if 'taking' in line).split('taking ')[1]
                   .split()[0])
        many = [self.connect(process.path) for _ in range(most)]
        for each in many:
            self.assertEqual(each.ask('PING'), b'+PONG\r\n')
        beyond = self.connect(process.path)
        self.assertEqual(beyond.reply(), b'-ERR max number of clients reached\r\n')
        self.assertTrue(beyond.is_closed())
        many[0].close()
        until(lambda: self.welcome(process.path))

    def welcome(self, path):
        one = Raw(path)
        try:
            return one.ask('PING') == b'+PONG\r\n'
        except (BrokenPipeError, ConnectionResetError):
            return False  # refused, and closed before it could ask
        finally:
            one.close()

    def test_pid_file(self):
        path = os.path.join(self.scratch(), 'pid')
        process = self.serve('--manage', 'off', '--pidfile', path)
        with open(path, encoding='ascii') as file:
            self.assertEqual(int(file.read()), process.process.pid)
        process.stop()
        self.assertFalse(os.path.exists(path))

    def test_signals_with_clients(self):
        for how in (signal.SIGTERM, signal.SIGINT):
            process = self.serve('--manage', 'on')
            idle, busy = self.connect(process.path), self.connect(process.path)
            busy.socket.sendall(b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1000\r\nhalf of it')
            self.assertEqual(idle.ask('PING'), b'+PONG\r\n')
            status, said, leftover = process.stop(how)
            self.assertEqual(status, 0, said)
            self.assertIn(f'signal {how.value}', said)
            self.assertFalse(leftover)
            self.assertTrue(idle.is_closed())

    def test_the_end_of_a_terminal_is_not_its_end(self):
        process = self.serve('--manage', 'off')
        one = self.connect(process.path)
        self.assertEqual(one.ask('SET', 'k', 'v'), b'+OK\r\n')
        process.process.send_signal(signal.SIGHUP)
        self.assertEqual(one.ask('GET', 'k'), b'$1\r\nv\r\n')
        # A signal that ends it is taken after those sent before.
        status, said, _ = process.stop(signal.SIGTERM)
        self.assertEqual(status, 0, said)
        self.assertIn('signal 15', said)

    def test_passwords_that_are_none(self):
        path = os.path.join(self.scratch(), 'password')
        with open(path, 'w', encoding='ascii') as file:
            file.write('\nbelow the first line\n')
        self.assertIn('holds no password', self.refused('--requirepass-file', path))
        with open(path, 'w', encoding='ascii') as file:
            file.write('x' * 16385)
        self.assertIn('longer than 16384', self.refused('--requirepass-file', path))
        self.assertIn('No such file', self.refused('--requirepass-file', '/nowhere/password'))
        self.assertIn('holds no password', self.refused('--requirepass-file', '-', input=''))
        self.assertIn('holds no password',
                      self.refused(env={**os.environ, 'ISOTHERM_REQUIREPASS': ''}))
        self.refused('--requirepass-file', path, '--requirepass', 'word', status=2)

    def test_nonsensical_windows(self):
        for name, value in (('window', '1e-9'), ('window', 'inf'), ('window', 'nan'),
                            ('target-promotion-rate', 'inf'), ('target-promotion-rate', '-1'),
                            ('min-rest', 'inf'), ('min-rest', 'nan')):
            with self.subTest(name=name, value=value):
                said = self.refused(f'--{name}', value, status=2)
                self.assertIn(name, said)
                self.assertIn('takes a number from', said)
        process = self.serve('--manage', 'track')
        one = self.connect(process.path)
        before = one.ask('ISOTHERM', 'CONFIG')
        for name, value in (('window', '1e-9'), ('window', 'inf'), ('target-promotion-rate', 'inf'),
                            ('target-promotion-rate', '-1'), ('min-rest', 'inf'), ('window', 'x')):
            with self.subTest(name=name, value=value):
                said = one.ask('ISOTHERM', 'CONFIG', 'SET', name, value)
                self.assertTrue(said.startswith(b'-ERR ' + name.encode()), said)
                self.assertIn(b'takes a number from', said)
        self.assertEqual(one.ask('ISOTHERM', 'CONFIG'), before)

    def test_permissions_of_the_unix_socket(self):
        process = self.serve('--manage', 'off', '--unixsocketperm', '600')
        self.assertEqual(os.stat(process.path).st_mode & 0o777, 0o600)
        for mode in ('800', '0', '1000', 'rwx', '-1'):
            self.assertIn('unixsocketperm', self.refused(f'--unixsocketperm={mode}',
                                                         status=2))


class Clients(Case):
    """Clients that are slow, broken or hostile hurt only themselves."""

    def test_protected_mode(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(('192.0.2.1', 9))  # sends nothing; tells this machine's address
            address = probe.getsockname()[0]
        self.assertFalse(address.startswith('127.'), 'this test needs a second address')
        process = self.serve('--bind', '0.0.0.0', '--manage', 'off')
        where = (address, process.port())
        stranger = self.connect(where)
        denied = stranger.reply()
        self.assertTrue(denied.startswith(b'-DENIED '))
        known = subprocess.run([ISOTHERM, 'serve', '--help'], capture_output=True, timeout=60,
                               check=True).stdout
        named = re.findall(rb'--[a-z-]+', denied)
        self.assertTrue(named)
        for flag in named:
            self.assertIn(flag, known)
        self.assertTrue(stranger.is_closed())
        local = self.connect(('127.0.0.1', process.port()))
        self.assertEqual(local.ask('CONFIG', 'SET', 'protected-mode', 'no'), b'+OK\r\n')
        self.assertEqual(self.connect(where).ask('PING'), b'+PONG\r\n')
        self.assertEqual(local.ask('CONFIG', 'SET', 'protected-mode', 'yes'), b'+OK\r\n')
        self.assertEqual(local.ask('CONFIG', 'SET', 'requirepass', 'word'), b'+OK\r\n')
        self.assertTrue(self.connect(where).ask('PING').startswith(b'-NOAUTH'))
        self.assertEqual(local.ask('PING'), b'+PONG\r\n')  # who was in stays in, as in Redis

    def test_password(self):
        process = self.serve('--requirepass', 'word', '--manage', 'off')
        one = self.connect(process.path)
        for words in (('GET', 'k'), ('PING',), ('HELLO', '3')):
            self.assertTrue(one.ask(*words).startswith(b'-NOAUTH'), words)
        self.assertTrue(one.ask('AUTH', 'wrong').startswith(b'-WRONGPASS'))
        self.assertTrue(one.ask('AUTH', 'other', 'word').startswith(b'-WRONGPASS'))
        self.assertEqual(one.ask('AUTH', 'default', 'word'), b'+OK\r\n')
        self.assertEqual(one.ask('PING'), b'+PONG\r\n')
        self.assertEqual(one.ask('RESET'), b'+RESET\r\n')
        self.assertTrue(one.ask('PING').startswith(b'-NOAUTH'))
        self.assertTrue(one.ask('HELLO', '3', 'AUTH', 'default', 'word').startswith(b'%7'))
        # A stranger may send only little.
        for piece in (b'*11\r\n', b'*2\r\n$20000\r\n'):
            stranger = self.connect(process.path)
            stranger.socket.sendall(piece)
            self.assertIn(b'unauthenticated', stranger.reply())
            self.assertTrue(stranger.is_closed())

    def test_where_the_password_comes_from(self):
        path = os.path.join(self.scratch(), 'password')
        with open(path, 'w', encoding='ascii') as file:
            file.write('from a file\r\nand more\n')
        clean = {name: value for name, value in os.environ.items()
                 if name != 'ISOTHERM_REQUIREPASS'}
        variable = {**clean, 'ISOTHERM_REQUIREPASS': 'from the environment'}
        with open(path, encoding='ascii') as opened:
            for flags, more, word in (
                    (('--requirepass-file', path), {'env': variable}, 'from a file'),
                    (('--requirepass-file', '-'), {'env': clean, 'stdin': opened}, 'from a file'),
                    ((), {'env': variable}, 'from the environment'),
                    (('--requirepass', 'seen'), {'env': variable}, 'seen')):
                with self.subTest(flags=flags, word=word):
                    process = self.serve('--manage', 'off', *flags, **more)
                    one = self.connect(process.path)
                    self.assertTrue(one.ask('PING').startswith(b'-NOAUTH'))
                    self.assertEqual(one.ask('AUTH', word), b'+OK\r\n')
                    with open(f'/proc/{process.process.pid}/cmdline', 'rb') as file:
                        self.assertEqual(word.encode() in file.read(), word == 'seen')
                    status, said, _ = process.stop()
                    self.assertEqual(status, 0, said)
                    self.assertEqual('shows the password' in said, word == 'seen')
                    self.assertNotIn(word, said)

    def test_wrong_passwords_are_told(self):
        process = self.serve('--manage', 'off', env={**os.environ, 'ISOTHERM_REQUIREPASS': 'word'})
        one = self.connect(process.path)
        for _ in range(100):
            self.assertTrue(one.ask('AUTH', 'wrong').startswith(b'-WRONGPASS'))
        self.assertEqual(one.ask('AUTH', 'word'), b'+OK\r\n')
        self.assertEqual(info(one, 'stats')['acl_access_denied_auth'], '100')
        _, said, _ = process.stop()
        lines = [line for line in said.splitlines() if 'wrong password' in line]
        self.assertEqual(lines[0], f'isotherm: wrong password from {process.path}:0')
        told = sum(int(line.split()[1]) if 'passwords' in line else 1 for line in lines)
        self.assertEqual(told, 100, said)
        self.assertLess(len(lines), 50)

    def test_idle_clients_go(self):
        process = self.serve('--manage', 'off')
        idle, admin = self.connect(process.path), self.connect(process.path)
        self.assertEqual(idle.ask('PING'), b'+PONG\r\n')
        self.assertEqual(admin.ask('CONFIG', 'SET', 'timeout', 1), b'+OK\r\n')
        self.assertTrue(idle.is_closed())
        self.configure(process, 'timeout', 0)  # a stalled test would look idle
        self.assert_alive(process)

    def test_slow_reader(self):
        process = self.serve('--manage', 'off')
        slow, admin = self.connect(process.path), self.connect(process.path)
        limit = 16 * MIB
        self.assertEqual(admin.ask('CONFIG', 'SET', 'client-output-buffer-limit',
                                   f'normal {limit} 0 0'), b'+OK\r\n')
        self.assertEqual(admin.ask('SET', 'k', b'x' * (4 * MIB)), b'+OK\r\n')
        before = int(info(admin, 'memory')['used_memory_rss'])
        # Requests wait, not replies: what the server holds for the client stays small.
        slow.socket.sendall(b'*2\r\n$3\r\nGET\r\n$1\r\nk\r\n' * 100)
        self.assertEqual(admin.ask('PING'), b'+PONG\r\n')
        self.assertLess(int(info(admin, 'memory')['used_memory_rss']) - before, 64 * MIB)
        for _ in range(100):
            self.assertEqual(len(slow.reply()), 4 * MIB + 12)
        # One reply over the limit ends the client.
        slow.send('MGET', *['k'] * 8)
        self.assertTrue(slow.is_closed())
        self.assertEqual(info(admin, 'stats')['client_output_buffer_limit_disconnections'], '1')
        self.assertIn('unread replies beyond client-output-buffer-limit: closed',
                      process.stop()[1])

    def test_query_buffer_limit(self):
        process = self.serve('--manage', 'off')
        admin, greedy = self.connect(process.path), self.connect(process.path)
        self.assertEqual(admin.ask('CONFIG', 'SET', 'client-query-buffer-limit', MIB), b'+OK\r\n')
        try:
            greedy.send('SET', 'k', b'x' * (4 * MIB))
        except (BrokenPipeError, ConnectionResetError):
            pass  # closed while it was sending
        self.assertTrue(greedy.is_closed())
        self.assertEqual(info(admin, 'stats')['client_query_buffer_limit_disconnections'], '1')
        self.assertEqual(admin.ask('EXISTS', 'k'), b':0\r\n')

    def test_broken_frames_are_answered_as_redis_does(self):
        theirs = start_redis()
        self.addCleanup(theirs.stop)
        process = self.serve('--manage', 'off')
        for piece in (b'*2\r\n$3\r\nGET\r\n$-5\r\n', b'*1000000000000\r\n', b'*x\r\n',
                      b'*1\r\n$99999999999\r\n', b'*2\r\n:3\r\n', b'*2\r\n$3\r\nGET\r\n$x\r\n',
                      b'GET "unbalanced\r\n', b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$536870913\r\n',
                      b'x' * 70000, b'*' + b'1' * 70000, b'*1\r\n$' + b'1' * 70000,
                      b"PING 'a'b\r\n", b'PING "a"b"\r\n', b'POST / HTTP/1.1\r\n\r\n',
                      b'Host: a\r\n', b'GET / HTTP/1.1\r\nHost: a\r\n',
                      b'PING\r\nPOST / HTTP/1.1\r\nPING\r\n'):
            with self.subTest(piece=piece[:60]):
                answers = []
                for server in (process, theirs):
                    one = self.connect(server.path)
                    one.socket.sendall(piece)
                    answers.append(one.file.readline())  # nothing, for what a browser sends
                    self.assertTrue(one.is_closed())
                self.assertEqual(*answers)
        self.assert_alive(process)

    def test_inline_commands_are_read_as_redis_does(self):
        theirs = start_redis()
        self.addCleanup(theirs.stop)
        process = self.serve('--manage', 'off')
        for piece in (b'PING "a b"', b"PING 'a b'", b'PING "a\\x41\\n\\"b"', b"PING 'a\\'b\\n'",
                      b'PING a"b"', b'PING a"b c"', b'PING ""', b'', b'   PING   ', b'\tPING\tx',
                      b'"PING"', b'PING \\x41', b'PING "\\xZZ"', b'PING "\\a\\b\\t"', b'PING \xff',
                      b'PING "a" "b"', b'SET "" ""', b"PING '\\\\'", b'*0', b'*-1', b'$4', b'+PING',
                      b'PING\r', b'PING a\vb', b'\vPING', b'PING \fa', b'PING "a"\vb',
                      b'PING "a"\v', b'PING a\rb', b'*01\r\n$04\r\nPING', b'*1\r\n$0\r\n',
                      b'*1\r\n$4\r\nPING'):
            with self.subTest(piece=piece):
                answers = []
                for server in (process, theirs):
                    one = self.connect(server.path)
                    one.socket.sendall(piece + b'\r\nQUIT\r\n')
                    answers.append(one.file.read())  # until it is closed
                self.assertEqual(*answers)

    def test_half_sent_frames(self):
        process = self.serve('--manage', 'on')
        whole = b'*3\r\n$3\r\nSET\r\n$4\r\nhalf\r\n$5\r\nvalue\r\n'
        for cut in range(1, len(whole)):
            one = Raw(process.path)
            one.socket.sendall(whole[:cut])
            one.close()
        admin = self.connect(process.path)
        self.assertEqual(admin.ask('EXISTS', 'half'), b':0\r\n')
        slow = self.connect(process.path)
        for i in range(len(whole)):  # a byte at a time is a command in the end
            slow.socket.sendall(whole[i:i + 1])
        self.assertEqual(slow.reply(), b'+OK\r\n')
        until(lambda: info(admin, 'clients')['connected_clients'] == '2')

    def test_clients_killed_in_the_middle(self):
        process = self.serve('--manage', 'on')
        script = ('import socket,sys,os,signal\n'
                  's=socket.socket(socket.AF_UNIX);s.connect(sys.argv[1])\n'
                  'm=b"*3\\r\\n$3\\r\\nSET\\r\\n$1\\r\\nk\\r\\n$100000\\r\\n"+b"x"*100000'
                  '+b"\\r\\n"\n'
                  'print("on",flush=True)\n'
                  'while True: s.sendall(m); s.send(b"*2\\r\\n$3\\r\\nGET\\r\\n$1\\r\\nk\\r\\n");'
                  's.recv(1000)\n')
        admin = self.connect(process.path)
        for _ in range(5):
            victim = subprocess.Popen([sys.executable, '-c', script, process.path],
                                      stdout=subprocess.PIPE)
            victim.stdout.readline()
            until(lambda: admin.ask('STRLEN', 'k') == b':100000\r\n')
            victim.kill()
            victim.wait()
            victim.stdout.close()
        self.assertEqual(admin.ask('GET', 'k'), b'$100000\r\n' + b'x' * 100000 + b'\r\n')
        until(lambda: info(admin, 'clients')['connected_clients'] == '1')

    def test_largest_value(self):
        process = self.serve('--manage', 'off')
        one = self.connect(process.path)
        size = 512 * MIB
        piece = bytes(range(256)) * 4096
        one.socket.sendall(b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n' % size)
        for _ in range(size // len(piece)):
            one.socket.sendall(piece)
        one.socket.sendall(b'\r\n')
        self.assertEqual(one.reply(), b'+OK\r\n')
        one.send('GET', 'k')
        self.assertEqual(one.file.readline(), b'$%d\r\n' % size)
        for _ in range(size // len(piece)):
            self.assertEqual(one.file.read(len(piece)), piece)
        self.assertEqual(one.file.read(2), b'\r\n')
        self.assertEqual(one.ask('APPEND', 'k', 'x'),
                         b'-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n')
        self.assertEqual(one.ask('DEL', 'k'), b':1\r\n')
        # Its memory goes without further commands.
        until(lambda: int(info(one, 'memory')['used_memory']) < size // 2)
        one.socket.sendall(b'*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$%d\r\n' % (size + 1))
        self.assertEqual(one.reply(), b'-ERR Protocol error: invalid bulk length\r\n')
        self.assertTrue(one.is_closed())


class ColdHeap(Case):
    """A disk that is full, or a limit that acts as one, costs savings, never data."""

    def cold_figure(self, one, which):
        return int(info(one, 'isotherm')[f'cold_{which}_bytes'])

    def serve_cold(self, directory, *flags, tool=None, **more):
        """Starts a server whose COLD is in `directory`. Objects that are not used leave with the
        next windows."""
        process = start_ours(tool or ISOTHERM, INDEX, '--manage', 'on', '--hint', 'pageout',
                             '--cold-backing', f'file:{directory}', '--policy', 'published',
                             '--cold-threshold', '1', *flags, **more)
        self.addCleanup(process.stop)
        return process

    def let_leave(self, one, keys):
        for i in range(keys):
            self.assertEqual(one.ask('SET', f'k{i}', b'%d' % i * 5000), b'+OK\r\n')
        until(lambda: one.ask('ISOTHERM', 'COLLECT') and self.cold_figure(one, 'file') > 4 * MIB)
        self.assertLess(self.cold_figure(one, 'memory'), 4 * MIB)  # extents that are not full

    def test_killed_it_leaves_no_file(self):
        directory = self.scratch()
        process = self.serve_cold(directory)
        self.let_leave(self.connect(process.path), 1000)
        self.assertEqual(process.stop(signal.SIGKILL)[0], -signal.SIGKILL)
        self.assertEqual(os.listdir(directory), [])

    def test_the_root_of_a_container_may_hold_it(self):
        parts = [os.path.join(self.scratch(), 'part') for _ in range(4)]
        for part in parts:
            os.mkdir(part)
        mount = ('mount -t overlay overlay -o lowerdir=%s,upperdir=%s,workdir=%s %s' %
                 tuple(parts))
        inside = ['unshare', '--map-root-user', '--mount', 'sh', '-c']
        if subprocess.run([*inside, mount], capture_output=True, check=False).returncode:
            self.skipTest('the system mounts no overlayfs for this user')
        tool = os.path.join(self.scratch(), 'tool')
        with open(tool, 'w', encoding='ascii') as file:
            file.write(f'#!/bin/sh\nexec {" ".join(inside)} \'{mount} && exec {ISOTHERM} "$@"\' '
                       'sh "$@"\n')
        os.chmod(tool, 0o755)
        process = self.serve_cold(parts[-1], tool=tool)
        one = self.connect(process.path)
        self.let_leave(one, 1000)
        for i in range(1000):
            self.assertEqual(one.ask('GET', f'k{i}').split(b'\r\n')[1], b'%d' % i * 5000)
        self.assertGreater(int(info(one, 'isotherm')['cold_misses']), 100)

    def test_no_room_for_cold_objects(self):
        process = self.serve_cold(self.scratch(), **limited(resource.RLIMIT_FSIZE, 8 * MIB))
        one = self.connect(process.path)
        values = {f'k{i}': os.urandom(500) * 100 for i in range(400)}  # 20 MB in all
        for key, value in values.items():
            self.assertEqual(one.ask('SET', key, value), b'+OK\r\n')
        problem = until(lambda: info(one, 'isotherm')['problem'])
        self.assertIn('COLD is full', problem)
        self.assertIn('File too large', problem)
        self.assertGreater(int(info(one, 'isotherm')['refused_cold_objects']), 0)
        self.assertIn(b'COLD is full', one.ask('ISOTHERM', 'STATS'))
        self.assertLessEqual(self.cold_figure(one, 'file'), 8 * MIB)
        until(lambda: self.cold_figure(one, 'written') > 0)
        for key, value in values.items():
            self.assertEqual(one.ask('GET', key), b'$50000\r\n' + value + b'\r\n')
        self.assertEqual(one.ask('SET', 'new', 'value'), b'+OK\r\n')
        # Room again: the store says that too.
        self.assertEqual(one.ask('FLUSHALL'), b'+OK\r\n')
        until(lambda: info(one, 'isotherm')['problem'] == '')
        written = self.cold_figure(one, 'written')
        for key, value in list(values.items())[:100]:
            self.assertEqual(one.ask('SET', key, value), b'+OK\r\n')
        until(lambda: self.cold_figure(one, 'written') > written)
        status, said, _ = process.stop()
        self.assertEqual(status, 0, said)
        self.assertEqual(said.count('COLD is full'), 1, said)
        self.assertIn('the problem is over', said)

    def test_what_lies_on_the_disk_does_not_count(self):
        process = self.serve_cold(self.scratch(), '--window', '3600', '--maxmemory', '48mb')
        one = self.connect(process.path)

        def used():
            return int(info(one, 'memory')['used_memory'])
        for i in range(20):  # 100 MB in all
            for n in range(500):
                self.assertEqual(one.ask('SET', f'k{i}-{n}', b'x' * 10000), b'+OK\r\n')
            until(lambda: one.ask('ISOTHERM', 'COLLECT') and used() < 30 * MIB)
        self.assertEqual(one.ask('DBSIZE'), b':10000\r\n')

    def test_the_limit_holds_for_many_small_keys(self):
        """The allocators take far more for such keys than the bytes that were sent."""
        process = self.serve('--manage', 'off', '--maxmemory', '24mb')
        one = self.connect(process.path)
        empty = resident_bytes(process)
        number = 0
        answers = b''
        while b'-OOM' not in answers:
            self.assertLess(number, 2_000_000)
            one.socket.sendall(b''.join(b'*3\r\n$3\r\nSET\r\n$8\r\nk%07d\r\n$1\r\nv\r\n' % n
                                        for n in range(number, number + 1000)))
            answers = b''.join(one.reply() for _ in range(1000))
            number += 1000
        self.assertLess(int(info(one, 'memory')['used_memory']), 36 * MIB)
        self.assertLess(resident_bytes(process) - empty, 36 * MIB)

    def test_memory_target(self):
        process = self.serve('--memory-target', '128mb', **limited(resource.RLIMIT_FSIZE, 16 * MIB))
        one = self.connect(process.path)
        number = 0
        while (answer := one.ask('SET', f'k{number}', b'x' * MIB)) == b'+OK\r\n':
            number += 1
            self.assertLess(number, 150)
        self.assertTrue(answer.startswith(b'-OOM command not allowed when DRAM'), answer)
        self.assertEqual(one.ask('GET', 'k0')[:10], b'$1048576\r\n')
        self.assertEqual(info(one, 'stats')['refused_writes'], '1')
        until(lambda: info(one, 'memory')['memory_target_bytes'] == str(128 * MIB))
        self.assertEqual(one.ask('FLUSHALL'), b'+OK\r\n')
        until(lambda: one.ask('SET', 'k', 'v') == b'+OK\r\n')

    def test_the_end_reads_no_cold_record_back(self):
        process = self.serve_cold(self.scratch(), '--window', '3600')
        one = self.connect(process.path)
        empty = resident_bytes(process)  # the program and its libraries
        for i in range(4000):
            self.assertEqual(one.ask('SET', f'k{i}', b'x' * 5000), b'+OK\r\n')
        self.assertGreater(resident_bytes(process) - empty, 15 * MIB)
        # The command runs a window at once.
        until(lambda: one.ask('ISOTHERM', 'COLLECT') and
              resident_bytes(process) - empty < 5 * MIB)

        def read_of_disks():
            return resource.getrusage(resource.RUSAGE_CHILDREN).ru_inblock * 512

        reaped = read_of_disks()
        with open(f'/proc/{process.process.pid}/io', encoding='ascii') as file:
            before = next(int(line.split()[1]) for line in file if line.startswith('read_bytes'))
        status, said, _ = process.stop()
        self.assertEqual(status, 0, said)
        self.assertLess(read_of_disks() - reaped - before, 2 * MIB)


if __name__ == '__main__':
    unittest.main(verbosity=1)
