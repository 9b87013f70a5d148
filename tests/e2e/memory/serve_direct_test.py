#!/usr/bin/env python3
"""isotherm serve with COLD in slow memory. The memory node 0, which every machine has, stands for
a slow node, and tmpfs for a file system with DAX.

    serve_direct_test.py ISOTHERM
"""

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from serve_case import MIB, Case, until  # noqa: E402

Case.tool, Case.index = sys.argv.pop(1), 'hash-pugh'
TARGET = 96 * MIB
VALUE = 1000
KEYS = 120_000


class Direct(Case):
    def figure(self, one, name):
        """A figure of ISOTHERM STATS as text."""
        lines = one.ask('ISOTHERM', 'STATS').decode().split('\r\n')
        value = lines[lines.index(name) + 1]
        return lines[lines.index(name) + 2] if value[0] == '$' else value[1:]

    def fill(self, one):
        for first in range(0, KEYS, 100):
            for key in range(first, first + 100):
                one.send('SET', key, f'{key:x}'.rjust(VALUE, 'v'))
            for _ in range(100):
                self.assertEqual(one.reply(), b'+OK\r\n')

    def assert_serves(self, backing, *flags):
        process = self.serve('--cold-backing', backing, '--memory-target', '96mb', *flags)
        one = self.connect(process.path)
        self.fill(one)
        for key in range(0, KEYS, 7):
            value = f'{key:x}'.rjust(VALUE, 'v')
            self.assertEqual(one.ask('GET', key), f'${VALUE}\r\n{value}\r\n'.encode())
        self.assertLess(int(self.figure(one, 'dram_bytes')), TARGET + 4 * MIB)
        self.assertGreater(int(self.figure(one, 'rss_bytes')), KEYS * VALUE)
        self.assertEqual(self.figure(one, 'problem'), '')
        self.assertEqual(int(self.figure(one, 'failed')), 0)
        return process

    def test_a_memory_node(self):
        process = self.assert_serves('node:0', '--hot-node', '0')
        self.assertIn('cold bytes leave DRAM for memory node 0', ''.join(process.said))

    def test_memory_behind_a_path_that_nothing_is_left_of(self):
        before = os.listdir('/dev/shm')
        process = self.assert_serves('dax:/dev/shm')
        self.assertIn("cold bytes leave DRAM for memory behind '/dev/shm'", ''.join(process.said))
        process.process.kill()
        process.stop()
        self.assertEqual(os.listdir('/dev/shm'), before)

    def test_used_records_come_back(self):
        process = self.serve('--cold-backing', 'node:0', '--policy', 'published',
                             '--cold-threshold', '1')
        one = self.connect(process.path)
        one.ask('SET', 'k', 'v' * VALUE)
        until(lambda: self.figure(one, 'demoted_objects') != '0')
        self.assertEqual(one.ask('GET', 'k')[-VALUE - 2:], b'v' * VALUE + b'\r\n')
        until(lambda: self.figure(one, 'promoted_objects') != '0')
        self.assertEqual(one.ask('GET', 'k')[-VALUE - 2:], b'v' * VALUE + b'\r\n')

    def test_the_write_budget_is_told_and_kept(self):
        # An emulated device of 0.8 MB/s or so.
        process = self.serve('--cold-backing', 'node:0', '--policy', 'published', '--window', '1',
                             '--cold-threshold', '1', '--cold-profile', 'emu:pmem@1/4096')
        self.assertRegex(''.join(process.said), r'writes to cold memory: [\d.]+ MB/s at most')
        one = self.connect(process.path)
        self.fill(one)
        until(lambda: int(self.figure(one, 'held_back')) > 0)

    def test_mistakes_are_refused_in_a_line(self):
        for backing, words in (('node:1023', 'there is no memory node 1023; nodes with memory'),
                               ('node:x', 'names no memory node: give a number'),
                               ('dax:/nowhere', 'does not exist: name a DAX device'),
                               ('dax:/dev/null', 'is no DAX device'),
                               ('dax:/etc/passwd', 'is neither a DAX device nor a directory'),
                               ('dax:/proc', 'isotherm: ')):
            with self.subTest(backing=backing):
                self.assertIn(words, self.refused('--cold-backing', backing))
        self.assertIn('there is no memory node 1023', self.refused('--hot-node', '1023'))

    def test_flags_that_do_not_fit_are_refused(self):
        for flags, words in (
                (('--cold-backing', 'node:0', '--hint', 'cold'), '--hint has no meaning'),
                (('--cold-profile', 'emu:pmem'), '--cold-profile goes with --cold-backing'),
                (('--cold-backing', 'node:0', '--cold-profile', 'emu:x'), 'no emulated device'),
                (('--cold-backing', 'node:0', '--cold-profile', '/nowhere'), '/nowhere'),
                (('--hot-node', '0', '--manage', 'off'), '--hot-node needs --manage'),
                (('--hot-node', '-1'), '--hot-node')):
            with self.subTest(flags=flags):
                self.assertIn(words, self.refused(*flags, status=2))

    def test_a_profile_that_is_none_is_refused(self):
        with tempfile.NamedTemporaryFile('w', suffix='.json') as file:
            file.write('{}')
            file.flush()
            self.refused('--cold-backing', 'node:0', '--cold-profile', file.name, status=2)


if __name__ == '__main__':
    unittest.main(verbosity=1)
