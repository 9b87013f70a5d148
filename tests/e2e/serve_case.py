"""The base that tests of a running server have in common."""

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
import unittest

from serve_process import PATIENCE, Raw, start_ours

MIB = 1 << 20


def until(found, seconds=PATIENCE):
    """Waits until `found` returns a value, and returns that. Fails if none comes within the bound.

    The state of a server in another process gives no signal to wait for, so that this asks again
    and again. The one pause of the tests lies between two questions: it never ends the wait."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if value := found():
            return value
        time.sleep(0.02)  # leaves the processor to the server; the condition alone ends the wait
    raise AssertionError(f'nothing happened within {seconds} seconds')


class Case(unittest.TestCase):
    """Servers with one index, which end with the test."""
    tool = index = None  # a script sets them from its command line

    def serve(self, *flags, **more):
        process = start_ours(self.tool, self.index, *flags, **more)
        self.addCleanup(process.stop)
        return process

    def connect(self, where):
        connection = Raw(where)
        self.addCleanup(connection.close)
        return connection

    def scratch(self):
        directory = tempfile.mkdtemp(prefix='isotherm-e2e-')
        self.addCleanup(shutil.rmtree, directory)
        return directory

    def configure(self, process, name, value):
        """Sets an option, by one connection after the other while the server closes them."""
        def is_set():
            with contextlib.closing(Raw(process.path)) as one:
                try:
                    return one.ask('CONFIG', 'SET', name, value) == b'+OK\r\n'
                except ConnectionError:  # the server took it for idle: the next one asks again
                    return False
        until(is_set)

    def assert_alive(self, process):
        one = Raw(process.path)
        self.assertEqual(one.ask('PING'), b'+PONG\r\n')
        one.close()

    def refused(self, *flags, status=1, **more):
        port = [] if '--port' in flags else ['--port', '0']
        run = subprocess.run([self.tool, 'serve', *port, *flags], capture_output=True, text=True,
                             timeout=PATIENCE, check=False, **more)
        said = run.stderr
        self.assertEqual(run.returncode, status, said)
        self.assertEqual(len(said.splitlines()), 1, said)
        self.assertTrue(said.startswith('isotherm: '), said)
        self.assertNotIn('Ready', run.stdout)
        return said
