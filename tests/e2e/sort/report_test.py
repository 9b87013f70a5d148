#!/usr/bin/env python3
"""scripts/sort_report draws what isotherm sort --json writes, and refuses what is none.

    report_test.py ISOTHERM SORT_REPORT
"""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ISOTHERM, SCRIPT = sys.argv.pop(1), sys.argv.pop(1)


def run(*args):
    return subprocess.run(args, capture_output=True, text=True, timeout=600, check=False)


class SortReport(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)
        run(ISOTHERM, 'gensort', '2000', self.at / 'in')

    def test_draws_the_stages_of_each_sort(self):
        reports = []
        for algorithm in ('onepass', 'ems'):
            report = self.at / (algorithm + '.json')
            told = run(ISOTHERM, 'sort', '--record', '100', self.at / 'in', '-o', self.at / 'out',
                       '--algorithm', algorithm, '--json', report)
            self.assertEqual(told.returncode, 0, told.stderr)
            reports.append(report)
        for name in ('page.html', 'page.png', 'page.svg'):
            told = run(sys.executable, SCRIPT, *reports, '-o', self.at / name)
            self.assertEqual(told.returncode, 0, told.stderr)
            self.assertGreater((self.at / name).stat().st_size, 5000)
        page = (self.at / 'page.html').read_text(encoding='utf-8')
        for word in ('RUN read', 'MERGE write', 'onepass', 'ems', 'data:image/png;base64,'):
            self.assertIn(word, page)

    def test_refuses_what_is_no_report(self):
        other = self.at / 'other.json'
        other.write_text('{}', encoding='utf-8')
        for source in (other, self.at / 'none', self.at / 'in'):
            told = run(sys.executable, SCRIPT, source, '-o', self.at / 'page.png')
            self.assertEqual(told.returncode, 1)
            self.assertEqual(told.stderr.count('\n'), 1, told.stderr)
        self.assertFalse((self.at / 'page.png').exists())


if __name__ == '__main__':
    unittest.main(verbosity=1)
