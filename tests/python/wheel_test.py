#!/usr/bin/env python3
"""`pip install ./python` makes a wheel that works, without the network.

    wheel_test.py PACKAGE PACKAGES     the folder that holds scikit-build-core and nanobind
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

PACKAGE, PACKAGES = (pathlib.Path(each).resolve() for each in sys.argv[1:])
PROGRAM = 'import isotherm; print(isotherm.__file__, isotherm.sort(b"b\\na\\n"))'


def run(words, path):
    environment = {**os.environ, 'PYTHONPATH': str(path), 'PIP_NO_INDEX': '1'}
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False,
                          env=environment)
    if done.returncode:
        raise AssertionError(f'{words}: {done.stdout[-2000:]}{done.stderr[-2000:]}')
    return done.stdout


class Wheel(unittest.TestCase):
    def test_it_installs_and_sorts(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            run(['-m', 'pip', 'wheel', '--no-build-isolation', '--no-deps', '-w', folder, PACKAGE],
                PACKAGES)
            wheel, = folder.glob('isotherm-*.whl')
            names = zipfile.ZipFile(wheel).namelist()
            for part in 'isotherm/_native.pyi', 'isotherm/py.typed', 'isotherm/__init__.py':
                self.assertIn(part, names)
            self.assertFalse([each for each in names if not each.startswith('isotherm')])
            there = folder / 'there'
            run(['-m', 'pip', 'install', '--no-deps', '--target', there, wheel], PACKAGES)
            self.assertEqual(run(['-c', PROGRAM], there).split(' ', 1),
                             [str(there / 'isotherm/__init__.py'), "b'a\\nb\\n'\n"])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
