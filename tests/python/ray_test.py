#!/usr/bin/env python3
"""isotherm.ray on a local cluster of two workers, one of which is killed in the middle.

    ray_test.py TOOL PACKAGES...     the tool isotherm; folders that hold isotherm and ray
"""

import json
import os
import pathlib
import random
import secrets
import signal
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
PACKAGES = sys.argv[1:]
del sys.argv[1:]
sys.path[:0] = PACKAGES

import isotherm  # noqa: E402
import isotherm.ray  # noqa: E402
import ray  # noqa: E402

SMALL = {'memory': '40mb'}


def setUpModule():
    scratch = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # logs may still come
    unittest.addModuleCleanup(scratch.cleanup)
    os.environ['PYTHONPATH'] = os.pathsep.join(map(os.path.abspath, PACKAGES))  # of the workers
    os.environ['RAY_AUTH_TOKEN'] = secrets.token_hex(32)  # without it Ray keeps one at home
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level='error',
             object_store_memory=80 << 20, _temp_dir=scratch.name)
    unittest.addModuleCleanup(ray.shutdown)


class Cluster(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.out = self.folder / 'out'
        self.seed = random.getrandbits(32)
        self.random = random.Random(self.seed)

    def files(self, *contents):
        paths = [self.folder / f'in{number}' for number in range(len(contents))]
        for path, content in zip(paths, contents):
            path.write_bytes(content)
        return paths

    def parts(self, manifest):
        return [(self.out / part['path']).read_bytes() for part in manifest['parts']]

    def check(self, manifest, expected):
        """All parts are there, and nothing else; together they are `expected`."""
        self.assertEqual(b''.join(self.parts(manifest)), expected, f'seed {self.seed}')
        self.assertEqual(json.loads((self.out / 'manifest.json').read_text()), manifest)
        self.assertEqual(sorted(os.listdir(self.out)),
                         ['manifest.json', *(part['path'] for part in manifest['parts'])])


class Sorts(Cluster):
    def test_lines_that_tie_keep_their_order(self):
        def line(number):
            return b'%d,%d\n' % (self.random.choice((7, self.random.randrange(1000))), number)
        rows = [[line(number) for number in range(5000 * file, 5000 * (file + 1))]
                for file in range(3)]
        seen = []
        manifest = isotherm.ray.sort(
            self.files(*map(b''.join, rows)), self.out, parts=7, separator=',', key='1,1n',
            stable=True, progress=lambda *report: seen.append(report), **SMALL)
        self.check(manifest, b''.join(sorted(sum(rows, []),
                                             key=lambda row: int(row.partition(b',')[0]))))
        self.assertEqual((manifest['records'], len(manifest['parts'])), (15_000, 7))
        self.assertLess(max(part['records'] for part in manifest['parts']), 6000)
        self.assertEqual([seen.count((stage, count, count)) for stage, count in
                          (('sample', 3), ('split', 3), ('sort', 7))], [1, 1, 1])

    def test_sums_are_those_of_valsort(self):
        for number in range(2):
            subprocess.run([TOOL, 'gensort', f'-b{number * 20_000}', '20000',
                            self.folder / f'in{number}'], check=True, capture_output=True)
        inputs = [self.folder / 'in0', self.folder / 'in1']
        manifest = isotherm.ray.sort(inputs, self.out, parts=3, record=100, fsync=False, **SMALL)
        self.check(manifest, b''.join(sorted(row for path in inputs for row in records(path))))
        (self.folder / 'all').write_bytes(b''.join(self.parts(manifest)))
        subprocess.run([TOOL, 'valsort', self.folder / 'all', '--expect', manifest['checksum']],
                       check=True, capture_output=True)
        for part in manifest['parts']:
            subprocess.run([TOOL, 'valsort', self.out / part['path'], '--expect',
                            part['checksum']], check=True, capture_output=True)

    def test_each_part_begins_with_the_header(self):
        inputs = self.files(b'town\nb\nd', b'', b'town\nc\na')
        manifest = isotherm.ray.sort(inputs, self.out, parts=2, header=1, **SMALL)
        heads, rows = zip(*(part.split(b'\n', 1) for part in self.parts(manifest)))
        self.assertEqual((set(heads), b''.join(rows)), ({b'town'}, b'a\nb\nc\nd\n'))
        self.assertEqual(manifest['records'], 4)

    def test_little_and_nothing(self):
        for content in b'', b'x', b'x\nx\nx\n':
            manifest = isotherm.ray.sort(self.files(content, b''), self.out, parts=9, **SMALL)
            self.check(manifest, content + b'\n' if content == b'x' else content)

    def test_klv_and_more_than_memory_holds(self):
        rows = [self.random.randbytes(4) + size.to_bytes(4, 'little') + bytes(size)
                for size in self.random.choices(range(20_000), k=12_000)]
        inputs = self.files(*(b''.join(rows[number::8]) for number in range(8)))
        manifest = isotherm.ray.sort(inputs, self.out, klv=True, key_size=4, **SMALL)
        self.check(manifest, b''.join(sorted(rows, key=lambda row: row[:4])))
        self.assertGreater(manifest['bytes'], 100 << 20)  # than the memory of Ray

    def test_a_sort_again_replaces_the_parts(self):
        for content in b'b\na\n' * 50, b'd\nc\n' * 50:
            manifest = isotherm.ray.sort(self.files(content), self.out, parts=2, **SMALL)
        self.check(manifest, b'c\n' * 50 + b'd\n' * 50)

    def test_what_does_not_fit_is_refused(self):
        source, = self.files(b'abc')
        for error, words, call in (
                (isotherm.Error, 'no multiple', {'record': 2, 'key_size': 1}),
                (TypeError, 'unique', {'unique': True}),
                (FileNotFoundError, 'No such file', {'inputs': [source, self.folder / 'none']}),
                (ValueError, 'two or more', {'parts': 1}), (ValueError, 'at least', {'inputs': []}),
                (ValueError, 'another directory', {'output_directory': self.folder})):
            with self.subTest(words), self.assertRaisesRegex(error, words):
                isotherm.ray.sort(**{'inputs': source, 'output_directory': self.out, **SMALL,
                                     **call})
            self.assertFalse(self.out.exists() and os.listdir(self.out))


class Lost(Cluster):
    def test_a_worker_costs_its_tasks_only(self):
        rows = [self.random.randbytes(100) for _ in range(400_000)]
        inputs = self.files(*(b''.join(rows[number::8]) for number in range(8)))
        killed = []

        def progress(stage, *_):
            body = {'split': 'divide', 'sort': 'sort_part'}.get(stage)
            if body and body not in killed and kill_one(body):
                killed.append(body)
        manifest = isotherm.ray.sort(inputs, self.out, parts=8, progress=progress, record=100,
                                     **SMALL)
        self.assertEqual(killed, ['divide', 'sort_part'])
        self.check(manifest, b''.join(sorted(rows)))

    def test_an_exception_of_progress_ends_it(self):
        inputs = self.files(*[self.random.randbytes(1_000_000)] * 4)
        with self.assertRaises(ZeroDivisionError):
            isotherm.ray.sort(inputs, self.out, record=100, progress=lambda *_: 1 / 0, **SMALL)
        self.assertEqual(os.listdir(self.out), [])

    def test_an_interrupt_ends_it(self):
        def interrupt(stage, done, total):
            if stage == 'split':
                os.kill(os.getpid(), signal.SIGINT)
        inputs = self.files(*[self.random.randbytes(1_000_000)] * 4)
        with self.assertRaises(KeyboardInterrupt):
            isotherm.ray.sort(inputs, self.out, record=100, progress=interrupt, **SMALL)
        self.assertEqual(os.listdir(self.out), [])


def records(path):
    content = path.read_bytes()
    return [content[at:at + 100] for at in range(0, len(content), 100)]


def kill_one(body):
    """Kills a worker of this process's cluster that is in the middle of `body`, if one is."""
    for process in map(int, filter(str.isdigit, os.listdir('/proc'))):
        if runs(process, body):
            os.kill(process, signal.SIGSTOP)  # so that it stays in the middle
            is_running = runs(process, body)
            os.kill(process, signal.SIGKILL if is_running else signal.SIGCONT)
            if is_running:
                return True
    return False


def runs(process, body):
    try:
        title = pathlib.Path(f'/proc/{process}/cmdline').read_text()
        parent = pathlib.Path(f'/proc/{process}/stat').read_text().rpartition(')')[2].split()[1]
        grandparent = pathlib.Path(f'/proc/{parent}/stat').read_text().rpartition(')')[2].split()[1]
    except OSError:
        return False
    return title.startswith('ray::') and body in title and int(grandparent) == os.getpid()


if __name__ == '__main__':
    unittest.main()
