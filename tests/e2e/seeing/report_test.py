#!/usr/bin/env python3
"""isotherm report draws what the tool measures, and says how to install what it needs.

    report_test.py ISOTHERM PACKAGE
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

ISOTHERM, PACKAGE = sys.argv.pop(1), sys.argv.pop(1)
SCRIPTS = pathlib.Path(__file__).resolve().parents[3] / 'lab/experiments'


def run(*words, path=PACKAGE, programs=None):
    """As one who has the package (`path`), and these programs."""
    programs = programs or os.path.dirname(sys.executable)
    return subprocess.run([ISOTHERM, *map(str, words)], capture_output=True, text=True, timeout=600,
                          check=False, env={**os.environ, 'PYTHONPATH': path, 'PATH': programs})


class Report(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)
        self.results = self.at / 'results'
        self.results.mkdir()
        self.page = self.at / 'page.html'

    def measure(self, *words):
        told = run(*words)
        self.assertEqual(told.returncode, 0, told.stderr)

    def test_draws_what_the_tool_measured(self):
        lines = self.results / 'runs.jsonl'
        for manage in ('off', 'on'):
            self.measure('bench', 'ycsb', '--keys', 2000, '--value-size', 100, '--rate', 2000,
                         '--seconds', 0.5, '--window', 0.1, '--manage', manage, '--json', lines)
        self.measure('bench', 'tiers', '--index', 'art', '--keys', 20000, '--seconds', 0.1,
                     '--warmup', 0.1, '--placement', 'interleave,static,layered', '--json', lines)
        self.measure('gensort', 2000, self.at / 'in')
        self.measure('sort', '--record', 100, self.at / 'in', '-o', self.at / 'out', '--device',
                     'emu:pmem@1/8', '--json', self.results / 'sort.json')
        (self.results / 'broken.json').write_text('{')
        told = run('report', self.results, '--output', self.page)
        self.assertEqual(told.returncode, 0, told.stderr)
        self.assertIn('left out: broken.json', told.stderr)
        text = self.page.read_text(encoding='utf-8')
        for part in ('Page utilization', 'OBASE, figure 7(b)', 'Placement of nodes', 'Sorts',
                     'emulated</span>', 'isotherm bench ycsb --keys 2000', 'measured on'):
            self.assertIn(part, text)
        self.assertNotIn('not told', text)
        for line in lines.read_text(encoding='utf-8').splitlines():
            self.assertGreater(json.loads(line)['origin']['memory_bytes'], 0)

    def test_draws_what_a_script_saved(self):
        told = subprocess.run(
            [sys.executable, '-B', SCRIPTS / 'sort_memory/run.py', '--tool', ISOTHERM, '--dir',
             self.at, '--limits', '32mb', '--times', '1', '--algorithms', 'auto', '--save',
             self.results / 'memory.jsonl'], capture_output=True, text=True, timeout=600,
            check=False)
        self.assertEqual(told.returncode, 0, told.stderr)
        told = run('report', self.results, '--output', self.page)
        self.assertEqual((told.returncode, told.stderr), (0, ''))
        text = self.page.read_text(encoding='utf-8')
        for part in ('Memory of sorts', 'lab/experiments/sort_memory/run.py --tool', 'measured on'):
            self.assertIn(part, text)
        self.assertNotIn('not told', text)

    def test_tells_how_to_install_what_it_needs(self):
        nowhere = self.at / 'nowhere'
        nowhere.mkdir()
        for missing in ({'path': ''}, {'programs': str(nowhere)}):
            told = run('report', self.results, '--output', self.page, **missing)
            self.assertEqual(told.returncode, 1)
            self.assertEqual(told.stderr.count('\n'), 1, told.stderr)
            self.assertIn('python3 -m pip install python/isotherm_report', told.stderr)
            self.assertEqual(told.stdout, '')

    def test_loads_no_module_from_the_folder_it_stands_in(self):
        (self.results / 'isotherm_report.py').write_text('raise SystemExit(7)')
        told = subprocess.run([ISOTHERM, 'report', '.'], capture_output=True, text=True,
                              timeout=600, check=False, cwd=self.results,
                              env={**os.environ, 'PYTHONPATH': PACKAGE,
                                   'PATH': os.path.dirname(sys.executable)})
        self.assertEqual(told.returncode, 1)
        self.assertIn('no results in .', told.stderr)

    def test_fails_where_nothing_can_be_read(self):
        told = run('report', self.results, '--output', self.page)
        self.assertEqual(told.returncode, 1)
        self.assertIn('no results', told.stderr)
        self.assertEqual(run('report').returncode, 2)


if __name__ == '__main__':
    unittest.main(verbosity=1)
