"""isotherm bench ycsb as a user runs it: reports, mistakes, and a real Redis behind a socket.

    bench_test.py ISOTHERM      ISOTHERM_TEST_WHOLE=1: every workload in every mode
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

from serve_case import until
from serve_process import start_memcached, start_redis

TOOL = sys.argv.pop(1)
FIELDS = {'miss_ratio', 'misses', 'origin',
          'index', 'workload', 'keys', 'value_size', 'threads', 'manage', 'protocol',
          'throughput_ops_s', 'latency_us', 'rss_bytes', 'dram_bytes', 'rss_peak_bytes',
          'object_lru_miss_ratio', 'best_static_miss_ratio', 'record_dram_bytes', 'miss_bounds',
          'page_utilization', 'promotion_rate', 'cold_threshold', 'heaps', 'windows',
          'collector_cpu_fraction', 'index_bytes_per_entry', 'memory_nodes', 'operating_point'}


def bench(*words, **more):
    return subprocess.run([TOOL, 'bench', 'ycsb', *map(str, words)], capture_output=True, text=True,
                          timeout=600, **more)


def small(*words):
    seconds = () if '--seconds' in words else ('--seconds', 0.2)
    return bench('--keys', 2000, '--value-size', 100, '--window', 0.08, '--json', '-', *seconds,
                 *words)


class Reports(unittest.TestCase):
    def report(self, *words):
        run = small(*words)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual(run.stderr, '', 'quiet where there is no terminal')
        found = json.loads(run.stdout)
        self.assertLessEqual(FIELDS, set(found))
        self.assertGreater(found['operations'], 0)
        self.assertEqual((found['missing'], found['corrupt']), (0, 0))
        origin = found['origin']
        self.assertEqual(origin['command'],
                         shlex.join(['isotherm', *run.args[1:]]), 'repeats the run')
        self.assertGreater(origin['processors'], 0)
        self.assertGreater(origin['memory_bytes'], 0)
        self.assertRegex(origin['date'], r'^\d{4}-\d\d-\d\dT')
        latency = found['latency_us']
        self.assertLessEqual(latency['p50'], latency['p90'])
        self.assertLessEqual(latency['p90'], latency['p99'])
        self.assertLessEqual(latency['p99'], latency['p999'])
        self.assertGreaterEqual(len(found['windows']), 1)
        scans = found['workload'] == 'e'
        for row in (found, *found['windows']):
            self.assertTrue(0 <= row['miss_ratio'] <= 1, row['miss_ratio'])
            for bound in ('object_lru_miss_ratio', 'best_static_miss_ratio'):
                # On a busy machine a window may be without requests.
                if row['operations'] > 0:
                    self.assertEqual(row[bound] is None, found['manage'] == 'off' or scans)
                self.assertTrue(0 <= (row[bound] or 0) <= 1, row[bound])
            self.assertLessEqual(row['latency_us']['p50'], row['latency_us']['p999'])
            self.assertLessEqual(row['latency_us']['p999'], row['latency_us']['max'])
        return found

    def test_every_workload_and_mode(self):
        some = 'abcdf' if 'ISOTHERM_TEST_WHOLE' in os.environ else 'a'
        for manage, workloads in (('off', some), ('track', some), ('on', 'abcdf')):
            for workload in workloads:
                with self.subTest(manage=manage, workload=workload):
                    found = self.report('--manage', manage, '--workload', workload)
                    self.assertEqual(found['heaps'] is None, manage == 'off')

    def test_a_command_line_that_is_no_utf8_loses_no_result(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(os.fsencode(folder), b'\xff.json')
            run = bench('--keys', 2000, '--value-size', 100, '--seconds', 0.1, '--json',
                        os.fsdecode(path))
            self.assertEqual(run.returncode, 0, run.stderr)
            with open(path, encoding='utf-8') as file:
                self.assertIn('\ufffd.json', json.load(file)['origin']['command'])

    def test_all_indexes_in_one_table_or_array(self):
        words = ('--index', 'all', '--keys', 2000, '--value-size', 100, '--seconds', 0.05)
        table = bench(*words)
        self.assertEqual(table.returncode, 0, table.stderr)
        rows = [line.split()[0] for line in table.stdout.splitlines()]
        self.assertRegex(table.stdout, r'^seed \d+\n')
        rows = rows[2:]  # and behind the operating point
        self.assertEqual(rows[0], 'index')
        runs = json.loads(bench(*words, '--json', '-').stdout)
        self.assertEqual([run['index'] for run in runs], rows[1:])
        self.assertEqual(len(rows), 11)
        self.assertEqual(len({run['seed'] for run in runs}), 1)
        for run in runs:
            cost = run['index_bytes_per_entry']
            self.assertEqual(cost['guides'], 16, run['index'])  # one for the key, one for the value
            self.assertGreater(cost['nodes'], cost['guides'])
            self.assertAlmostEqual(sum(node['accesses'] for node in run['memory_nodes']), 1)
            self.assertAlmostEqual(sum(node['records'] for node in run['memory_nodes']), 1)
        scanning = json.loads(bench(*words, '--json', '-', '--workload', 'e').stdout)
        self.assertEqual([run['index'] for run in scanning],
                         [name for name in rows[1:] if not name.startswith('hash')])

    def test_scans_of_an_ordered_index(self):
        found = self.report('--index', 'art', '--workload', 'e')
        self.assertGreater(found['operations_by_kind']['scan'], 0)

    def test_the_operating_point_stands_beside_the_utilization(self):
        # One window spans the run: a short one of a busy machine may have no requests.
        found = self.report('--manage', 'off', '--distribution', 'uniform', '--rate', 800,
                            '--seconds', 2, '--window', 60)
        point, last = found['operating_point'], found['windows'][-1]
        self.assertEqual(point['requests'], last['operations'])
        self.assertAlmostEqual(point['requests_per_record'], last['operations'] / 2000)
        self.assertAlmostEqual(point['expected_used_share'],
                               1 - (1 - 1 / 2000)**last['operations'], places=6)
        self.assertAlmostEqual(point['used_share'], last['used_bytes'] / (2000 * 130))
        # A tenth is more than three deviations of 2000 records.
        self.assertAlmostEqual(point['used_share'] / point['expected_used_share'], 1, delta=0.1)
        self.assertAlmostEqual(point['share_of_best'] * point['best_page_utilization'],
                               found['page_utilization'])
        # All 64 pages are touched: each holds 31.5 records.
        self.assertAlmostEqual(point['best_page_utilization'],
                               point['expected_used_share'] * 2000 * 130 / (64 * 4096), places=2)
        self.assertIsNone(self.report('--workload', 'd')['operating_point'])

    def test_the_operating_point_is_told_before_the_run(self):
        words = ('--keys', 2000, '--value-size', 100, '--seconds', 0.1, '--window', 0.05)
        for rate, first, later in ((8000, 'operating point 0.2 requests a record and window', 2),
                                   (0, 'operating point follows from the measured rate', 2)):
            with self.subTest(rate=rate):
                text = bench(*words, '--rate', rate).stdout
                self.assertTrue(text.startswith(first), text)
                self.assertEqual(text.count('operating point '), later)
                self.assertIn('of any fixed order', text)
        text = bench(*words, '--workload', 'd').stdout
        self.assertTrue(text.startswith('operating point is not computed: '), text)

    def test_each_distribution_and_skew_is_served(self):
        for words in (('exponential',), ('sequential',), ('latest', '--workload', 'd'),
                      ('exponential', '--workload', 'd'), ('zipfian', '--theta', 1.07),
                      ('permuted', '--theta', 1), ('latest', '--theta', 1.07)):
            with self.subTest(words=words):
                found = self.report('--distribution', *words)
                self.assertEqual(found['distribution'], words[0])
                self.assertEqual(found['missing'] + found['corrupt'], 0)
                self.assertGreater(found['miss_bounds']['requests'], 0)

    def test_deletes_multigets_and_drawn_sizes(self):
        run = small('--mix', 'read=40,update=20,delete=20,multiget=20',
                    '--value-sizes', 'uniform', '--value-size', 400)
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads(run.stdout)
        kinds = found['operations_by_kind']
        self.assertEqual({kind for kind, count in kinds.items() if count > 0},
                         {'read', 'update', 'delete', 'multiget'})
        self.assertGreater(found['missing'], 0)
        self.assertEqual(found['corrupt'], 0)
        self.assertIsNone(found['miss_bounds'])
        self.assertEqual((found['value_sizes'], found['mix']),
                         ('uniform', 'read=40,update=20,delete=20,multiget=20'))

    def test_a_range_of_sizes(self):
        for words, sizes in (((), 'uniform'), (('--value-sizes', 'zipfian'), 'zipfian')):
            with self.subTest(sizes):
                found = self.report('--value-size', '100..300', *words)
                self.assertEqual([found[field] for field in
                                  ('least_value_size', 'value_size', 'value_sizes')],
                                 [100, 300, sizes])

    def test_counters_and_values_that_expire(self):
        run = small('--mix', 'read=40,update=30,incr=30', '--ttl', 0.001, '--distribution',
                    'uniform', '--seconds', 0.5)
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads(run.stdout)
        self.assertEqual({kind for kind, count in found['operations_by_kind'].items() if count},
                         {'read', 'update', 'incr'})
        self.assertGreater(found['missing'], 0)
        self.assertEqual((found['corrupt'], found['ttl_seconds']), (0, 0.001))
        self.assertIsNone(found['miss_bounds'])
        self.assertIsNone(found['operating_point'])

    def test_every_key_is_used_in_the_end(self):
        # Used bytes are those of the last window, which spans the run here.
        found = self.report('--manage', 'off', '--distribution', 'uniform', '--seconds', 2,
                            '--window', 60)
        # Uniform over 2000 keys: after tens of thousands of reads each was used.
        self.assertEqual(found['windows'][-1]['used_bytes'], 2000 * (30 + 100))

    def test_each_run_has_its_own_requests_and_a_seed_repeats_them(self):
        first, second = self.report(), self.report()
        self.assertNotEqual(first['seed'], second['seed'])
        self.assertNotEqual(first['requests_checksum'], second['requests_checksum'])
        again = self.report('--seed', first['seed'])
        self.assertEqual(again['requests_checksum'], first['requests_checksum'])
        table = bench('--keys', 2000, '--seconds', 0.1, '--seed', 1234567)
        self.assertIn('seed 1234567', table.stdout)

    def test_misses_stand_beside_what_others_would_miss(self):
        found = self.report('--distribution', 'hotspot', '--hotspot-keys', 0.1,
                            '--hotspot-accesses', 0.9, '--seconds', 0.5)
        bounds = found['miss_bounds']
        self.assertEqual(bounds['requests'], found['operations'])
        self.assertEqual(bounds['one_record_in'], 1)
        self.assertEqual(len(bounds['curve']), 19)
        for point in bounds['curve']:
            share = point['share']
            best = 1 - (9 * share if share <= 0.1 else 0.9 + (share - 0.1) / 9)
            self.assertAlmostEqual(point['best_static'], best, places=2)
            self.assertGreaterEqual(point['object_lru'], best - 0.01)
        # All records are in DRAM.
        self.assertGreaterEqual(found['record_dram_bytes'], 2000 * (30 + 100))
        self.assertEqual(found['best_static_miss_ratio'], 0)
        scanned = self.report('--index', 'art', '--workload', 'e')
        self.assertIsNone(scanned['miss_bounds'])

    def test_a_file_takes_one_object_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            where = pathlib.Path(folder, 'runs.json')
            for _ in range(2):
                self.assertEqual(small('--json', where).returncode, 0)
            self.assertEqual(len([json.loads(line) for line in where.read_text().splitlines()]), 2)


class Mistakes(unittest.TestCase):
    def refuse(self, *words):
        run = bench(*words)
        self.assertNotEqual(run.returncode, 0)
        self.assertEqual(run.stdout, '')
        return run.stderr

    def test_one_line_says_what_is_wrong(self):
        for words, part in ((('--workload', 'z'), 'a to f'),
                            (('--manage', 'maybe'), 'on|off|track'),
                            (('--key-size', 3), '--key-size'), (('--theta', 11), '--theta'),
                            (('--mix', 'read=50'), 'add up to 100'),
                            (('--value-sizes', 'gauss'), 'constant|uniform|zipfian'),
                            (('--value-size', '9..x'), '100..1000'),
                            (('--value-size', '300..100'), '300..100'),
                            (('--value-size', '9..99', '--value-sizes', 'constant'),
                             'takes one --value-size'),
                            (('--ttl', -1), '--ttl'),
                            (('--index', 'art', '--mix', 'scan=50,incr=50'), 'counters'),
                            (('--distribution', 'gauss'), 'exponential, sequential'),
                            (('--exponential-accesses', 1), '--exponential-accesses'),
                            (('--index', 'nothing'), 'hash-pugh'),
                            (('--connect', 'unix:/nonexistent/x'), '/nonexistent/x'),
                            (('--connect', 'somewhere'), 'unix:PATH'),
                            (('--json', '/nonexistent/x'), '--json'),
                            (('--used', 'keys'), '--connect'),
                            (('--cold-backing', 'file:/nonexistent'), '/nonexistent'),
                            (('--workload', 'e'), 'ordered')):
            with self.subTest(words=words):
                line = self.refuse(*words)
                self.assertIn(part, line)
                self.assertEqual(line.count('\n'), 1, line)


def count_and_expire(case, where):
    """A server that counts and expires values by itself."""
    run = small('--connect', where, '--mix', 'read=60,update=20,incr=20', '--ttl', 0.1,
                '--distribution', 'uniform', '--seconds', 1)
    case.assertEqual(run.returncode, 0, run.stderr)
    found = json.loads(run.stdout)
    case.assertGreater(found['operations_by_kind']['incr'], 0)
    case.assertEqual(found['corrupt'], 0)
    return found


class RealRedis(unittest.TestCase):
    def test_drives_it_unchanged(self):
        server = start_redis()
        self.addCleanup(server.stop)
        with tempfile.NamedTemporaryFile('r') as used:
            # One window spans the run, so that the last one has requests.
            run = small('--connect', f'unix:{server.path}', '--workload', 'f', '--rate', 500,
                        '--used', used.name, '--seconds', 1, '--window', 60)
            lines = [line.split() for line in used]
        keys = [key for key, _ in lines]
        self.assertIn('0', {windows_ago for _, windows_ago in lines})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertGreater(len(keys), 0)
        asked = subprocess.run(['redis-cli', '-s', server.path, 'EXISTS', *keys], check=True,
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(int(asked.stdout), len(set(keys)))
        found = json.loads(run.stdout)
        self.assertEqual(found['index'], 'redis')
        self.assertIsNone(found['miss_ratio'], 'its threads wait, not ours')
        self.assertGreater(found['rss_bytes'], 0)
        self.assertEqual((found['missing'], found['corrupt']), (0, 0))
        run = small('--connect', f'unix:{server.path}', '--value-sizes', 'zipfian', '--seconds', 1,
                    '--mix', 'read=25,update=25,delete=25,multiget=25')
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads(run.stdout)
        self.assertGreater(found['operations_by_kind']['multiget'], 0)
        self.assertGreater(found['missing'], 0)
        self.assertEqual(found['corrupt'], 0)
        # A run that gets next to no processor may meet no expired value.
        until(lambda: count_and_expire(self, f'unix:{server.path}')['missing'] > 0)

        def counters():
            return subprocess.run(['redis-cli', '-s', server.path, 'INFO', 'stats'], check=True,
                                  capture_output=True, text=True, timeout=60).stdout
        until(lambda: re.search(r'expired_keys:[1-9]', counters()))


class RealMemcached(unittest.TestCase):
    def test_drives_it_unchanged(self):
        server = start_memcached()
        self.addCleanup(server.stop)
        run = small('--connect', f'memcached:unix:{server.path}', '--workload', 'f')
        self.assertEqual(run.returncode, 0, run.stderr)
        found = json.loads(run.stdout)
        self.assertEqual(found['index'], 'memcached')
        self.assertGreater(found['operations'], 0)
        self.assertIsNone(found['rss_bytes'], 'it does not tell')
        self.assertEqual((found['missing'], found['corrupt']), (0, 0))
        count_and_expire(self, f'memcached:unix:{server.path}')

    def test_tells_of_records_that_a_small_one_dropped(self):
        server = start_memcached('-m', '2')
        self.addCleanup(server.stop)
        run = small('--connect', f'memcached:unix:{server.path}', '--keys', 50_000)
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stderr, '^isotherm: [1-9][0-9]* records were missing')
        self.assertGreater(json.loads(run.stdout)['missing'], 0)

    def test_says_that_a_redis_is_none(self):
        server = start_redis()
        self.addCleanup(server.stop)
        run = small('--connect', f'memcached:unix:{server.path}')
        self.assertEqual((run.returncode, run.stdout), (1, ''))
        self.assertEqual(run.stderr, 'isotherm: no memcached answers at '
                                     f'memcached:unix:{server.path}: is one running there?\n')


if __name__ == '__main__':
    unittest.main()
