#!/usr/bin/env python3
"""isotherm sort of lines, by the words of GNU sort.

    lines_test.py ISOTHERM
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ISOTHERM = sys.argv.pop(1)


def sort(*words, given=b''):
    return subprocess.run([ISOTHERM, 'sort', *words], input=given, capture_output=True, timeout=600,
                          check=False)


class SortLines(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def test_a_text_is_lines_whatever_its_size(self):
        text = [b'%03d a line\n' % n for n in range(199, 99, -1)] + [b'x' * 99 + b'\n']
        self.assertEqual(len(b''.join(text)) % 100, 0)
        self.assertEqual(sort(given=b''.join(text)).stdout, b''.join(sorted(text)))

    def test_sorts_several_inputs_together(self):
        one, two = self.at / 'one', self.at / 'two, and more'
        one.write_bytes(b'pear\nfig')
        two.write_bytes(b'apple\nplum\n')
        wanted = b'apple\nfig\npear\nplum\n'
        self.assertEqual(sort(one, two).stdout, wanted)
        self.assertEqual(sort(one, '-', given=two.read_bytes()).stdout, wanted)
        told = sort(one, two, '-o', one)
        self.assertEqual((told.returncode, one.read_bytes()), (0, wanted), told.stderr)
        told = sort(one, two, '--explain', '--device', 'emu:pmem')
        self.assertEqual(told.returncode, 2)
        self.assertIn(b'one input', told.stderr)

    def test_sorts_records_of_several_inputs(self):
        one, two = self.at / 'one', self.at / 'two'
        one.write_bytes(b'ddccbb')
        two.write_bytes(b'aa')
        flags = ('--record', '2', '--key-size', '2')
        self.assertEqual(sort(*flags, one, two).stdout, b'aabbccdd')
        one.write_bytes(b'ddc')
        two.write_bytes(b'aab')
        told = sort(*flags, one, two)
        self.assertEqual((told.returncode, told.stdout), (1, b''))
        self.assertIn(b'no multiple of the record of 2', told.stderr)


if __name__ == '__main__':
    unittest.main()
