#!/usr/bin/env python3
"""The experiments of lab/experiments, tiny (tiny.py of each): they run to their ends, and their
rows are whole.

    experiments_test.py TOOL EXPERIMENTS NAME...
    experiments_test.py list EXPERIMENTS          trials, each with what ctest asks of it

A trial that needs root, a file system of its own or a control group runs where the machine gives
these; else it has to end with one line that says what the machine lacks, and with a status of its
own.
"""

import importlib.util
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL, EXPERIMENTS, *NAMES = sys.argv[1:]
STATUS_LACKING = 77  # of tree.py

sys.path.insert(0, f'{EXPERIMENTS}/shared')


def trials():
    """name -> (folder, trial) of all experiments."""
    found = {}
    for path in sorted(pathlib.Path(EXPERIMENTS).glob('*/tiny.py')):
        spec = importlib.util.spec_from_file_location(f'{path.parent.name}_tiny', path)
        tiny = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(tiny)
        found |= {name: (path.parent, trial) for name, trial in tiny.trials(TOOL).items()}
    return found


def is_finite(value):
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, list):
        return all(map(is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


class Experiment(unittest.TestCase):
    def run_tiny(self, name, place, trial):
        with tempfile.TemporaryDirectory(dir='/var/tmp') as folder:
            for file, content in trial.files.items():
                pathlib.Path(folder, file).write_bytes(content)
            for call in trial.calls:
                done = subprocess.run([sys.executable, '-B', place / 'run.py', *call], cwd=folder,
                                      capture_output=True, text=True,
                                      timeout=trial.timeout, check=False)
                if trial.may_lack and done.returncode == STATUS_LACKING:
                    self.assertRegex(done.stderr, rf'^{name}: [^\n]+\n$')
                    print(f'left out, of what this machine lacks: {done.stderr}')
                    return
                self.assertEqual(done.returncode, 0, (call, done.stdout, done.stderr))
                self.assertNotIn('Traceback', done.stderr)
                self.assertNotRegex(done.stdout.lower(), r'\bnan\b')
            rows = [json.loads(line) for path in pathlib.Path(folder).glob('*.jsonl')
                    for line in path.read_text(encoding='utf-8').splitlines()]
            self.assertGreaterEqual(len(rows), trial.rows, done.stdout)
            self.assertTrue(all(map(is_finite, rows)))
            for path in pathlib.Path(folder).glob('*.svg'):
                self.assertIn('<svg', path.read_text(encoding='utf-8'))


def add(name, place, trial):
    setattr(Experiment, f'test_{name}', lambda self: self.run_tiny(name, place, trial))


if __name__ == '__main__':
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    if TOOL == 'list':
        for each, (_, asked) in trials().items():
            print(each, 'nightly' if asked.is_nightly else 'daily',
                  'programs' if asked.needs_programs else 'tool',
                  2 * asked.timeout)  # so that a call which hangs is ended here, and told
        sys.exit()
    known = trials()
    for each in NAMES:
        add(each, *known[each])
    unittest.main(argv=sys.argv[:1])
