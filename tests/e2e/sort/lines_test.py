#!/usr/bin/env python3
"""isotherm sort of lines, by the words of GNU sort.

    lines_test.py ISOTHERM
"""

import gzip
import itertools
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
        self.assertEqual(sort('-m', one, two).stdout, wanted)
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

    def test_leaves_header_lines_in_front(self):
        at = self.at / 'lines'
        head = [b'name,number\n', b'z' * 100000 + b'\n']
        lines = [b'%d,a line\n' % (n * 7919 % 3000) for n in range(3000)]
        for some, flags in itertools.product(
                (lines, sorted(lines), sorted(lines)[::-1], lines[:1], []),
                ([], ['-r'], ['-u'], ['--memory', '32mb', '--algorithm', 'mergepass'],
                 ['--top', '9'], ['-n'])):
            at.write_bytes(b''.join(head + some))
            at.with_name('rest').write_bytes(b''.join(some))
            rest = sort(*flags, at.with_name('rest')).stdout
            for given in ([at], ['-']):
                told = sort('--header', '2', '--verify', *flags, *given, given=at.read_bytes())
                self.assertTrue(told.stdout == b''.join(head) + rest, (flags, told.stderr))
        for text, flags, wanted in ((b'b\na', ['--header', '9'], b'b\na\n'),
                                    (b'b\na', ['--header', '9', '-u'], b'b\na\n'),
                                    (b'b\na\na', ['--header', '1', '--count'], b'b\n2\ta\n'),
                                    (b'', ['--header', '1'], b'')):
            self.assertEqual(sort(*flags, given=text).stdout, wanted)
        told = sort('-c', '--header', '1', given=b'b\na\nc\nb\n')
        self.assertEqual((told.returncode, told.stderr), (1, b'isotherm: -:4: disorder: b\n'))

    def test_leaves_out_the_headers_of_other_inputs(self):
        one, two, none = self.at / 'one', self.at / 'two', self.at / 'none'
        none.write_bytes(b'')
        one.write_bytes(b'name\n----\npear\nfig')
        two.write_bytes(b'NAME\n####\nplum\napple\n')
        for words, wanted in (([one, two], b'name\n----\napple\nfig\npear\nplum\n'),
                              ([none, two, one], b'NAME\n####\napple\nfig\npear\nplum\n'),
                              (['--memory', '32mb', '-r', one, two, none],
                               b'name\n----\nplum\npear\nfig\napple\n'),
                              (['--top', '1', '-', two], b'x\napple\n')):
            told = sort('--header', '2', *words, given=b'x')
            self.assertEqual(told.stdout, wanted, (words, told.stderr))
        two.write_bytes(gzip.compress(b'h' * 3000000 + b'\0h\0b\0a'))
        one.write_bytes(b'1\0002\0c')
        self.assertEqual(sort('-z', '--header', '2', one, two).stdout, b'1\0002\0a\0b\0c\0')

    def test_says_where_the_input_is_out_of_order(self):
        at = self.at / 'lines'
        for given, flags, number in ((b'a\nb\nb\n', [], 0), (b'a\nc\nb', [], 3),
                                     (b'a\nb\nb\n', ['-u'], 3), (b'9\n10\n', ['-n'], 0),
                                     (b'b 1\na 1\n', ['-k', '2,2'], 2), (b'', [], 0),
                                     (b'b 1\na 1\n', ['-s', '-k', '2,2'], 0),
                                     (b'b\0a\0', ['-z', '-r'], 0), (b'a\0b\0', ['-z', '-r'], 2),
                                     (b'\n\n', ['-u', '-R'], 2), (b'\n\n', ['-r', '-R'], 0),
                                     (b'9\n' * 20000 + b'8\n', [], 20001)):
            at.write_bytes(given)
            gnu = subprocess.run(['sort', '-c', *flags, at], env={'LC_ALL': 'C'},
                                 capture_output=True, check=False)
            told = sort('-c', *flags, at)
            self.assertEqual(told.returncode, gnu.returncode, (given[:9], flags, told.stderr))
            self.assertEqual(told.returncode, 1 if number else 0)
            wanted = gnu.stderr.replace(b'sort: ', b'isotherm: ').replace(b'\0', b'\n')
            self.assertEqual(told.stderr, wanted)
            told = sort('-C', *flags, at)
            self.assertEqual((told.returncode, told.stderr), (gnu.returncode, b''))
            self.assertEqual(sort('-C', *flags, given=given).returncode, gnu.returncode)
            for word in ('quiet', 'silent', 'diagnose-first'):
                again = sort(f'--check={word}', *flags, at)
                self.assertEqual((again.returncode, again.stderr),
                                 (gnu.returncode, wanted if word == 'diagnose-first' else b''))
        self.assertEqual(sort('--check', '-C', '--check=quiet', given=b'a\n').returncode, 0)
        for flags in (['--check=loud', at], ['-c', '-C', at], ['-c', at, at], ['-c', at, '-o', at],
                      ['-c', self.at / 'none']):
            told = sort(*flags)
            self.assertEqual((told.returncode, told.stderr.count(b'\n')), (2, 1), (flags, told))
        at.write_bytes(b'aabbab')
        told = sort('-c', '--record', '2', '--key-size', '2', at)
        self.assertEqual((told.returncode, told.stderr),
                         (1, f'isotherm: {at}: disorder: record 3\n'.encode()))


if __name__ == '__main__':
    unittest.main()
