#!/usr/bin/env python3
"""The scripts of lab/experiments, tiny: each runs to its end, and its rows are whole.

    experiments_test.py TOOL PROJECT NAME...

The figures mean nothing at these sizes. A script that needs root, a file system of its own or a
control group is run where the machine gives these; else it has to end with one line that says what
the machine lacks, and with a status of its own.
"""

import gzip
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TOOL, PROJECT, *NAMES = sys.argv[1:]
PYTHON = sys.executable
EXPERIMENTS = pathlib.Path(PROJECT, 'lab', 'experiments')
STATUS_LACKING = 77  # of servers.py
TINY = ['--warmup', '0.3', '--seconds', '0.3', '--window', '0.1', '--keys', '2000']
YCSB = ['--', '--keys', '2000', '--threads', '2', '--ops', '4000', '--window', '0.1']
SAVED = ['--save', 'saved.jsonl']

# Name -> the calls of its script, in one folder; and the least number of lines that are saved.
EXPERIMENTS_TINY = {
    'e1_e3': ([['e1_e3.py', 'e3', '--tool', TOOL, '--indexes', 'hash-pugh', '--rounds', '1', *TINY,
                '--save', 'e3.jsonl'],
               ['e1_e3.py', 'e1', '--tool', TOOL, '--indexes', 'art', '--workloads', 'c',
                '--cold-backing', 'anon', *TINY, '--save', 'e1.jsonl'],
               ['e1_e3.py', 'table', 'e3.jsonl', 'e1.jsonl']], 4),
    'memory': ([['memory.py', '--tool', TOOL, '--workloads', 'c', '--rates', '2000',
                 '--warmup', '1', '--seconds', '1', *SAVED, '--', '--keys', '2000',
                 '--window', '0.2']], 3),
    'pairs': ([['pairs.py', '--tool', TOOL, '--rounds', '1', *SAVED, '--', '--index', 'hash-pugh',
                '--keys', '2000', '--seconds', '0.3', '--window', '0.1']], 3),
    'tiers': ([['placement/tiers.py', 'run', '--tool', TOOL, *SAVED, '--', '--index', 'btree-occ',
                '--workload', 'sp-c', '--keys', '20000', '--seconds', '0.3', '--warmup', '0.2',
                '--placement', 'interleave,sinlk'],
               ['placement/tiers.py', 'table', 'saved.jsonl'],
               ['placement/tiers.py', 'seconds', 'saved.jsonl']], 2),
    'sort_memory': ([['sort/memory.py', '--dir', '.', '--tool', TOOL, '--limits', '32mb', '--times',
                      '2', '--algorithms', 'auto', *SAVED]], 1),
    'sort_auto': ([['sort/auto.py', '--tool', TOOL, '--dir', '.', '--megabytes', '8', '--rounds',
                    '1', '--only', 'records-100', '--limit', 'tenth', '--cache', 'warm', *SAVED],
                   ['sort/auto.py', '--table', 'saved.jsonl']], 2),
    'sort_papers': ([['sort/papers.py', 'run', '--dir', '.', '--tool', TOOL, '--megabytes', '4',
                      '--rounds', '1', '--scale', '1', '--only', 'sortbenchmark', *SAVED],
                     ['sort/papers.py', 'table', 'saved.jsonl']], 2),
    'sort_peers': ([['sort/peers.py', '--dir', '.', '--lines', '--megabytes', '4', '--rounds', '1',
                     '--check', *SAVED],
                    ['sort/peers.py', '--table', 'saved.jsonl']], 2),
    'sort_shapes': ([['sort/shapes.py', '--dir', '.', '--rounds', '1', '--megabytes', '2', '--only',
                      'urls', '--only', 'repeated', '--only', 'early', '--only', 'klv', *SAVED]],
                    14),
    'miss_ratios': ([['miss_ratios.py', '--traces', '.', '--windows', '10', '--shares', '0.1,0.5',
                      *SAVED]], 2),
    'costs': ([['compiler/costs.py', '--build', str(pathlib.Path(TOOL).parents[1]), '--rounds', '1',
                '--seconds', '0.01', *SAVED]], 3),
    'beside_redis': ([['serve/beside_redis.py', '--rounds', '1', '--requests', '2000', '--keys',
                       '1000', '--clients', '4', '--pipeline', '1', *SAVED]], 1),
    'page_cost': ([['serve/page_cost.py', '--tool', TOOL, '--keys', '2000', '--threads', '2',
                    '--seconds', '0.5', '--rounds', '1', *SAVED]], 1),
    'soak': ([['serve/soak.py', 'run', '--tool', TOOL, '--minutes', '0.05', '--piece', '1',
               '--records', '2000', '--connections', '2', '--dir', '.', *SAVED],
              ['serve/soak.py', 'draw', 'saved.jsonl', '-o', 'soak.svg', '--every', '1']], 1),
    'soak_phases': ([['serve/soak.py', 'phases', '--tool', TOOL, '--phase-seconds', '1',
                      '--records', '2000', '--connections', '2', '--dir', '.', *SAVED],
                     ['serve/soak.py', 'draw', 'saved.jsonl', '-o', 'phases.svg', '--every', '1']],
                    1),
    'utilization': ([['cold/utilization.py', 'run', '--tool', TOOL, '--workloads', 'c',
                      '--requests', '1', '--keys', '2000', '--window', '0.5', '--warmup', '1',
                      '--seconds', '2', '--dir', '.', *SAVED],
                     ['cold/utilization.py', 'table', 'saved.jsonl']], 1),
    'pair': ([['cold/pair.py', '--tool', TOOL, '--target', '24mb', '--keys', '4000',
               '--threads', '2', '--warmup', '1', '--seconds', '0.5', '--pairs', '1', *SAVED]], 1),
}
# Of these, what the machine may not give: root, control groups, FUSE.
NEED_MORE = {
    'limited': ([['serve/limited.py', 'run', '--tool', TOOL, '--systems', 'on', '--limits', '75',
                  '--workloads', 'c', '--connections', '2', '--rates', '0', '--records', '60000',
                  '--seconds', '1,1,1,1', '--save', 'saved.jsonl'],
                 ['serve/limited.py', 'table', 'saved.jsonl', '--plot', 'limited.svg']], 1),
    'silent': ([['cold/silent.py', '--tool', TOOL, '--silence', '1', '--seconds', '1', '--settle',
                 '1', '--records', '60000', '--target', '30mb', '--dir', '.', *SAVED]], 3),
}
for name, more in {'hotkey': ['--records', '60000'],
                   'slow': ['--records', '60000', '--reads-ms', '0'],
                   'sizes': ['--bytes', '64', '--values', '1024', '--settle', '1'],
                   'scan': ['--records', '60000', '--settle', '1'],
                   'busy': ['--records', '60000']}.items():
    EXPERIMENTS_TINY[f'misses_{name}'] = (
        [['cold/misses.py', name, '--tool', TOOL, '--rounds', '1', '--seconds', '0.5', '--dir', '.',
          *more, *SAVED],
         ['cold/misses.py', 'table', 'saved.jsonl']], 1)


def is_finite(value):
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, list):
        return all(map(is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


class Experiment(unittest.TestCase):
    def run_tiny(self, name):
        calls, least_rows = {**EXPERIMENTS_TINY, **NEED_MORE}[name]
        with tempfile.TemporaryDirectory(dir='/var/tmp') as folder:
            with gzip.open(f'{folder}/lirs_sprite.trace.gz', 'wt') as trace:  # of miss_ratios
                trace.writelines(f'{i * i % 199}\n' for i in range(2000))
            for call in calls:
                done = subprocess.run([PYTHON, '-B', str(EXPERIMENTS / call[0]), *call[1:]],
                                      cwd=folder, capture_output=True, text=True, timeout=300,
                                      check=False)
                if name in NEED_MORE and done.returncode == STATUS_LACKING:
                    self.assertRegex(done.stderr, rf'^{name}: [^\n]+\n$')
                    print(f'left out, of what this machine lacks: {done.stderr}')
                    return
                self.assertEqual(done.returncode, 0, (call, done.stdout, done.stderr))
                self.assertNotIn('Traceback', done.stderr)
                self.assertNotRegex(done.stdout.lower(), r'\bnan\b')
            rows = [json.loads(line) for path in pathlib.Path(folder).glob('*.jsonl')
                    for line in path.read_text(encoding='utf-8').splitlines()]
            self.assertGreaterEqual(len(rows), least_rows, done.stdout)
            self.assertTrue(all(map(is_finite, rows)))
            for path in pathlib.Path(folder).glob('*.svg'):
                self.assertIn('<svg', path.read_text(encoding='utf-8'))


def add(name):
    setattr(Experiment, f'test_{name}', lambda self: self.run_tiny(name))


for name in NAMES:
    add(name)

if __name__ == '__main__':
    os.environ['PYTHONDONTWRITEBYTECODE'] = '1'
    unittest.main(argv=sys.argv[:1])
