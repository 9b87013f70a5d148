#!/usr/bin/env python3
"""The DRAM that isotherm serve takes: whose it is, and that it is given back.

    serve_memory_test.py ISOTHERM
"""

import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from serve_case import Case, MIB, until  # noqa: E402
from serve_process import info  # noqa: E402

Case.tool, Case.index = sys.argv.pop(1), 'hash-pugh'


class Memory(Case):
    def test_a_target_that_the_program_does_not_fit_into(self):
        said = self.refused('--memory-target', '16mb')
        self.assertRegex(said, r'the program alone takes \d+: give \d+ or more')

    def test_another_allocator(self):
        allocator = os.environ['ISOTHERM_TEST_MALLOC']
        self.assertTrue(os.path.exists(allocator),
                        f'{allocator} is not there: build the target preloaded_malloc')
        preloaded = {'env': {**os.environ, 'LD_PRELOAD': allocator}}
        said = self.refused('--manage', 'off', '--maxmemory', '64mb', **preloaded)
        self.assertIn('LD_PRELOAD', said)
        admin = self.connect(self.serve('--manage', 'off', **preloaded).path)
        self.assertIn(b'another allocator', admin.ask('CONFIG', 'SET', 'maxmemory', '64mb'))
        self.assertEqual(admin.ask('CONFIG', 'SET', 'maxmemory', '0'), b'+OK\r\n')

    def test_a_burst_of_clients_leaves_nothing_behind(self):
        process = self.serve('--manage', 'on', '--memory-target', '64mb', '--window', '0.5')
        admin = self.connect(process.path)
        value = b'v' * 1000
        for i in range(60_000):
            self.assertEqual(admin.ask('SET', f'k:{i}', value), b'+OK\r\n')
        burst = [self.connect(process.path) for _ in range(300)]
        for number, client in enumerate(burst):
            client.socket.sendall(b''.join(
                b'*2\r\n$3\r\nGET\r\n$%d\r\n%s\r\n' % (len(key), key)
                for key in (b'k:%d' % (i * 997 % 60_000)
                            for i in range(50 * number, 50 * number + 50))))
        for client in burst:
            for _ in range(50):
                self.assertEqual(client.reply(), b'$1000\r\n%s\r\n' % value)
            client.close()
        self.assertEqual(info(admin, 'stats')['evicted_clients'], '0')
        until(lambda: int(info(admin, 'memory')['dram_clients']) < MIB)
        until(lambda: int(info(admin, 'memory')['used_memory_rss']) < 68 * MIB)
        until(lambda: admin.ask('SET', 'k:0', value) == b'+OK\r\n')

    def test_the_parts_of_dram_add_up(self):
        process = self.serve('--manage', 'on')
        admin = self.connect(process.path)
        for i in range(2_000):
            self.assertEqual(admin.ask('SET', f'k:{i}', b'v' * 1000), b'+OK\r\n')
        memory = info(admin, 'memory')
        parts = {name: int(memory[f'dram_{name}'])
                 for name in ('data', 'index_nodes', 'clients', 'allocator', 'rest')}
        self.assertAlmostEqual(sum(parts.values()), int(memory['used_memory_rss']), delta=MIB)
        self.assertGreater(parts['data'], 2 * MIB)
        self.assertGreater(parts['clients'], 0)
        self.assertGreater(parts['rest'], 0)


if __name__ == '__main__':
    unittest.main(verbosity=1)
