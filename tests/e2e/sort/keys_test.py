#!/usr/bin/env python3
"""Keys of isotherm sort, on random lines: their order is that of GNU sort.

    keys_test.py ISOTHERM [SEED]
"""

import itertools
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import unittest

ISOTHERM = sys.argv.pop(1)
SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 else random.randrange(1 << 32)
CASES = 150
METHODS = ([], ['--memory', '32mb', '--algorithm', 'mergepass'], ['--algorithm', 'onepass'])
MONTHS = 'jan FEB mar Apr MAY jun Jul AUG SEPT oct nov december foo'.split()
FLOATS = '1e3 -1e-400 inf -inf 0x1f 1e4000 -1e5000 1.5e-4940 1e infinity'.split()
NUMBERS = '- --5 -.5 .5 5. 00 -0 0.0 +3'.split() + ['', '  7', '\t-3']
NAMES = ['a', 'b', 'abc', 'v', 'pkg-', '.', '..', '.a', 'a.', '~', 'a~']
VERSIONS = ['', '1', '10', '9', '01', '1.2', '1.10', '1.9~', '1.9', '0', '00']
SUFFIXES = ['', '.tar.gz', '.txt', '~', '.c', '.tar.gz~', '.7z', '.a1']


def run(*words, given=b''):
    return subprocess.run(words, input=given, capture_output=True, timeout=600, check=False,
                          env={**os.environ, 'LC_ALL': 'C'})


class Lines:
    """Makes lines and flags."""

    def __init__(self, seed):
        self.r = random.Random(seed)

    def word(self):
        r = self.r
        sign = r.choice(['', '-'])
        return r.choice([
            lambda: r.choice(MONTHS),
            lambda: str(r.randrange(-20, 20)),
            lambda: f'{sign}{r.choice(["", "0", "+"])}{r.randrange(200)}.{r.randrange(100)}',
            lambda: f'{sign}{r.randrange(10**r.randrange(1, 90))}.{r.randrange(10**9)}',
            lambda: f'{sign}{r.randrange(20)}{r.choice(["", ".5", "."])}{r.choice("kKMGTPEZYm ")}',
            lambda: f'{sign}.{"0" * r.randrange(70)}{r.randrange(30)}',
            lambda: r.choice(FLOATS),
            lambda: r.choice(NUMBERS),
            lambda: r.choice(NAMES) + r.choice(VERSIONS) + r.choice(SUFFIXES),
            lambda: ''.join(r.choice('abABz_.-!Z019 ') for _ in range(r.randrange(8))),
            lambda: ''.join(r.choice('\0\1\2\3Aa0\x7f\x80\xc8\xfe') for _ in range(r.randrange(6))),
            lambda: 'a' * r.randrange(20) + r.choice('abA1'),
            lambda: ''.join(r.choice('ab') for _ in range(r.randrange(4))),
        ])()

    def letters(self):
        kind = self.r.choice(['n', 'g', 'h', 'M', 'V', ''])
        return kind + ('rbf' if kind and kind in 'nghM' else 'rbfdi')

    def place(self, letters, least_char):
        r = self.r
        place = str(r.randrange(1, 5))
        if r.random() < .4:
            place += f'.{r.randrange(least_char, 6)}'
        some = r.sample(letters, r.randrange(len(letters) + 1)) if r.random() < .5 else []
        return place + ''.join(some)

    def flags(self, separator):
        r = self.r
        flags = [] if separator is None else ['-t', {'\0': '\\0'}.get(separator, separator)]
        for _ in range(r.choice([0, 1, 1, 1, 2, 3])):
            letters = self.letters()
            end = ',' + self.place(letters, 0) if r.random() < .7 else ''
            flags += ['-k', self.place(letters, 1) + end]
        flags += [f'-{r.choice(self.letters())}'] if r.random() < .4 else []
        return flags + [flag for flag in ('-r', '-b', '-f', '-s', '-u') if r.random() < .2]

    def text(self, separator, end):
        r = self.r
        between = separator if separator and r.random() < .8 else r.choice([' ', '\t', '  ', ' \t'])
        pool = [self.word() for _ in range(r.choice([5, 30, 200]))]
        lines = (between.join(r.choice(pool) for _ in range(r.randrange(5))).replace(end, '')
                 for _ in range(r.choice([0, 1, 5, 50, 400, 3000])))
        return (end.join(lines) + r.choice([end, ''])).encode('latin1')


class SortKeys(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.file = pathlib.Path(self.folder.name) / 'lines'

    def test_order_lines_as_gnu_sort_does(self):
        compared = 0
        for seed in range(SEED, SEED + CASES):
            lines = Lines(seed)
            separator = lines.r.choice([None, None, ',', '\t', ' ', 'a', '\0'])
            end = lines.r.choice('\n\n\n\0')
            flags = lines.flags(separator) + (['-z'] if end == '\0' else [])
            self.file.write_bytes(lines.text(separator, end))
            wanted = run('sort', *flags, self.file)
            told = run(ISOTHERM, 'sort', '--verify', *lines.r.choice(METHODS), *flags, self.file)
            with self.subTest(seed=seed, flags=flags, told=told.stderr):
                self.assertEqual(told.returncode, wanted.returncode)
                self.assertTrue(told.stdout == wanted.stdout)
            compared += wanted.returncode == 0
        self.assertGreater(compared, CASES / 2)

    def test_order_each_kind_of_text_as_gnu_sort_does(self):
        words = [''.join(parts) for parts in itertools.product(NAMES, VERSIONS, SUFFIXES)]
        words += [sign + n + unit for sign in ('', '-') for n in (*NUMBERS, '1', '12.50', '12.5')
                  for unit in ('', *'kKMGTPEZYm')]
        words += MONTHS + FLOATS + [f'-{word}' for word in FLOATS]
        random.Random(SEED).shuffle(words)
        self.file.write_text('\n'.join(words), encoding='ascii')
        for kind, also in itertools.product('nghVM', ('s', 'su', 'r', 'f')):
            flags = f'-{kind}{also}'
            with self.subTest(seed=SEED, flags=flags):
                self.assertEqual(run(ISOTHERM, 'sort', flags, self.file).stdout,
                                 run('sort', flags, self.file).stdout)

    def test_no_number_goes_before_nan_and_nan_before_numbers(self):
        told = run(ISOTHERM, 'sort', '-g', given=b'-inf\nnan\nx\n-1e5000\n')
        self.assertEqual(told.stdout, b'x\nnan\n-1e5000\n-inf\n')

    def test_random_order_keeps_equal_keys_together(self):
        given = b''.join(b'%d %d\n' % (n % 50, n) for n in range(1000))
        orders = set()
        for _ in range(4):
            told = run(ISOTHERM, 'sort', '-R', '-k', '1,1', given=given).stdout.splitlines(True)
            self.assertEqual(sorted(told), sorted(given.splitlines(True)))
            keys = [line.split()[0] for line in told]
            firsts = [key for before, key in zip([None, *keys], keys) if before != key]
            self.assertEqual(len(firsts), 50)
            orders.add(tuple(firsts))
        self.assertGreater(len(orders), 1)

    def test_words_name_orders(self):
        lines = Lines(SEED)
        given = lines.text(None, '\n')
        words = ['numeric', 'general-numeric', 'human-numeric', 'month', 'version']
        for word, more in itertools.product(words, ([], ['-r'], ['-k', '2,2'])):
            wanted = run('sort', f'--sort={word}', *more, given=given)
            told = run(ISOTHERM, 'sort', f'--sort={word}', *more, given=given)
            self.assertTrue(told.stdout == wanted.stdout, (SEED, word, more, told.stderr))
        for flags in (['-n', '--sort=month'], ['--sort=x'], ['--sort='], ['-nR'], ['-nV']):
            self.assertEqual(run(ISOTHERM, 'sort', *flags).returncode, 2, flags)
            self.assertEqual(run('sort', *flags).returncode != 0, True, flags)

    def test_a_source_of_randomness_gives_one_order(self):
        given = b''.join(b'%d\n' % (n % 300) for n in range(1000))
        source, other = self.file.with_name('source'), self.file.with_name('other')
        source.write_bytes(b'12345678 and more')
        other.write_bytes(b'12345679')
        first = run(ISOTHERM, 'sort', '-R', '--random-source', source, given=given).stdout
        self.assertEqual(sorted(first.split()), sorted(given.split()))
        for flags, same in ((['-R'], True), (['--sort=random'], True), (['-VR'], True),
                            (['-R', '--random-source', other], False)):
            flags = [*flags, *(['--random-source', source] if same else [])]
            told = run(ISOTHERM, 'sort', *flags, given=given)
            self.assertEqual(told.stdout == first, same, (flags, told.stderr))
            valid = run(ISOTHERM, 'valsort', *flags, '-', given=first).returncode
            self.assertEqual(valid == 0, same, flags)
        self.assertEqual(run('sort', '-VR', given=given).returncode, 0)
        other.write_bytes(b'1234567')
        for flags in (['--random-source', other], ['--random-source', self.file]):
            told = run(ISOTHERM, 'sort', '-R', *flags)
            self.assertEqual((told.returncode, told.stderr.count(b'\n')), (1, 1), told)

    def test_counts_keys_by_their_order(self):
        given = b'b 07 x\na 7 y\nc 10 z\n'
        told = run(ISOTHERM, 'sort', '--count', '--verify', '-n', '-k', '2,2', given=given)
        self.assertEqual(told.stdout, b'2\t 07\n1\t 10\n', told.stderr)
        told = run(ISOTHERM, 'sort', '--count', '--verify', '-t', ' ', '-k', '2,2n', '-k', '1,1r',
                   given=given)
        self.assertEqual(told.stdout, b'1\t07 b\n1\t7 a\n1\t10 c\n', told.stderr)
        for flags in ([], ['--memory', '32mb', '--algorithm', 'mergepass'], ['--top', '3']):
            told = run(ISOTHERM, 'sort', '--count', *flags, '-k', '3,3', '-k', '1,1n', given=given)
            self.assertEqual(told.stdout, b'1\t x\tb\n1\t y\ta\n1\t z\tc\n', told.stderr)

    def check_numbers(self, code, numbers, front, back, flags):
        """Sorts records of a number between `front` and as many of the bytes of `back` as given."""
        layout = struct.Struct(f'{code[0]}{front}s{code[1]}{back}s')
        records = [(b'x' * front, n, str(i).encode()) for i, n in enumerate(numbers)]
        given = b''.join(layout.pack(*record) for record in records)
        wanted = sorted(records, key=lambda record: record[1], reverse='-r' in flags)
        told = run(ISOTHERM, 'sort', '--record', str(layout.size), '--verify', *flags,
                   *(['--key-offset', str(front)] if front else []), given=given)
        found = layout.iter_unpack(told.stdout)
        self.assertEqual([n for _, n, _ in found], [n for _, n, _ in wanted], (SEED, flags))
        if 'samplesort' not in flags:  # equal keys keep their order
            self.assertTrue(told.stdout == b''.join(layout.pack(*record) for record in wanted))

    def test_order_records_by_numbers(self):
        r = random.Random(SEED)
        codes = dict(zip('u8 u16 u32 u64 i8 i16 i32 i64 f32 f64'.split(), 'BHIQbhiqfd'))
        for (name, code), (order, prefix) in itertools.product(codes.items(),
                                                               [('le', '<'), ('be', '>')]):
            size = struct.calcsize(code)
            numbers = [struct.unpack(prefix + code, r.randbytes(size))[0] for _ in range(2000)]
            numbers = [n for n in numbers if n == n] + [0, 1, 1]  # no NaN
            for method, (front, back) in itertools.product(
                    (*METHODS, ['--algorithm', 'ems'], ['--algorithm', 'samplesort']),
                    ((0, 0), (3, 0), (0, 9))):
                flags = ['-k', f'{name},{order}', *method, *r.choice([[], ['-r']])]
                with self.subTest(flags=flags, front=front, back=back):
                    self.check_numbers(prefix + code, numbers, front, back, flags)
        told = run(ISOTHERM, 'sort', '--record', '2', '-k', 'i16,le', '--count', '--verify',
                   given=b'\1\0\377\377\1\0')
        self.assertEqual(told.stdout, b'\377\377' + struct.pack('<Q', 1) + b'\1\0' +
                         struct.pack('<Q', 2), told.stderr)

    def test_refuses_what_is_no_number(self):
        for flags in (['-k', 'u64'], ['-k', 'u12,le'], ['-k', 'f16,le'], ['-k', 'le'], ['-k', ''],
                      ['-k', '2'], ['-k', 'u8,me']):
            told = run(ISOTHERM, 'sort', '--record', '8', *flags)
            self.assertEqual((told.returncode, told.stderr.count(b'\n')), (2, 1), (flags, told))
        for flags in (['--klv', '-k', 'u64,le'], ['-k', 'u64,le'], ['--klv', '-z'],
                      ['--record', '8', '-k', 'u64,le', '-n'],
                      ['--record', '8', '-k', 'u64,le', '--key-size', '4'], ['-o', '']):
            told = run(ISOTHERM, 'sort', *flags)
            self.assertNotEqual(told.returncode, 0, flags)
            self.assertEqual(told.stderr.count(b'\n'), 1, (flags, told))

    def test_refuses_what_is_no_key(self):
        for flags in (['-k', '0'], ['-k', '1.0'], ['-k', 'x'], ['-k', '2,2x'], ['-k', '2nV'],
                      ['-n', '-d'], ['-k', '1.2.3'], ['-t', 'ab'], ['-t', ''], ['-k', '1,0']):
            told = run(ISOTHERM, 'sort', *flags)
            self.assertEqual((told.returncode, told.stderr.count(b'\n')), (2, 1), (flags, told))


if __name__ == '__main__':
    print(f'seed {SEED}', flush=True)
    unittest.main()
