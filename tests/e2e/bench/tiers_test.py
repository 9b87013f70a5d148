"""isotherm bench tiers as a user runs it: reports of every placement, and mistakes.

    bench_tiers_test.py ISOTHERM      ISOTHERM_TEST_WHOLE=1: every placement with every tree
"""
import json
import os
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
TREES = ('masstree', 'btree-occ', 'art')
OF_PAGES = ('interleave', 'tpp', 'memtis', 'caption')
OF_NODES = ('static', 'layered', 'sinlk', 'prophet', 'sinlk-fixed', 'sinlk-passive',
            'sinlk-separate')
FIELDS = {'memory', 'index', 'workload', 'placement', 'fast_share', 'seed', 'keys', 'fast_ns',
          'slow_ns', 'node_bytes', 'fast_bytes_limit', 'fast_bytes', 'throughput_ops_s',
          'latency_us', 'each_second', 'details'}


def tiers(*words):
    return subprocess.run([TOOL, 'bench', 'tiers', *map(str, words)], capture_output=True,
                          text=True, timeout=600)


def reports(*words, seconds=0.1):
    run = tiers('--keys', 20000, '--seconds', seconds, '--warmup', 0.1, '--trigger-ms', 10,
                '--watermark-ms', 5, '--json', '-', *words)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return [json.loads(line) for line in run.stdout.splitlines()]


class Reports(unittest.TestCase):
    def test_every_placement_of_every_tree(self):
        # A placement of pages knows nothing of trees: it runs with one of them, else with all.
        of_pages = OF_PAGES if 'ISOTHERM_TEST_WHOLE' in os.environ else ()
        wanted = {'masstree': of_pages + OF_NODES, 'btree-occ': of_pages + OF_NODES,
                  'art': OF_PAGES + OF_NODES}
        found = [row for index, placements in wanted.items()
                 for row in reports('--index', index, '--placement', ','.join(placements))]
        self.assertEqual([(each['index'], each['placement']) for each in found],
                         [(index, each) for index, some in wanted.items() for each in some])
        for each in found:
            with self.subTest(index=each['index'], placement=each['placement']):
                self.assertLessEqual(FIELDS, set(each))
                self.assertEqual(each['memory'], 'emulated')
                self.assertGreater(each['throughput_ops_s'], 0)
                self.assertGreater(each['slow_ns'], 0)
                self.assertGreater(each['fast_ns'], 0)
                self.assertEqual((each['missing'], each['corrupt']), (0, 0))
                self.assertGreater(each['fast_bytes'], 0)
                self.assertLess(each['fast_bytes'], each['node_bytes'] / 2)

    @unittest.skipUnless('ISOTHERM_TEST_WHOLE' in os.environ, 'takes seconds')
    def test_pages_move_beside_requests(self):
        # In this small tree TPP finds all pages used. MEMTIS moves each half a second, Caption each
        # second: there is time for either, on a busy machine too.
        for each in reports('--index', 'art', '--placement', 'memtis,caption', seconds=6):
            with self.subTest(placement=each['placement']):
                self.assertGreater(each['details']['moved_pages'], 0)

    def test_workloads_that_write_insert_and_scan(self):
        for workload in ('sp-a', 'sp-d', 'ycsb-a', 'ycsb-d', 'ycsb-e', 'ycsb-f'):
            with self.subTest(workload=workload):
                one, = reports('--index', 'art', '--placement', 'sinlk', '--workload', workload)
                self.assertEqual((one['missing'], one['corrupt']), (0, 0))

    def test_a_trace_is_sent_again(self):
        with tempfile.NamedTemporaryFile('w', suffix='.lis') as file:
            # Blocks 100 .. 1299 and 5000 .. 5009, some of them several times.
            file.write('\n'.join(['100 1200 0 1', '5000 10 0 2', '700', '5003', '600 20']))
            file.flush()
            found = reports('--index', 'art,btree-occ', '--placement', 'sinlk',
                            '--workload', 'trace:' + file.name)
        self.assertEqual([(each['keys'], each['missing'], each['corrupt']) for each in found],
                         2 * [(1210, 0, 0)])

    def test_no_fast_memory_and_all_of_it(self):
        none, all_of_it = reports('--index', 'btree-occ', '--placement', 'sinlk', '--fast', '0,100')
        self.assertEqual(none['fast_bytes'], 0)
        self.assertGreater(all_of_it['fast_bytes'], all_of_it['node_bytes'] / 2)

    def test_rounds_have_requests_of_their_own_and_a_seed_repeats_them(self):
        words = ('--index', 'art', '--placement', 'static', '--rounds', 2, '--seed', 7)
        self.assertEqual([each['seed'] for each in reports(*words)], [7, 8])

    def test_a_table_says_that_the_memory_is_emulated(self):
        run = tiers('--keys', 5000, '--seconds', 0.2, '--warmup', 0, '--index', 'art',
                    '--placement', 'static')
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        self.assertIn('slow memory is emulated', run.stdout)


def simulated(*words, keys=100000, requests=200000, warmup=8):
    """A tree of a twentieth of 2 million keys, at a twentieth of the rate."""
    run = tiers('--simulate', '--keys', keys, '--requests', requests, '--warmup', warmup,
                '--rate', keys, '--visit-ns', 1200, '--seed', 7, '--json', '-', *words)
    if run.returncode != 0:
        raise AssertionError(run.stderr)
    return [json.loads(line) for line in run.stdout.splitlines()]


class Simulation(unittest.TestCase):
    def test_a_seed_gives_the_same_output(self):
        words = ('--index', ','.join(TREES), '--workload', 'sp-a,ycsb-d', '--placement',
                 'interleave,memtis,sinlk,prophet,best')
        first, again = (simulated(*words, keys=20000, requests=50000, warmup=2)
                        for _ in range(2))
        for row in first:
            self.assertEqual(row['memory'], 'simulated')
            self.assertGreater(row['moved_bytes'] + row['fast_visits_per_op'], 0)
        self.assertEqual(first, again)

    def test_slow_memory_as_fast_as_the_other_gives_every_placement_the_same_time(self):
        for index in TREES:
            rows = simulated('--index', index, '--slow-ratio', '1', '--placement',
                             ','.join(OF_PAGES + OF_NODES + ('best', 'slow-fast')),
                             keys=20000, requests=50000, warmup=2)
            # Behind a cache, nodes that lie closer together gain, whatever their memory.
            uncached = [row['modelled_ns_per_op'][0] for row in rows]
            self.assertEqual((len(rows), rows[0]['cache_mib'][0]),
                             (len(OF_PAGES + OF_NODES) + 2, 0))
            for row, mine in zip(rows, uncached):
                with self.subTest(index=index, placement=row['placement']):
                    self.assertAlmostEqual(mine / uncached[0], 1, delta=0.02)

    def test_sinlk_comes_near_the_prophet_within_fast_memory(self):
        for index in TREES:
            found = {row['placement']: row for row in simulated(
                '--index', index, '--slow-ratio', '2', '--placement',
                'interleave,sinlk,prophet,best', requests=400000)}
            sinlk, prophet = found['sinlk'], found['prophet']
            with self.subTest(index=index):
                self.assertLessEqual(sinlk['slow_visits_per_op'],
                                     1.1 * prophet['slow_visits_per_op'])
                self.assertLess(prophet['slow_visits_per_op'],
                                found['interleave']['slow_visits_per_op'] / 2)
                self.assertLessEqual(found['best']['slow_visits_per_op'],
                                     prophet['slow_visits_per_op'])
                self.assertLessEqual(sinlk['fast_page_bytes'], 1.05 * sinlk['fast_bytes_limit'])
                self.assertIsNotNone(sinlk['until_hot_fast'][0]['seconds'])

    def test_each_part_of_sinlk_that_is_left_out_shows(self):
        new = {row['placement']: row for row in simulated(
            '--index', 'btree-occ', '--workload', 'ycsb-d', '--slow-ratio', '2', '--placement',
            'sinlk,sinlk-fixed,sinlk-passive,sinlk-separate', keys=50000, requests=100000,
            warmup=4)}
        whole = new['sinlk']
        self.assertGreater(whole['most_moved_bytes'], 0)
        self.assertLessEqual(whole['most_moved_bytes'], whole['moved_bytes'])
        for name in ('sinlk-fixed', 'sinlk-passive', 'sinlk-separate'):
            with self.subTest(name):
                self.assertNotEqual((new[name]['moved_bytes'], new[name]['slow_visits_per_op']),
                                    (whole['moved_bytes'], whole['slow_visits_per_op']))

    def test_the_upper_levels_are_the_ones_to_be_fast(self):
        for index in TREES:
            found = {row['placement']: row for row in simulated(
                '--index', index, '--fast', '50', '--slow-ratio', '2', '--placement',
                'interleave,layered,slow-fast', keys=50000, requests=50000, warmup=0)}
            slow = [found[name]['slow_visits_per_op']
                    for name in ('layered', 'interleave', 'slow-fast')]
            self.assertEqual(slow, sorted(slow), index)

    def test_the_hot_region_moves_as_often_as_whole_periods_are_left(self):
        row, = simulated('--index', 'art', '--workload', 'sp-c', '--shift', 2, '--slow-ratio', '2',
                         '--placement', 'sinlk', keys=20000, requests=80000, warmup=2)
        self.assertEqual(len(row['until_hot_fast']), 1 + 2, 'at the start, and in 4 seconds')

    def test_one_row_for_each_latency(self):
        rows = simulated('--index', 'art', '--placement', 'static', keys=2000, requests=5000,
                         warmup=0)
        self.assertEqual([row['slow_ratio'] for row in rows], [2, 2.5, 4])
        for row in rows:
            visits = row['visits_per_op']
            self.assertEqual(visits['record'], {'fast': 1, 'slow': 0})
            self.assertEqual(visits['leaf']['fast'] + visits['leaf']['slow'], 1)
            misses = row['fast_misses_per_op'][0] + row['slow_misses_per_op'][0]
            self.assertAlmostEqual(
                misses, row['fast_visits_per_op'] + row['slow_visits_per_op'],
                msg='without a cache each visit misses')
            slow = row['slow_misses_per_op'][0]
            self.assertAlmostEqual(row['modelled_ns_per_op'][0] - row['all_fast_ns_per_op'][0],
                                   (row['slow_ratio'] - 1) * slow * row['miss_ns'])

    def test_a_record_in_its_leaf_is_no_visit_of_its_own(self):
        words = ('--index', 'art', '--placement', 'interleave', '--slow-ratio', '2')
        outside, = simulated(*words, keys=2000, requests=5000, warmup=0)
        inside, = simulated(*words, '--records-in-leaves', keys=2000, requests=5000, warmup=0)
        self.assertEqual(inside['visits_per_op']['record'], {'fast': 0, 'slow': 0})
        self.assertAlmostEqual(outside['all_fast_ns_per_op'][0] - inside['all_fast_ns_per_op'][0],
                               outside['miss_ns'])
        self.assertEqual(inside['node_bytes'] - outside['node_bytes'], 2000 * (112 - 32))

    def test_a_table_says_that_times_are_modelled(self):
        run = tiers('--simulate', '--keys', 2000, '--requests', 5000, '--warmup', 0, '--index',
                    'art', '--placement', 'static')
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        self.assertIn('times are modelled', run.stdout)


class Mistakes(unittest.TestCase):
    def test_are_refused_in_one_line(self):
        for words, said in ((('--index', 'hash-pugh'), 'btree-occ, art'),
                            (('--workload', 'sp-e'), 'sp-a to sp-d'),
                            (('--workload', ''), 'sp-a to sp-d'),
                            (('--workload', 'trace:/nowhere'), '/nowhere'),
                            (('--workload', 'trace:/dev/null'), '1000 blocks or more'),
                            (('--workload', 'trace:' + __file__), 'line 1'),
                            (('--fast', '120'), '0 to 100'),
                            (('--fast', 'much'), '0 to 100'),
                            (('--placement', 'captain'), 'interleave'),
                            (('--keys', 10), '--keys'),
                            (('--threads', 0), '--threads'),
                            (('--count', 'some'), '--count'),
                            (('--key-size', 4), '--key-size'),
                            (('--trigger-ms', 0), 'intervals'),
                            (('--low', 0.99), 'watermarks'),
                            (('--latency', 0.5), 'latency'),
                            (('--bandwidth', 0), 'bandwidth'),
                            (('--placement', 'best'), 'interleave'),
                            (('--placement', 'slow-fast'), 'interleave'),
                            (('--requests', 5), 'need --simulate'),
                            (('--records-in-leaves',), 'need --simulate'),
                            (('--simulate', '--records-in-leaves', '--index', 'art,btree-occ'),
                             'of art'),
                            (('--simulate', '--records-in-leaves', '--index', 'art',
                              '--value-size', 73), 'up to 80 bytes'),
                            (('--simulate', '--requests', 0), '--requests'),
                            (('--simulate', '--rate', 0), '--rate'),
                            (('--simulate', '--visit-ns', -1), '--visit-ns'),
                            (('--simulate', '--slow-ratio', '0.5'), '2,2.5,4'),
                            (('--simulate', '--slow-ratio', 'x'), '2,2.5,4')):
            with self.subTest(words=words):
                run = tiers('--keys', 5000, '--seconds', 0.1, '--warmup', 0, *words)
                self.assertNotEqual(run.returncode, 0)
                self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
                self.assertIn(said, run.stderr)


if __name__ == '__main__':
    unittest.main(verbosity=1)
