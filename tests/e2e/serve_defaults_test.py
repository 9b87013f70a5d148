#!/usr/bin/env python3
"""isotherm serve without flags: where cold bytes lie, and what is told of that at the start.

    serve_defaults_test.py ISOTHERM INDEX
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

from serve_process import PATIENCE, Raw, open_files, start_ours

ISOTHERM, INDEX = sys.argv.pop(1), sys.argv.pop(1)
CLEAN = {name: value for name, value in os.environ.items() if name != 'STATE_DIRECTORY'}


class Defaults(unittest.TestCase):
    def serve(self, *flags, tool=ISOTHERM, environment=None, **more):
        process = start_ours(tool, INDEX, *flags, env={**CLEAN, **(environment or {})}, **more)
        self.addCleanup(process.stop)
        return process, [line.rstrip() for line in process.said if 'cold' in line]

    def parameters(self, process):
        one = Raw(process.path)
        self.addCleanup(one.close)
        words = one.ask('ISOTHERM', 'CONFIG').decode().split('\r\n')
        return {name: words[words.index(name) + 2] for name in ('cold-backing', 'hint', 'window')}

    def scratch(self):
        directory = tempfile.mkdtemp(prefix='isotherm-e2e-', dir='/var/tmp')
        self.addCleanup(shutil.rmtree, directory)
        return directory

    def assert_in(self, directory, state_directory, *refused):
        """COLD's file is in `directory`, whatever of $STATE_DIRECTORY was refused before."""
        environment = {'STATE_DIRECTORY': state_directory} if state_directory else {}
        process, told = self.serve(environment=environment)
        chosen = self.parameters(process)
        self.assertEqual(chosen['cold-backing'], f'file:{directory}')
        self.assertEqual(chosen['hint'], 'pageout')
        for line, reason in zip(told, refused):
            self.assertIn(reason, line)
        self.assertIn(f'an unlinked file in {directory}, of which nothing stays behind',
                      told[len(refused)])
        for line in told[len(refused) + 1:]:
            self.assertIn('less than', line)  # a small disk
        files = open_files(process).values()
        self.assertTrue(any(name.startswith(f'{directory}/') and name.endswith('(deleted)')
                            for name in files), files)

    def test_without_a_word(self):
        self.assert_in('/var/tmp', None)

    def test_the_services_own_directory(self):
        own = self.scratch()
        self.assert_in(own, own)
        self.assert_in(own, f'{own}:/nowhere')
        self.assertEqual(os.listdir(own), [])

    def test_own_directory_that_cannot_take_it(self):
        self.assert_in('/var/tmp', '/dev/shm', "'/dev/shm' is on tmpfs")
        self.assert_in('/var/tmp', '/nowhere', "'/nowhere' does not exist")

    def test_own_directory_that_is_closed(self):
        # Permissions do not bind root, so root runs the server as a user whom they bind.
        scratch = self.scratch()
        os.chmod(scratch, 0o755)
        tool, closed = os.path.join(scratch, 'isotherm'), os.path.join(scratch, 'closed')
        shutil.copy(ISOTHERM, tool)
        os.mkdir(closed, 0o555)
        nobody = {'user': 65534, 'group': 65534} if os.geteuid() == 0 else {}
        _, told = self.serve(tool=tool, environment={'STATE_DIRECTORY': closed}, **nobody)
        self.assertIn(f"'{closed}' is not writable", told[0])
        self.assertIn('an unlinked file in /var/tmp', told[1])

    def test_what_is_said_wins(self):
        own = self.scratch()
        process, told = self.serve('--cold-backing', f'file:{own}', '--hint', 'cold', '--window',
                                   '7', environment={'STATE_DIRECTORY': '/nowhere'})
        self.assertEqual(self.parameters(process),
                         {'cold-backing': f'file:{own}', 'hint': 'cold', 'window': '7'})
        self.assertIn(f'an unlinked file in {own},', told[0])

    def test_anonymous_memory_on_demand(self):
        with open('/proc/meminfo', encoding='ascii') as file:
            swap = int(next(line for line in file if line.startswith('SwapTotal')).split()[1])
        process, told = self.serve('--cold-backing', 'anon')
        self.assertEqual(self.parameters(process)['hint'], 'pageout' if swap else 'none')
        self.assertEqual(len(told), 1)
        self.assertIn('leave DRAM for swap' if swap else 'stay in DRAM', told[0])
        process, _ = self.serve('--cold-backing', 'anon', '--hint', 'pageout')
        self.assertEqual(self.parameters(process)['hint'], 'pageout')

    def test_no_place_is_needed_where_nothing_moves(self):
        for manage in ('off', 'track'):
            _, told = self.serve('--manage', manage, environment={'STATE_DIRECTORY': '/nowhere'})
            self.assertEqual(told, [])

    def test_the_window(self):
        told = subprocess.run([ISOTHERM, 'serve', '--help'], capture_output=True, text=True,
                              timeout=PATIENCE, check=True).stdout
        self.assertIn('--window SECONDS=10 ', told)


if __name__ == '__main__':
    unittest.main(verbosity=1)
