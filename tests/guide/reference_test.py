#!/usr/bin/env python3
"""docs/library.md is true: its examples compile, it names every public call and no other.

    reference_test.py COMPILER SOURCE_DIR
"""

import os
import re
import subprocess
import sys
import unittest

COMPILER, SOURCE = sys.argv.pop(1), sys.argv.pop(1)

# Declarations that the examples take for granted.
AROUND = '''#include <isotherm/fetch.hpp>
#include <isotherm/guide.hpp>
#include <isotherm/live.hpp>
#include <isotherm/runtime.hpp>
#include <isotherm/scope.hpp>
#include <functional>
#include <string>
struct account { long balance; };
template <>
struct isotherm::is_immutable<account> : std::true_type {};
int out_of_memory();
void report(const std::string&);
'''

LIVE = '../include/isotherm/live.hpp'
# The classes and free functions of the runtime's headers that the reference is about.
CLASSES = (('guide/guide.hpp', 'guide'), ('guide/object.hpp', 'owned'),
           ('guide/object.hpp', 'bytes'), ('guide/object.hpp', 'array'),
           ('sync/scope.hpp', 'scope'), ('guide/fetcher.hpp', 'fetcher'),
           ('collector/collector.hpp', 'object_collector'), (LIVE, 'page'))
FREE = ('guide/guide.hpp', 'guide/object.hpp', 'guide/in_place.hpp', LIVE)
NOT_FOR_USERS = {
    'guide': {'slot'},              # for the collector's own tools
    'scope': {'slot', 'open', 'close'},  # the last two for isotherm/abi.h
    'bytes': {'place', 'place_outside', 'bytes_outside', 'memory_outside'},
    'array': {'place'},
    'object.hpp': {'require_movable'},
}


def read(*path):
    with open(os.path.join(SOURCE, *path), encoding='utf-8') as file:
        return file.read()


def without_comments(text):
    return re.sub(r'//[^\n]*', '', text)


def methods_of(header, name):
    text = without_comments(read('src', header))
    body = text[re.search(rf'^class (?:\[\[[^\]]*\]\] )?{name}\b[^;]*?{{', text, re.M).end():]
    public = body[body.index('public:'):]
    public = re.split(r'^ (?:private|protected):|^};', public, flags=re.M)[0]
    found = set(re.findall(r'^  (?!\s)[^=(\n]*?\b([a-z]\w*)\(', public, re.M))
    return found - {name} - NOT_FOR_USERS.get(name, set()) - {'operator', 'explicit'}


class Reference(unittest.TestCase):
    def setUp(self):
        self.text = read('docs', 'library.md')

    def assert_named(self, calls, where):
        self.assertTrue(calls, where)
        for call in sorted(calls):
            named = re.search(rf'`[^`\n]*\b{call}\b[^`\n]*`', self.text)
            self.assertTrue(named, f'docs/library.md does not know {call} of {where}')

    def test_names_every_public_call(self):
        for header, name in CLASSES:
            self.assert_named(methods_of(header, name), name)
        for header in FREE:
            internal = r'namespace guides {.*?}  // namespace guides'
            text = without_comments(re.sub(internal, '', read('src', header), flags=re.S))
            calls = set(re.findall(r'^(?:[\w:<>]+ )+([a-z]\w*)\(', text, re.M))
            self.assert_named(calls - NOT_FOR_USERS.get(os.path.basename(header), set()), header)

    def test_names_no_other_call(self):
        declared = ''.join(without_comments(read('src', folder, file))
                           for folder in ('base', 'sync', 'heap', 'heap/cold', 'guide',
                                          'collector')
                           for file in os.listdir(os.path.join(SOURCE, 'src', folder))
                           if file.endswith('.hpp'))
        declared += without_comments(read('src', LIVE))
        told = re.findall(r'`(?:[\w:]+::)?~?([a-z]\w*)(?:<T>)?\(', self.text)
        self.assertGreater(len(told), 30)
        for call in told:
            declared_so = re.search(rf'\b{call}\b', declared)
            self.assertTrue(declared_so, f'docs/library.md names {call}, which no header declares')

    def test_the_runtime_header_shows_no_inner_call(self):
        shown = ['usage_of', 'allocate_node', 'configure']
        inner = ['allocate', 'page_out_cold', 'note_cold_use', 'packing_of', 'is_valid']
        source = '#include <isotherm/runtime.hpp>\n'
        for name in shown + inner:
            source += f'namespace {name}_of_mine {{ using isotherm::heap::{name}; }}\n'
        refused = re.findall(r"error: no member named '(\w+)'", self.compile(source).stderr)
        self.assertEqual(refused, inner)

    def test_names_every_option(self):
        for header in ('heap/configure.hpp', 'collector/options.hpp'):
            text = without_comments(read('src', header))
            body = text[text.index('struct options {'):]
            members = re.findall(r'^  [\w:]+ (\w+)(?: =[^;]*)?;', body[:body.index('\n};')], re.M)
            self.assertGreaterEqual(len(members), 3, header)
            self.assert_named(members, header)

    def compile(self, source):
        return subprocess.run(
            [COMPILER, '-std=c++23', '-fsyntax-only', '-I', f'{SOURCE}/src', '-I',
             f'{SOURCE}/include', '-x', 'c++', '-'], input=source, capture_output=True,
            text=True, timeout=120, check=False)

    def test_examples_compile(self):
        examples = re.findall(r'```cpp\n(.*?)```', self.text, re.S)
        self.assertGreaterEqual(len(examples), 2)
        programs = [each for each in examples if 'int main()' in each]
        self.assertEqual(len(programs), 1)
        ended = self.compile(programs[0])
        self.assertEqual(ended.returncode, 0, ended.stderr)
        source = AROUND
        for number, example in enumerate(each for each in examples if each not in programs):
            source += (f'int example_{number}(isotherm::guide<account>& g, long amount,\n'
                       f'            isotherm::collector::object_collector& collector) {{\n'
                       f'(void)g; (void)amount; (void)collector;\n'
                       f'{{\n{example}}}\nreturn {number};\n}}\n')
        ended = self.compile(source)
        self.assertEqual(ended.returncode, 0, ended.stderr)


if __name__ == '__main__':
    unittest.main(verbosity=1)
