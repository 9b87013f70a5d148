#!/usr/bin/env python3
"""isotherm sort --csv: Python's csv module reads the rows, GNU sort orders the columns.

    csv_test.py ISOTHERM [SEED]
"""

import collections
import csv
import gzip
import io
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

ISOTHERM = sys.argv.pop(1)
SEED = int(sys.argv.pop(1)) if len(sys.argv) > 1 else random.randrange(1 << 32)
CASES = 40
METHODS = ([], ['--memory', '32mb', '--algorithm', 'mergepass'], ['--algorithm', 'onepass'])
BETWEEN, END = b'\x1f', b'\0'  # of what GNU sort gets; in no text


def run(*words, given=b''):
    return subprocess.run(words, input=given, capture_output=True, timeout=600, check=False,
                          env={**os.environ, 'LC_ALL': 'C'})


def sort(*words, given=b''):
    return run(ISOTHERM, 'sort', '--csv', *words, given=given)


def columns(text, delimiter=','):
    """The rows as Python's csv module reads them, as bytes."""
    reader = csv.reader(io.StringIO(text.decode('latin1'), newline=''), delimiter=delimiter)
    return [[column.encode('latin1') for column in row] for row in reader]


class Rows:
    """Makes rows and keys of their columns."""

    def __init__(self, seed, delimiter=','):
        self.r = random.Random(seed)
        self.delimiter = delimiter

    def column(self):
        r = self.r
        text = r.choice([
            lambda: str(r.randrange(-20, 20)),
            lambda: f'{r.randrange(10**6)}.{r.randrange(100)}',
            lambda: f'{r.randrange(20)}{r.choice("kKMG")}',
            lambda: f'v1.{r.randrange(20)}',
            lambda: r.choice(['', '', ' x', 'jan', 'DEC']),
            lambda: ''.join(r.choice('abAB"\n\r,;\t \xe9') for _ in range(r.randrange(9))),
            lambda: 'a' * r.randrange(20) + r.choice('ab"\n'),
        ])()
        if r.random() < .3 or text.startswith('"') or set(text) & {self.delimiter, '\n', '\r'}:
            behind = r.choice(['x', 'x"']) if r.random() < .02 else ''  # as Python reads it
            return '"' + text.replace('"', '""') + '"' + behind
        return text

    def row(self):
        columns = [self.column() for _ in range(self.r.randrange(1, 6))]
        return self.delimiter.join(columns)

    def rows(self, count):
        """Rows, each with its end."""
        end = self.r.choice(['\n', '\n', '\r\n'])
        pool = [self.row() for _ in range(self.r.choice([9, 90, 900]))]
        return [(self.r.choice(pool) + end).encode('latin1') for _ in range(count)]

    def keys(self):
        """Keys in our words, and in those of GNU sort."""
        ours, theirs = [], []
        for _ in range(self.r.choice([1, 1, 2, 3])):
            column = self.r.randrange(1, 6)
            kind = self.r.choice(['', 'n', 'g', 'h', 'M', 'V', 'f', 'd', 'i', 'b', 'fd'])
            letters = kind + self.r.choice(['', 'r'])
            ours += ['-k', f'{column}{letters}' + self.r.choice(['', f',{column}'])]
            theirs += ['-k', f'{column}{letters},{column}']
        return ours, theirs


def ordered(rows, keys, delimiter=',', flags=()):
    """The rows in the order of GNU sort, each with its columns."""
    lines = []
    for row in rows:
        parsed = columns(row, delimiter)
        found = parsed[0] if parsed else []
        lines.append(BETWEEN.join([*(found + [b''] * 5)[:5], row[:-1]]))
    last = [] if '-s' in flags or '-u' in flags else [
        '-k', '6,6r' if '-r' in flags else '6,6']
    told = run('sort', '-z', '-s', '-t', BETWEEN.decode(), *flags, *keys, *last,
               given=b''.join(line + END for line in lines))
    assert told.returncode == 0, told.stderr
    return [[*line.split(BETWEEN)[:5], line.split(BETWEEN)[5] + b'\n']
            for line in told.stdout.split(END)[:-1]]


class SortCsv(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)
        self.file = self.at / 'rows.csv'

    def refused(self, told, status, text):
        self.assertEqual((told.returncode, told.stdout, told.stderr.count(b'\n')),
                         (status, b'', 1), told)
        self.assertIn(text, told.stderr)

    def test_orders_rows_by_the_contents_of_columns(self):
        for seed in range(SEED, SEED + CASES):
            delimiter = random.Random(seed).choice(',,;\t')
            made = Rows(seed, delimiter)
            rows = made.rows(made.r.choice([0, 1, 7, 300, 3000]))
            self.assertEqual(len(columns(b''.join(rows), delimiter)), len(rows), seed)
            keys, theirs = made.keys()
            flags = [flag for flag in ('-r', '-s', '-u') if made.r.random() < .2]
            between = [] if delimiter == ',' else ['-t', delimiter]
            self.file.write_bytes(b''.join(rows))
            wanted = b''.join(line[5] for line in ordered(rows, theirs, delimiter, flags))
            method = made.r.choice(METHODS)
            told = sort('--verify', *method, *between, *flags, *keys, self.file)
            with self.subTest(seed=seed, flags=[*method, *between, *flags, *keys]):
                self.assertEqual((told.returncode, told.stderr), (0, b''))
                self.assertTrue(told.stdout == wanted)
                self.check_other_ways([*between, *flags, *keys], b''.join(rows), wanted)

    def check_other_ways(self, flags, given, wanted):
        """Pipes, compressed inputs, several inputs, --top, -c and valsort give the same."""
        self.assertTrue(sort(*flags, given=given).stdout == wanted)
        self.assertTrue(sort(*flags, given=gzip.compress(given, 1)).stdout == wanted)
        two = self.at / 'two.csv'
        two.write_bytes(b'')
        self.assertTrue(sort('-m', *flags, self.file, two).stdout == wanted)
        told = sort('--top', '1', *flags, self.file)
        self.assertTrue(wanted.startswith(told.stdout) and bool(told.stdout) == bool(wanted), told)
        two.write_bytes(wanted)
        self.assertEqual(sort('-c', *flags, two).returncode, 0)
        self.assertEqual(run(ISOTHERM, 'valsort', '--csv', *flags, two).returncode, 0)
        self.assertEqual(sort(*flags, two).stdout, wanted)

    def test_counts_columns(self):
        for seed in range(SEED, SEED + 10):
            rows = Rows(seed).rows(2000)
            groups = ordered(rows, ['-k', '2,2', '-k', '1,1'])
            counts = collections.Counter((line[1], line[0]) for line in groups)
            given = b'a,"b ""c""",d\r\n' + b''.join(rows)
            for flags in ([], ['--memory', '32mb', '--algorithm', 'mergepass'], ['--top', '50']):
                told = sort('--count', '--verify', *flags, '-k', 'b "c"', '-k', 'a', given=given)
                self.assertEqual(told.returncode, 0, (seed, told.stderr))
                self.assertTrue(told.stdout.startswith(b'count,"b ""c""",a\n'), told.stdout[:99])
                wanted = [[b'%d' % n, *key] for key, n in counts.items()]
                if flags == ['--top', '50']:
                    wanted = wanted[:50]
                self.assertEqual(columns(told.stdout)[1:], wanted, seed)
        told = sort('--count', '-t', ';', '--verify', given=b'b;"x\ny"\na\nb;"x\ny"\n')
        self.assertEqual(told.stdout, b'1;a\n2;b;"x\ny"\n', told.stderr)
        # Rows of counts do not show the order of whole rows: those that end otherwise look alike.
        for flags, given in ((['-R'], b''.join(b'%d,x\n' % n for n in range(100))),
                             ([], b'a\r\na\n')):
            told = sort('--count', '--verify', *flags, given=given)
            self.assertEqual((told.returncode, told.stderr), (0, b''))
        told = sort('--count', '-k', '2', '-k', '1', given=b'b\na,1\n')
        self.assertEqual(told.stdout, b'1,,b\n1,1,a\n')

    def test_finds_the_first_rows(self):
        for seed in range(SEED, SEED + 5):
            rows = Rows(seed).rows(60000)
            wanted = ordered(rows, ['-k', '2,2nr', '-k', '1,1'])
            given = b''.join(rows)
            self.file.write_bytes(given)
            report = self.at / 'report'
            told = sort('--top', '300', '-k', '2nr', '-k', '1', '--json', report, self.file)
            self.assertTrue(told.stdout == b''.join(line[5] for line in wanted[:300]), seed)
            self.assertIn('selection', report.read_text(encoding='ascii'))

    def test_merges_runs_of_rows(self):
        made = Rows(SEED)
        rows = made.rows(6000) * 150 + made.rows(300)
        self.file.write_bytes(b''.join(rows))
        wanted = ordered(rows, ['-k', '2,2', '-k', '3,3n'])
        for flags in ([], ['-s'], ['-u']):
            if flags:
                wanted = ordered(rows, ['-k', '2,2', '-k', '3,3n'], ',', flags)
            told = sort(*flags, '-k', '2', '-k', '3n', '--memory', '32mb',
                        '--json', self.at / 'json', self.file)
            self.assertTrue(told.stdout == b''.join(line[5] for line in wanted), (SEED, flags))
            report = json.loads((self.at / 'json').read_text(encoding='ascii'))
            self.assertGreater(report['runs'], 1)

    def test_rows_of_mebibytes(self):
        long = b'"' + b'a\n,""' * 4000000 + b'"'  # 20 MB
        rows = [b'9,%s\n' % long, b'8,x\n', b'7,"%s"\n' % (b'\n"",' * 80000), b'1,y']
        for flags in ([], ['--memory', '32mb'], ['--top', '4']):
            told = sort('-k', '1', *flags, given=b''.join(rows))
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertTrue(told.stdout == rows[3] + b'\n' + b''.join(rows[2::-1]), flags)
        self.assertTrue(sort('-k', '2', given=b''.join(rows)).stdout ==
                        rows[2] + rows[0] + rows[1] + rows[3] + b'\n')

    def test_names_columns(self):
        rows = b'b,2,x\na,10,z\nc,1,y\n'
        by_number = b'c,1,y\nb,2,x\na,10,z\n'
        for header, key, wanted in (
                (b'name,size,2\n', 'size:n', by_number), (b'name,size,2\n', 'size:nr', None),
                (b'name,"si\nze",2\r\n', 'si\nze:n', by_number),
                (b'name,"a:b",2\n', 'a:b:n', by_number), (b'name,n:n,2\n', 'n:n:n', by_number),
                (b'name,"2",2:n\n', '"2":n', by_number), (b'x,2nd,y\n', '2nd:n', by_number),
                (b'\xef\xbb\xbf"na\nme",b,c\n', 'na\nme', b'a,10,z\nb,2,x\nc,1,y\n'),
                (b'"say ""so""",b,c\n', 'say "so"', b'a,10,z\nb,2,x\nc,1,y\n'),
                (b'name,size,2\n', '2nr', None)):
            flags = [] if wanted and key != '2nr' else ['--header', '1']
            told = sort('-k', key, *flags, given=header + rows)
            again = b'a,10,z\nb,2,x\nc,1,y\n' if wanted is None else wanted
            self.assertEqual(told.stdout, header + again, (header, key, told.stderr))
        self.assertEqual(sort('-k', '2n', given=rows).stdout, by_number)
        self.refused(sort('-k', 'sice', given=b'name,size\n' + rows), 1,
                     b"-k 'sice': the header has no column of that name; it has name, size")
        self.refused(sort('-k', 'a', given=b'a,b,a\n'), 1, b'columns 1 and 3 have that name')
        self.refused(sort('-k', 'a', given=b''), 1, b'no column of that name')
        told = sort('-c', '-k', 'size:n', given=b'name,size\n' + rows)
        self.assertEqual((told.returncode, told.stderr), (1, b'isotherm: -:4: disorder: c,1,y\n'))
        told = sort('-c', '-k', '2', given=b'b,2\r\n"a\n",1\r\n')
        self.assertEqual((told.returncode, told.stderr), (1, b'isotherm: -:2: disorder: "a\n'))

    def test_one_header_for_several_inputs(self):
        one, two, none = self.at / 'one', self.at / 'two', self.at / 'none'
        none.write_bytes(b'')
        one.write_bytes(b'\xef\xbb\xbfid,"a\nb"\r\n2,x')
        two.write_bytes(b'\xef\xbb\xbf"id","a\nb"\n10,z\n1,y\n')
        for words in ([one, two], [none, one, none, two], ['--memory', '32mb', one, two]):
            told = sort('-k', 'id:n', *words)
            self.assertEqual(told.stdout, b'\xef\xbb\xbfid,"a\nb"\r\n1,y\n2,x\n10,z\n', told.stderr)
        told = sort('--header', '1', '-k', 'a\nb', one, '-', given=gzip.compress(two.read_bytes()))
        self.assertEqual(told.stdout, b'\xef\xbb\xbfid,"a\nb"\r\n2,x\n1,y\n10,z\n', told.stderr)
        two.write_bytes(b'"a\nb",id\n10,z\n')
        told = sort('-k', 'id:n', one, two, '-o', self.at / 'out')
        self.refused(told, 1, f'{two}: its header names other columns than that of {one}'.encode())
        self.assertFalse((self.at / 'out').exists())
        self.assertEqual(sort('-k', '1n', one, two, one).stdout.count(b'id'), 3)

    def test_refuses_a_quote_that_is_not_closed(self):
        rows = b'a,"b\nc"\n' * 40000 + b'x,"y\n' + b'z,1\n' * 40000
        self.file.write_bytes(rows)
        row = b'row 40001 of the input, from byte 320000 on, opens a quote that is not closed'
        for flags in ([], ['--top', '3'], ['-k', '2'], ['--memory', '32mb'], ['--count'],
                      ['--header', '1', '--verify'], ['-r']):
            self.refused(sort(*flags, self.file), 1, row)
            self.refused(sort(*flags, given=rows), 1, row)
            self.refused(sort(*flags, self.file, '-o', self.at / 'out'), 1, row)
        self.assertEqual(os.listdir(self.at), ['rows.csv'])
        self.refused(sort('-c', self.file), 2, row)
        other = self.at / 'other'
        other.write_bytes(b'"')
        for words, text in (([self.file, other], f'{self.file}: row 40001 opens'),
                            ([other, self.file], f'{other}: row 1 opens')):
            self.refused(sort(*words), 1, text.encode())
        self.refused(sort('-k', 'a', given=b'"a\n\n1\n2\n'), 1,
                     b'row 1 of the header opens a quote that is not closed')

    def test_a_byte_order_mark_stays_in_front(self):
        mark, rows = b'\xef\xbb\xbf', [b'"z\ny",1\n', b'"a",2\n']
        wanted = mark + b''.join(rows[::-1])
        self.assertEqual(sort('-k', '1', given=mark + b''.join(rows)).stdout, wanted)
        self.file.write_bytes(mark + b''.join(rows))
        self.assertEqual(sort('-u', '-k', '1', self.file, self.file).stdout, wanted)
        self.assertEqual(sort('--top', '1', '-k', '1', self.file).stdout, mark + rows[1])
        self.assertEqual(sort('-k', '1', given=mark).stdout, mark)

    def test_a_quote_within_a_column_is_a_character(self):
        rows = b'5" disk,2\n3" disk,1\n"a"b"c,0\n'
        self.assertEqual(sort('-k', '2n', given=rows).stdout, b''.join(rows.splitlines(True)[::-1]))

    def test_refuses_other_words(self):
        for flags in (['-z'], ['-t', '"'], ['-t', '\n'], ['--record', '8'], ['--klv'],
                      ['-k', '1,2'], ['-k', '1.2'], ['-k', '1,1.2']):
            self.assertEqual(sort(*flags, given=b'').returncode, 1, flags)
        for flags in (['-n'], ['-f'], ['-k', ''], ['-k', ':n'], ['-k', '0'], ['-k', '""']):
            self.refused(sort(*flags, given=b''), 2, b'-k')
        self.refused(run(ISOTHERM, 'sort', '--header', '1', '-k', 'a'), 2, b'a field is missing')


if __name__ == '__main__':
    unittest.main()
