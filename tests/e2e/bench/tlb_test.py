"""isotherm bench tlb as a user runs it: reports, mistakes, and a system without huge pages.

    bench_tlb_test.py ISOTHERM
"""
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
PR_SET_THP_DISABLE = 41


def tlb(*words, **more):
    return subprocess.run([TOOL, 'bench', 'tlb', *map(str, words)], capture_output=True, text=True,
                          timeout=300, check=False, **more)


def small(*words, **more):
    return tlb('--size', '8mb', '--accesses', 1000, '--rounds', 2, *words, **more)


def without_huge_pages():
    """Runs in the child before the tool, which inherits the setting."""
    if ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0:
        os._exit(99)


def has_huge_pages():
    setting = pathlib.Path('/sys/kernel/mm/transparent_hugepage/enabled')
    return setting.exists() and '[never]' not in setting.read_text(encoding='ascii')


class Reports(unittest.TestCase):
    def found(self, *words, **more):
        run = small('--json', '-', *words, **more)
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        return json.loads(run.stdout)

    def test_rows_of_small_pages(self):
        found = self.found('--pages', '4k', '--seed', 7)
        self.assertEqual((found['benchmark'], found['seed'], found['huge_page_bytes']),
                         ('tlb', 7, None))
        self.assertEqual([(row['hot_share'], row['access'], row['layout'])
                          for row in found['rows']],
                         [(hot, access, layout) for hot in (0.001, 0.01, 0.1)
                          for access in ('dependent', 'independent')
                          for layout in ('scattered', 'clustered')])
        for row in found['rows']:
            self.assertEqual(row['page_bytes'], 4096)
            self.assertGreater(row['ns_per_access']['median'], 0)
            self.assertEqual(row['tlb_misses_per_access'] is None,
                             found['why_no_tlb_misses'] is not None)
        pages = {(row['hot_share'], row['layout']): row['pages_touched'] for row in found['rows']}
        self.assertEqual(pages[0.01, 'clustered'], 21)  # 327 objects of 256 bytes
        self.assertGreater(pages[0.01, 'scattered'], 250)
        model = found['model']
        self.assertEqual(model['source'], 'computed')
        self.assertEqual(round(model['paper']['clustered_cycles'], -6), 144e6)
        self.assertEqual(round(model['paper']['scattered_cycles'], -8), 3.3e9)
        self.assertEqual(model['runs'][1]['clustered_cycles'], 327 * 4 + 600 + 21 * 150)

    def test_huge_pages_come_or_their_rows_are_left_out(self):
        found = self.found('--hot', '1')
        came = found['huge_page_bytes']
        sizes = {row['page_bytes'] for row in found['rows']}
        self.assertEqual(sizes, {4096, 2 << 20} if came else {4096})
        if has_huge_pages():
            self.assertGreater(came, 0)

    def test_a_process_that_may_have_no_huge_pages(self):
        found = self.found('--hot', '1', preexec_fn=without_huge_pages)
        self.assertEqual(found['huge_page_bytes'], 0)
        self.assertEqual({row['page_bytes'] for row in found['rows']}, {4096})
        text = small('--hot', '1', preexec_fn=without_huge_pages)
        self.assertIn('2 MiB pages: 0 of 8 MiB came in them', text.stdout)
        self.assertIn('left out', text.stdout)
        none = small('--pages', '2m', preexec_fn=without_huge_pages)
        self.assertEqual((none.returncode, none.stdout), (1, ''))
        self.assertIn('no huge pages came', none.stderr)

    def test_a_table_and_a_file_of_lines(self):
        with tempfile.TemporaryDirectory() as directory:
            file = pathlib.Path(directory, 'found.jsonl')
            for _ in range(2):
                run = small('--pages', '4k', '--hot', '1,2', '--json', file)
                self.assertEqual((run.returncode, run.stderr), (0, ''))
                self.assertIn('computed, not measured', run.stdout)
                self.assertIn('scattered', run.stdout)
            lines = file.read_text(encoding='utf-8').splitlines()
            self.assertEqual([json.loads(line)['benchmark'] for line in lines], ['tlb', 'tlb'])


class Mistakes(unittest.TestCase):
    def test_one_line_that_names_the_flag(self):
        for words, named in ((('--size', 'much'), 'size'), (('--size', '1kb'), '--size'),
                             (('--object', '65'), '--object'), (('--hot', '0'), '--hot'),
                             (('--hot', 'all'), '--hot'), (('--pages', '1g'), '--pages'),
                             (('--pages', '4k,4k'), '--pages'), (('--access', 'x'), '--access'),
                             (('--accesses', '0'), '--accesses'), (('--rounds', '0'), '--rounds'),
                             (('--size', '129gb'), '--size'),
                             (('more',), 'more')):
            with self.subTest(words=words):
                run = small(*words) if words[0] != '--size' else tlb(*words)
                self.assertEqual((run.returncode, run.stdout), (2, ''))
                self.assertEqual(run.stderr.count('\n'), 1, run.stderr)
                self.assertIn(named, run.stderr)

    def test_a_file_that_cannot_be_written_is_found_out_before(self):
        run = tlb('--json', '/no/such/directory/file', '--rounds', 100000)
        self.assertEqual((run.returncode, run.stdout), (1, ''))
        self.assertIn('cannot write --json', run.stderr)


if __name__ == '__main__':
    unittest.main(verbosity=1)
