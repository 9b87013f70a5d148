#!/usr/bin/env python3
"""An event stream whose client never reads, until the sockets are full.

    stalled_stream_test.py ISOTHERM

Runs in a network namespace of its own, where sockets hold little: elsewhere they take minutes of
events. Needs root, or a system that lets users have namespaces.
"""

import os
import pathlib
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from serve_process import PATIENCE, Raw, start_ours

ISOTHERM = sys.argv[1]
APART = 'ISOTHERM_TEST_IS_APART'
REQUEST = b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n'


class Stalled(unittest.TestCase):
    def connect(self):
        connection = socket.socket()
        self.addCleanup(connection.close)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        connection.settimeout(PATIENCE)
        connection.connect(('127.0.0.1', self.port))
        return connection

    def unsent_bytes(self, client):
        """Returns the bytes that the server's end of the connection holds for `client`; None: the
        server has closed it."""
        wanted = f':{client.getsockname()[1]:04X}'
        for line in pathlib.Path('/proc/net/tcp').read_text(encoding='ascii').splitlines()[1:]:
            words = line.split()
            if words[2].endswith(wanted) and words[3] == '01':  # established
                return int(words[4].split(':')[0], 16)
        return None

    def test_costs_its_connection_and_nobody_else_anything(self):
        process = start_ours(ISOTHERM, 'hash-pugh', '--http', ':0', '--window', '3600')
        self.addCleanup(process.stop)
        url = next(line.split()[-1] for line in process.said if line.startswith('live page at'))
        self.port = int(url.rstrip('/').rpartition(':')[2])
        client = Raw(process.path)
        self.addCleanup(client.close)
        stalled, reading = self.connect(), self.connect()
        for each in (stalled, reading):
            each.sendall(REQUEST)
        fullest, events = 0, 0
        deadline = time.monotonic() + PATIENCE
        while (unsent := self.unsent_bytes(stalled)) is not None:
            self.assertLess(time.monotonic(), deadline)
            fullest = max(fullest, unsent)
            events += reading.recv(1 << 16).count(b'data: ')  # others have theirs meanwhile
            self.assertEqual(client.ask('PING'), b'+PONG\r\n')
        self.assertGreater(fullest, 0)
        self.assertGreater(events, 5)
        following = self.connect()
        following.sendall(REQUEST)
        self.assertIn(b'200 OK', following.recv(100))


def run_apart():
    """This program again, in a namespace of its own. Its exit status, or None: there is none."""
    mine = [] if os.geteuid() == 0 else ['--user', '--map-root-user']
    command = ['unshare', *mine, '--net', 'sh', '-c',
               'ip link set lo up && echo "4096 4096 4096" > /proc/sys/net/ipv4/tcp_wmem && '
               'exec "$@"', 'sh']
    if subprocess.run([*command, 'true'], capture_output=True, check=False).returncode != 0:
        return None
    return subprocess.run([*command, sys.executable, '-B', *sys.argv], check=False,
                          env={**os.environ, APART: '1'}).returncode


if __name__ == '__main__':
    if APART not in os.environ:
        status = run_apart()
        if status is None:
            print('skipped: there are no network namespaces here, or no ip(8)')
        sys.exit(0 if status is None else status)
    unittest.main(argv=sys.argv[:1], verbosity=1)
