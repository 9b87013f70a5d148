#!/usr/bin/env python3
"""What the scripts of lab/experiments save tells where it comes from, as the report needs it; and
they ask of each other only what is there.

    saved_rows_test.py EXPERIMENTS PACKAGE
"""

import ast
import importlib
import pathlib
import shlex
import sys
import tempfile
import unittest
from unittest import mock

EXPERIMENTS = pathlib.Path(sys.argv.pop(1))
sys.path[:0] = [str(EXPERIMENTS / 'shared'), sys.argv.pop(1)]

import saved  # noqa: E402
from isotherm_report import results  # noqa: E402


class Rows(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name, 'rows.jsonl')

    def test_a_row_says_its_experiment_command_and_machine(self):
        script = EXPERIMENTS / 'memory_target' / 'run.py'
        with mock.patch.object(sys, 'argv', [str(script), '--save', 'a file']):
            saved.append(self.path, 'pair', ratio=0.5)
        row, = saved.rows(self.path)
        self.assertEqual((row['experiment'], row['ratio']), ('pair', 0.5))
        self.assertEqual(shlex.split(row['origin']['command']),
                         ['lab/experiments/memory_target/run.py', '--save', 'a file'])
        for field in results.NEEDED_OF_ORIGIN:
            self.assertTrue(results.has(row, field), field)
        self.assertIn(row['origin']['system'], saved.here())

    def test_what_the_tool_tells_is_kept(self):
        saved.append(self.path, 'pairs', origin={'command': 'isotherm bench ycsb'})
        row, = saved.rows(self.path)
        self.assertEqual(row['origin'], {'command': 'isotherm bench ycsb'})

    def test_rows_are_appended_and_read_in_order(self):
        for number in range(3):
            saved.append(self.path, 'soak', number=number)
        self.assertEqual([row['number'] for row in saved.rows(self.path, self.path)],
                         [0, 1, 2] * 2)

    def test_without_a_file_nothing_is_saved(self):
        saved.append(None, 'pair', ratio=1)
        self.assertFalse(self.path.exists())

    def test_no_script_saves_rows_by_itself(self):
        for script in EXPERIMENTS.rglob('*.py'):
            text = script.read_text(encoding='utf-8')
            with self.subTest(str(script.relative_to(EXPERIMENTS))):
                if script.name != 'saved.py':
                    self.assertNotIn('open(options.save', text)
                # In these the tool saves.
                if ("add_argument('--save'" in text and
                        script.parent.name not in ('backends', 'tiers')):
                    self.assertTrue('saved.append(' in text)

    def test_each_script_has_tiny_runs(self):
        for script in EXPERIMENTS.glob('*/run.py'):
            self.assertTrue(script.with_name('tiny.py').exists(), script.parent.name)

    def test_scripts_use_what_the_modules_that_they_share_have(self):
        names = [path.stem for path in (EXPERIMENTS / 'shared').glob('*.py')]
        shared = {name: importlib.import_module(name) for name in names}
        for script in EXPERIMENTS.rglob('*.py'):
            nodes = list(ast.walk(ast.parse(script.read_text(encoding='utf-8'))))
            imported = {name.name for node in nodes if isinstance(node, ast.Import)
                        for name in node.names}
            for node in nodes:
                if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
                    continue
                module = shared.get(node.value.id)
                if module is None or node.value.id not in imported:
                    continue
                if isinstance(node.ctx, ast.Store):
                    continue
                with self.subTest(f'{script.relative_to(EXPERIMENTS)}:{node.lineno}'):
                    self.assertTrue(hasattr(module, node.attr), f'{node.value.id}.{node.attr}')


if __name__ == '__main__':
    unittest.main(verbosity=1)
