#!/usr/bin/env python3
"""The package isotherm: files, buffers, and how a sort ends early.

    isotherm_test.py PACKAGES...     folders that hold isotherm
"""

import contextlib
import errno
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import unittest
import zlib

while len(sys.argv) > 1:
    sys.path.insert(0, sys.argv.pop())

import isotherm  # noqa: E402

SLOW = 'emu:pmem@1/500'  # a sort of some megabytes takes minutes there, if nothing ends it


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def file(self, name, content=None):
        path = self.folder / name
        if content is not None:
            path.write_bytes(content)
        return path

    def left(self):
        return sorted(path.name for path in self.folder.iterdir())


class Files(Folder):
    def test_lines_by_several_keys(self):
        source = self.file('in.csv', b'head\nb,2\na,10\na,9\n')
        report = isotherm.sort_file(source, self.file('out.csv'), separator=',',
                                    key=['1,1', '2,2nr'], header=1, memory='64mb')
        self.assertEqual(self.file('out.csv').read_bytes(), b'head\na,10\na,9\nb,2\n')
        self.assertEqual((report.records, report.memory_limit_bytes), (3, 64 << 20))
        self.assertIn(report.algorithm, repr(report))
        self.assertTrue(report.stages[0].name)

    def test_records_of_several_files(self):
        rows = [random.Random(i).randbytes(20) for i in range(1000)]
        names = [self.file(f'in{i}', b''.join(rows[i::3])) for i in range(3)]
        isotherm.sort_file(map(str, names), str(self.file('out')), record=20, key='u64,le',
                           reverse=True, verify=True)
        expected = sorted(rows, key=lambda row: int.from_bytes(row[:8], 'little'), reverse=True)
        self.assertEqual(self.file('out').read_bytes(), b''.join(expected))

    def test_only_some_records(self):
        source = self.file('in', b'b\na\nb\nc\n')
        for options, expected in ({'unique': True}, b'a\nb\nc\n'), ({'top': 2}, b'a\nb\n'), (
                {'count': True}, b'1\ta\n2\tb\n1\tc\n'):
            isotherm.sort_file(source, self.file('out'), **options)
            self.assertEqual(self.file('out').read_bytes(), expected)

    def test_check(self):
        self.assertIsNone(isotherm.check(self.file('a', b'1\n2\n10\n'), key='1n'))
        found = isotherm.check(self.file('b', b'1\n10\n2\n'), key='1nr')
        self.assertEqual((found.number, found.record), (2, b'10\n'))
        self.assertEqual(isotherm.check(self.file('c', b'1\n1\n'), unique=True).number, 2)

    def test_plan_and_probe(self):
        source = self.file('in', bytes(100_000))
        plans = isotherm.plan(source, record=100, device='emu:pmem')
        self.assertGreaterEqual(len(plans), 5)
        self.assertLessEqual(plans[0].seconds, plans[1].seconds)
        profile = isotherm.device.probe(self.folder, file_bytes=16 << 20, sample_seconds=1e-4)
        self.assertTrue(profile['sequential_read'])
        self.assertEqual(self.left(), ['in'])

    def test_the_errors_are_the_tools(self):
        source = self.file('in', b'x' * 150)
        for code, words, options in (
                (errno.ENOENT, 'No such file', {'inputs': self.file('none')}),
                (0, 'no multiple of the record', {'record': 100}),
                (0, "-k 'x'", {'key': 'x'}), (0, '-k', {'record': 10, 'key': 'u9,le'}),
                (0, 'lines only', {'klv': True, 'header': 1}),
                (0, 'is too little', {'memory': '1mb'}), (0, 'no number of bytes', {'memory': 'x'}),
                (0, 'is none of auto', {'algorithm': 'bogo'}), (0, 'one character',
                                                                {'separator': 'ab'}),
                (0, 'choose one', {'record': 10, 'klv': True})):
            with self.subTest(options), self.assertRaises(isotherm.Error) as caught:
                isotherm.sort_file(**{'inputs': source, 'output': self.file('out'), **options})
            self.assertIn(words, str(caught.exception))
            self.assertEqual(caught.exception.code, code)
        for options in {'recrod': 1}, {'record': 'x'}, {'record': -1}, {'reverse': 'x'}:
            with self.subTest(options), self.assertRaises(TypeError):
                isotherm.sort_file(source, self.file('out'), **options)
        self.assertEqual(self.left(), ['in'])


class Division(Folder):
    def test_parts_by_a_sample(self):
        lines = [b'%d,%d\n' % (i, i * 7919 % 10007) for i in range(10_000)]
        source = self.file('in', b'head\n' + b''.join(lines))
        outputs = [self.file(f'part{i}') for i in range(3)]
        report = isotherm.split_file(source, outputs, separator=',', key='2,2n', header=1)
        self.assertEqual((report.records, report.input_bytes), (10_000, source.stat().st_size))
        whole = []
        for part, path in zip(report.parts, outputs, strict=True):
            head, *rows = path.read_bytes().splitlines(keepends=True)
            self.assertEqual((head, part.path), (b'head\n', str(path)))
            self.assertEqual((part.records, part.bytes), (len(rows), path.stat().st_size))
            whole += sorted(rows, key=lambda row: int(row.split(b',')[1]))
        self.assertEqual(whole, sorted(lines, key=lambda row: int(row.split(b',')[1])))
        self.assertIn('10000 records in 3 parts', repr(report))

    def test_equal_boundaries_share_by_the_place(self):
        source = self.file('in', b'b\n' * 100)
        between = self.file('between', b'b\nb\n')
        outputs = [self.file(f'part{i}') for i in range(3)]
        for place, shares in ((0, 1), [0, 50, 50]), ((0, 0.5), [0, 100, 0]), (
                (0.5, 1), [0, 0, 100]):
            report = isotherm.split_file(source, outputs, between, place)
            self.assertEqual([part.records for part in report.parts], shares)

    def test_a_sample_of_a_sample_has_its_quantiles(self):
        sources = [self.file('in1', b''.join(b'%04d\n' % i for i in range(0, 1000))),
                   self.file('in2', b''.join(b'%04d\n' % i for i in range(1000, 2000)))]
        self.assertEqual(isotherm.sample(sources, self.file('sample'), 200), 200)
        self.assertEqual(isotherm.sample(self.file('sample'), self.file('between'), 3), 3)
        for at, line in zip((500, 1000, 1500), self.file('between').read_bytes().split()):
            self.assertLess(abs(int(line) - at), 20)

    def test_sums_of_records(self):
        r = random.Random(5)
        rows = [r.randbytes(20) for _ in range(100)]
        klv = [row[:2] + n.to_bytes(4, 'little') + bytes(n) for n, row in enumerate(rows)]
        lines = [row.hex().encode() + b'\n' for row in rows]
        for records, data, options in ((rows, b''.join(rows), {'record': 20}),
                                       (klv, b''.join(klv), {'klv': True, 'key_size': 2}),
                                       (lines, b''.join(lines)[:-1], {}),
                                       (lines[1:], b''.join(lines), {'header': 1}),
                                       ([], b'', {})):
            count, high, low = isotherm._native.sum_records(data, options)
            self.assertEqual((count, high, low), (len(records), 0, sum(map(zlib.crc32, records))))
        for data, options in (b'ab', {'record': 3}), (b'k\x02\0\0\0v', {'klv': True,
                                                                         'key_size': 1}):
            with self.assertRaisesRegex(isotherm.Error, 'not complete'):
                isotherm._native.sum_records(data, options)

    def test_what_does_not_fit_is_refused(self):
        source = self.file('in', b'b\na\n')
        for error, words, call in (
                (isotherm.Error, 'two parts or more', lambda: isotherm.split_file(source, ['x'])),
                (isotherm.Error, 'have the name', lambda: isotherm.split_file(source, ['x', 'x'])),
                (isotherm.Error, 'takes one record', lambda: isotherm.sample(source, 'x', 0)),
                (isotherm.Error, 'within 0 and 1', lambda: isotherm.split_file(
                    source, ['x', 'y'], place=(1, 2))),
                (TypeError, 'unique', lambda: isotherm.sample(source, 'x', 1, unique=True))):
            with self.subTest(words), self.assertRaisesRegex(error, words):
                call()
        self.assertEqual(self.left(), ['in'])

    def test_an_exception_of_progress_ends_it(self):
        source = self.file('in', b'b\na\n' * 100_000)
        with self.assertRaises(ZeroDivisionError):
            isotherm.split_file(source, [self.file('x'), self.file('y')],
                                progress=lambda *_: 1 / 0)


class EndsEarly(Folder):
    """A sort that nothing ends would take minutes. It leaves nothing behind."""

    def sort(self, progress=None):
        isotherm.sort_file(self.file('in'), self.file('out'), record=100, device=SLOW,
                           progress=progress)

    def setUp(self):
        super().setUp()
        self.file('in', random.Random(1).randbytes(4_000_000))

    def tearDown(self):
        self.assertEqual(self.left(), ['in'])

    def test_by_an_exception_of_progress(self):
        def refuse(stage, done, total):
            raise LookupError(stage)
        with self.assertRaisesRegex(LookupError, 'RUN read'):
            self.sort(refuse)

    def test_by_a_signal(self):
        def interrupt(*_):
            raise KeyboardInterrupt
        before = signal.signal(signal.SIGALRM, interrupt)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with self.assertRaises(KeyboardInterrupt):
            self.sort()

    def test_other_threads_run_meanwhile(self):
        begun, enough = threading.Event(), threading.Event()

        def progress(*_):
            begun.set()
            if enough.is_set():
                raise StopIteration

        def work():
            with contextlib.suppress(StopIteration):
                self.sort(progress)
        thread = threading.Thread(target=work)
        thread.start()
        begun.wait()
        enough.set()
        thread.join()


class Buffers(Folder):
    def test_lines(self):
        r = random.Random(2)
        lines = [b'%d,%d\n' % (r.randrange(100), r.randrange(10**6)) for _ in range(20_000)]
        data = b''.join(lines)
        for kind in bytes, bytearray, memoryview:
            self.assertEqual(isotherm.sort(kind(data)), b''.join(sorted(lines)))
        by_number = sorted(lines, key=lambda line: (-int(line.split(b',')[1]), line))
        self.assertEqual(isotherm.sort(data, separator=',', key='2,2nr'), b''.join(by_number))
        self.assertEqual(isotherm.sort(b'b\na'), b'a\nb\n')
        self.assertEqual(isotherm.sort(b''), b'')

    def test_records(self):
        r = random.Random(3)
        rows = [r.randbytes(37) for _ in range(5000)]
        self.assertEqual(isotherm.sort(b''.join(rows), record=37, key_size=5, key_offset=30),
                         b''.join(sorted(rows, key=lambda row: row[30:35])))
        long = [bytes([n]) + bytes(3 << 20) for n in (3, 1, 2)]
        klv = [row[:2] + (len(row) - 2).to_bytes(4, 'little') + row[2:] for row in long]
        self.assertEqual(isotherm.sort(b''.join(klv), klv=True, key_size=2, memory='32mb'),
                         b''.join([klv[1], klv[2], klv[0]]))

    def test_the_caller_sees_progress_and_may_end_it(self):
        def refuse(*_):
            raise LookupError
        stages = []
        isotherm.sort(b'b\na\n' * 1000, progress=lambda stage, *_: stages.append(stage))
        self.assertIn('RUN read', stages)
        with self.assertRaises(LookupError):
            isotherm.sort(b'b\na\n' * 1000, progress=refuse)

    def test_what_does_not_fit_is_refused(self):
        for error, data, options in ((TypeError, b'', {'top': 1}), (TypeError, 1, {}),
                                     (TypeError, b'', {'by': 'x'}), (TypeError, 'text', {}),
                                     (isotherm.Error, b'abc', {'record': 2}),
                                     (isotherm.Error, b'ab', {'klv': True, 'key_size': 1})):
            with self.subTest(data), self.assertRaises(error):
                isotherm.sort(data, **options)

    def test_index_map(self):
        for source in b'b 2\na 1\nb 3\n', self.file('in', b'b 2\na 1\nb 3\n'):
            found = isotherm.index_map(source, key='1,1', stable=True)
            self.assertEqual((len(found), found.record(2), found.locate(1)), (3, b'b 3\n', (4, 4)))
            found.sort()
            self.assertEqual([found.record(i) for i in range(3)], [b'a 1\n', b'b 2\n', b'b 3\n'])
            self.assertEqual([found.key(first) for first, _ in found.groups()], [b'a', b'b'])
            with self.assertRaises(IndexError):
                found.key(3)
            self.assertEqual(isotherm.top_k(source, 2, reverse=True), [b'b 3\n', b'b 2\n'])
            self.assertEqual(isotherm.top_k(source, 9), [b'a 1\n', b'b 2\n', b'b 3\n'])
            self.assertEqual(isotherm.count(source, key='1,1'), [(b'a', 1), (b'b', 2)])
        with self.assertRaisesRegex(isotherm.Error, 'buffer'):
            isotherm.index_map(self.file('in')).gather()

    def test_calls_on_one_map_do_not_overlap(self):
        def use(*_):
            if calls:
                found.key(0)
            calls.append(1)
        calls = []
        found = isotherm._native.map_buffer(b'b\na\n' * 1000, {}, use)
        with self.assertRaisesRegex(isotherm.Error, 'wait for it') as caught:
            found.sort()
        self.assertEqual(caught.exception.code, errno.EBUSY)
        with self.assertRaises(isotherm.Error) as caught:
            found.locate(1)
        self.assertEqual(caught.exception.code, errno.EINTR)
        found = None  # which its own progress refers to

    def test_a_buffer_stays_as_long_as_its_map(self):
        data = bytearray(b'b\na\n')
        found = isotherm.index_map(data)
        with self.assertRaises(BufferError):
            data.clear()
        del found
        data.clear()


if __name__ == '__main__':
    os.environ.pop('PYTHONPATH', None)
    unittest.main()
