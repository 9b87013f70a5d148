"""The code that the tests of isotherm-clang.so share: how it is called, and what comes out.

Their arguments: CLANG PLUGIN SOURCE_DIR [REFUSED...]
"""

import functools
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CLANG, PLUGIN, SOURCE, *REFUSED = sys.argv[1:]
PLAIN = [CLANG, '-std=c++23', '-mcx16', f'-I{SOURCE}/include', f'-I{SOURCE}/src']
# A release of clang does not look at whether the code that it makes is valid.
VERIFIED = '-fverify-intermediate-code'
HEAD = '''#include <isotherm/compiler.hpp>
struct record { int a = 0; };
struct node { node* next = nullptr; [[isotherm::guide]] record* value = nullptr; };
'''


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          **options)


def instrumented(*arguments, header=('-include', 'isotherm/compiler.hpp')):
    return [*PLAIN, f'-fplugin={PLUGIN}', '-DISOTHERM_INSTRUMENTED', *header, *arguments]


HEADERS = tempfile.TemporaryDirectory()
# Options that a precompiled header must share with its includers, beside optimisation.
OF_ITS_OWN = re.compile('-(fsanitize|fno-inline)')


@functools.cache
def precompiled(level):
    """compiler.hpp as it is read at this level of optimisation, in a seventh of the time."""
    path = f'{HEADERS.name}/{level}.pch'
    done = run(*instrumented(level, '-x', 'c++-header', f'{SOURCE}/include/isotherm/compiler.hpp',
                             '-o', path, header=()))
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return '-include-pch', path


def with_precompiled(*arguments):
    """instrumented(), for tests that do not look at how the header is included."""
    if any(OF_ITS_OWN.match(each) for each in arguments):
        return instrumented(*arguments)
    is_optimised = any(re.match('-O[1-3s]', each) for each in arguments)
    return instrumented(*arguments, header=precompiled('-O2' if is_optimised else '-O0'))


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.at = pathlib.Path(self.folder.name)

    def source(self, text, name='source.cpp'):
        path = self.at / name
        path.write_text(text, encoding='utf-8')
        return str(path)

    def messages(self, path, *arguments):
        """Returns the compiler's messages, one line each, without the folder of the source."""
        command = instrumented if '-include-pch' in arguments else with_precompiled
        done = run(*command('-fsyntax-only', '-ferror-limit=0', '-fno-caret-diagnostics',
                            '-fno-color-diagnostics', *arguments, str(path)))
        lines = done.stderr.replace(str(pathlib.Path(path).parent) + '/', '').splitlines()
        return [line for line in lines if re.match(r'\w+\.[ch]pp:', line)]

    def module(self, text, *arguments):
        """Returns the module that the compiler makes of `text`, in LLVM's language."""
        done = run(*with_precompiled('-S', '-emit-llvm', VERIFIED, '-o', '-', *arguments,
                                     self.source(text)))
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def code(self, text, *arguments):
        """Its functions by their names."""
        found = {}
        for body in re.finditer(r'^define .*?@"?([\w.$]+)"?\(.*?^}',
                                self.module(text, *arguments), re.M | re.S):
            found[body[1]] = body[0]
        return found
