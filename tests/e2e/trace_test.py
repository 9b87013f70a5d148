"""isotherm trace and isotherm bench trace as a user runs them: files of every kind, mistakes, and a
replay over a socket.

    trace_test.py ISOTHERM
"""
import json
import lzma
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from serve_process import start_ours, start_redis

TOOL = sys.argv.pop(1)


def tool(*words, **more):
    return subprocess.run([TOOL, *map(str, words)], capture_output=True, text=True, timeout=600,
                          check=False, **more)


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def generated(self, name, requests, *words, file='t.csv.zst'):
        path = self.folder / file
        run = tool('trace', 'generate', name, '--requests', requests, '-o', path, *words)
        self.assertEqual((run.returncode, run.stdout, run.stderr), (0, '', ''))
        return path

    def refused(self, status, message, *words, **more):
        run = tool(*words, **more)
        self.assertEqual(run.returncode, status, run.stdout + run.stderr)
        self.assertRegex(run.stderr, message)
        self.assertEqual(run.stderr.count('\n'), 1, run.stderr)
        self.assertTrue(run.stderr.startswith('isotherm: '), run.stderr)
        self.assertEqual(run.stdout, '')


class Generate(Case):
    def test_the_same_seed_writes_the_same_file(self):
        a, b, c = (self.generated('twitter-7', 5000, '--seed', seed, file=name).read_bytes()
                   for seed, name in ((1, 'a.csv'), (1, 'b.csv'), (2, 'c.csv')))
        self.assertEqual(a, b)
        self.assertNotEqual(a, c)
        self.assertEqual(a.count(b'\n'), 5001)
        run = tool('trace', 'generate', 'twitter-7', '--requests', 5000, '-o', '-')
        self.assertEqual(run.stdout.encode(), a)

    def test_help_names_each_generator(self):
        said = tool('trace', 'generate', '--help').stdout
        for name in ('mixgraph', 'cachelib', 'twitter-7', 'twitter-23', 'hotspot-shift'):
            self.assertIn(f'\n  {name} ', said)

    def test_mistakes(self):
        out = self.folder / 'out'
        self.refused(2, "no generator 'x': one of mixgraph, ", 'trace', 'generate', 'x', '-o', out)
        self.refused(2, 'cachelib needs --distributions', 'trace', 'generate', 'cachelib', '-o',
                     out)
        self.refused(2, 'cannot read .*config.json', 'trace', 'generate', 'cachelib',
                     '--distributions', self.folder, '-o', out)
        self.refused(2, 'output', 'trace', 'generate', 'mixgraph')
        self.refused(1, 'not written as xz', 'trace', 'generate', 'mixgraph', '-o', f'{out}.xz')
        self.refused(1, 'No such file', 'trace', 'generate', 'mixgraph', '-o', f'{out}/none/t')
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_full_device_is_told(self):
        with open('/dev/full', 'w', encoding='ascii') as full:
            run = subprocess.run([TOOL, 'trace', 'generate', 'mixgraph', '--requests', '200000',
                                  '-o', '-'], stdout=full, stderr=subprocess.PIPE, text=True,
                                 timeout=60, check=False)
        self.assertEqual(run.returncode, 1)
        self.assertIn('No space left', run.stderr)


class Analyze(Case):
    def test_reports_as_text_json_and_picture(self):
        path = self.generated('hotspot-shift', 50000, '--keys', 5000)
        picture, figures = self.folder / 'p.svg', self.folder / 'f.json'
        run = tool('trace', 'analyze', path, '--picture', picture, '--json', figures)
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        self.assertIn('50000 requests, format csv, 5.0 s', run.stdout)
        self.assertIn('Zipf theta', run.stdout)
        self.assertTrue(picture.read_text().startswith('<svg'))
        found = json.loads(figures.read_text())
        self.assertEqual(found['requests'], 50000)
        self.assertEqual(found['operations']['get'] + found['operations']['set'], 50000)
        self.assertIn('trace analyze', found['origin']['command'])
        printed = json.loads(tool('trace', 'analyze', path, '--json', '-').stdout)
        self.assertEqual(printed['ranks'], found['ranks'])
        sampled = json.loads(tool('trace', 'analyze', path, '--follow', 1000, '--json', '-').stdout)
        self.assertGreater(sampled['one_key_in'], 1)
        self.assertAlmostEqual(sampled['keys'] / found['keys'], 1, delta=0.1)

    def test_reads_streams_and_compressed_files(self):
        path = self.generated('twitter-23', 3000, file='t.csv')
        packed = self.folder / 't.csv.xz'
        packed.write_bytes(lzma.compress(path.read_bytes()))
        for given in (packed, path):
            self.assertIn('3000 requests', tool('trace', 'analyze', given).stdout)
        with open(path, encoding='ascii') as stream:
            self.assertIn('3000 requests', tool('trace', 'analyze', '-', stdin=stream).stdout)

    def test_malformed_lines_are_counted_and_named(self):
        path = self.folder / 't'
        path.write_text('0,k,1,2,3,get,0\nbad\n1,j,1,2,3,set,x\n2,i,1,2,3,get,0\n')
        run = tool('trace', 'analyze', path)
        self.assertEqual(run.returncode, 0)
        self.assertIn('2 malformed lines; line 2: it has 1 fields, not 7; line 3: its time to live',
                      run.stdout)

    def test_mistakes(self):
        path = self.folder / 't'
        self.refused(1, 'cannot read the trace .*No such file', 'trace', 'analyze', path)
        path.write_bytes(b'')
        self.refused(1, 't: it is empty', 'trace', 'analyze', path)
        path.write_bytes(bytes(range(64)))
        self.refused(1, 'do not tell its format; --format is one of', 'trace', 'analyze', path)
        path.write_text('a b c\n')
        self.refused(1, 'none of its lines', 'trace', 'analyze', path, '--format', 'twitter')
        self.refused(1, "no format 'x'", 'trace', 'analyze', path, '--format', 'x')
        self.refused(1, "'kez' is none of", 'trace', 'analyze', path, '--columns', 'kez')
        path.write_text('1\n')
        self.refused(1, 'report', 'trace', 'analyze', path, '--json', f'{path}/none')
        self.refused(1, 'Is a directory|cannot read', 'trace', 'analyze', self.folder)


class Replay(Case):
    def report(self, *words):
        run = tool('bench', 'trace', *words, '--window', 0.1, '--json', '-')
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, '', 'quiet where there is no terminal')
        found = json.loads(run.stdout)
        self.assertEqual(found['corrupt'], 0)
        self.assertGreaterEqual(len(found['windows']), 1)
        self.assertEqual(sum(found['operations_by_kind'].values()), found['requests'])
        return found

    def test_on_indexes_in_process(self):
        path = self.generated('twitter-7', 40000, '--keys', 2000)
        for index, manage in (('art', 'on'), ('hash-pugh', 'off'), ('skiplist-fraser', 'track')):
            with self.subTest(index=index, manage=manage):
                found = self.report(path, '--index', index, '--manage', manage)
                self.assertEqual(found['missing'], 0, 'keys that are read first are filled in')
                self.assertGreater(found['filled_keys'], 0)
                self.assertEqual(found['heaps'] is None, manage == 'off')
                self.assertTrue(0 < found['page_utilization'] <= 1 or manage != 'off')
                self.assertEqual(found['value_size'], 1936)

    def test_misses_without_fill(self):
        path = self.folder / 't'
        path.write_text('key,op\na,get\nb,get\na,set\na,get\n')
        found = self.report(path, '--no-fill', '--manage', 'off')
        self.assertEqual((found['missing'], found['filled_keys']), (2, 0))

    def test_increments_deletes_and_expiry(self):
        path = self.generated('twitter-23', 40000, '--keys', 3000, '--rate', 100)
        found = self.report(path, '--index', 'art', '--threads', 3)
        self.assertGreater(found['operations_by_kind']['incr'], 10000)
        self.assertGreater(found['operations_by_kind']['delete'], 500)
        self.assertGreater(found['expired_by_driver'], 100, 'the trace has 400 s, most values 120')
        self.assertGreater(found['missing'], 100)

    def test_seeks_need_an_order(self):
        path = self.generated('mixgraph', 5000, '--keys', 2000)
        found = self.report(path, '--index', 'masstree')
        self.assertGreater(found['operations_by_kind']['seek'], 10)
        self.refused(1, r'has \d+ seeks, which need an ordered index', 'bench', 'trace', path,
                     '--index', 'hash-pugh')

    def test_timed(self):
        path = self.generated('twitter-7', 1620, '--keys', 100)  # a second
        found = self.report(path, '--speed', 5, '--index', 'art')
        self.assertGreaterEqual(found['seconds'], 0.19)
        self.assertEqual(found['speed'], 5)
        run = tool('bench', 'trace', path, '--speed', 5, '--index', 'art', '--requests', 800)
        self.assertIn('800 requests of', run.stdout)
        self.assertIn("at 5 times the trace's speed", run.stdout)

    def test_over_a_socket(self):
        path = self.generated('twitter-23', 8000, '--keys', 1000)
        ours = start_ours(TOOL, 'art')
        self.addCleanup(ours.stop)
        found = self.report(path, '--connect', f'unix:{ours.path}')
        self.assertEqual((found['index'], found['manage']), ('art', 'on'))
        timed = self.report(path, '--connect', f'unix:{ours.path}', '--speed', 100)
        self.assertEqual(timed['expired_by_driver'], 0, 'the server expires them itself')
        redis = start_redis()
        self.addCleanup(redis.stop)
        self.assertEqual(self.report(path, '--connect', f'unix:{redis.path}')['index'], 'redis')

    def test_mistakes(self):
        path = self.folder / 't'
        path.write_text('1\n2\n')
        self.refused(1, 'has no times: leave --speed out', 'bench', 'trace', path, '--speed', 1)
        self.refused(1, 'cannot read the trace', 'bench', 'trace', f'{path}x')
        self.refused(2, 'no regular file', 'bench', 'trace', self.folder)
        self.refused(2, '--manage must be one of', 'bench', 'trace', path, '--manage', 'x')
        self.refused(1, 'nothing like it|index|one of', 'bench', 'trace', path, '--index', 'x')
        self.refused(1, 'Redis protocol only', 'bench', 'trace', path, '--connect',
                     'memcached:tcp:127.0.0.1:1')
        self.refused(1, 'connect|refused', 'bench', 'trace', path, '--connect', 'tcp:127.0.0.1:1')
        self.refused(1, 'cannot write --json', 'bench', 'trace', path, '--json', '/none/x')


if __name__ == '__main__':
    unittest.main()
