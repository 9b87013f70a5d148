#!/usr/bin/env python3
"""Mistakes with guides do not compile, and the compiler says what to do: cases.cpp.

    refused_test.py COMPILER SOURCE_DIR CASES
"""

import re
import subprocess
import sys
import tempfile
import unittest

COMPILER, SOURCE, CASES = sys.argv.pop(1), sys.argv.pop(1), sys.argv.pop(1)

NOT_MOVABLE = 'the collector moves objects by copying bytes'
OVER_ALIGNED = 'objects are aligned to 16 bytes'
NO_CONTENT = 'a byte string is made by make_bytes'
SAID = {1: NOT_MOVABLE, 2: NOT_MOVABLE, 3: OVER_ALIGNED, 4: NOT_MOVABLE, 5: 'deleted',
        6: r'write_in_place\(\) copies bytes', 7: 'deleted', 8: NO_CONTENT, 9: 'deleted',
        10: NO_CONTENT, 11: 'nodiscard', 12: OVER_ALIGNED, 13: NOT_MOVABLE}


class Refused(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        header, cls.precompiled = f'{cls.folder.name}/all.hpp', f'{cls.folder.name}/all.pch'
        with open(header, 'w', encoding='utf-8') as file:
            file.write('#include <isotherm/guide.hpp>\n#include <string>\n')
        made = cls.compile('-x', 'c++-header', header, '-o', cls.precompiled)
        if made.returncode != 0:
            raise RuntimeError(made.stderr)

    @staticmethod
    def compile(*arguments):
        return subprocess.run(
            [COMPILER, '-std=c++23', '-Werror=unused-result', f'-I{SOURCE}/src',
             f'-I{SOURCE}/include', *arguments], capture_output=True, text=True, timeout=120,
            check=False)

    def case(self, number):
        return self.compile('-fsyntax-only', '-include-pch', self.precompiled, f'-DCASE={number}',
                            CASES)

    def test_what_is_right_compiles(self):
        done = self.case(0)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_each_mistake_is_told(self):
        for number, said in SAID.items():
            with self.subTest(number):
                done = self.case(number)
                self.assertNotEqual(done.returncode, 0)
                self.assertTrue(re.search(f'error: .*{said}', done.stderr), done.stderr)

    def test_these_are_all(self):
        with open(CASES, encoding='utf-8') as file:
            cases = {int(number) for number in re.findall(r'CASE == (\d+)', file.read())}
        self.assertEqual(cases, {0, *SAID})


if __name__ == '__main__':
    unittest.main()
