#!/usr/bin/env python3
"""The Python of python/README.md runs as it is written, one block after the other.

    python_docs_test.py PAGE PACKAGES...     folders that hold isotherm, numpy and pyarrow
"""

import os
import pathlib
import re
import sys
import tempfile
import unittest

PAGE = pathlib.Path(sys.argv.pop(1)).resolve()
while len(sys.argv) > 1:
    sys.path.insert(0, os.path.abspath(sys.argv.pop()))

BLOCK = re.compile(r'^```python\n(.*?)^```$', re.MULTILINE | re.DOTALL)


class Page(unittest.TestCase):
    def test_its_blocks_run(self):
        text = PAGE.read_text(encoding='utf-8')
        blocks = list(BLOCK.finditer(text))
        self.assertGreater(len(blocks), 2)
        names = {}
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            for block in blocks:
                line = text.count('\n', 0, block.start(1))
                exec(compile('\n' * line + block[1], PAGE, 'exec'), names)


if __name__ == '__main__':
    unittest.main()
