#!/usr/bin/env python3
"""The manual page is well formed and knows every flag of isotherm serve, and no other.

    manual_test.py ISOTHERM PAGE
"""

import re
import subprocess
import sys
import unittest

ISOTHERM, PAGE = sys.argv.pop(1), sys.argv.pop(1)


class Manual(unittest.TestCase):
    def test_is_well_formed(self):
        said = subprocess.run(['mandoc', '-Tlint', '-W', 'warning', PAGE], capture_output=True,
                              text=True, timeout=60, check=False).stdout
        self.assertEqual(said, '')

    def test_knows_the_flags(self):
        told = subprocess.run([ISOTHERM, 'serve', '--help'], capture_output=True, text=True,
                              timeout=60, check=True).stdout
        flags = set(re.findall(r'^  (?:-\w,)?--([a-z-]+)', told, re.MULTILINE)) - {'help'}
        self.assertGreater(len(flags), 10)
        with open(PAGE, encoding='ascii') as page:
            section = page.read().split('.Sh OPTIONS OF SERVE')[1].split('.Sh')[0]
        self.assertEqual(set(re.findall(r'^\.It Fl -([a-z-]+)', section, re.MULTILINE)), flags)


if __name__ == '__main__':
    unittest.main(verbosity=1)
