#!/usr/bin/env python3
"""cmake_test.py CLANG PLUGIN SOURCE_DIR

Tests of the targets that isotherm_instrument() makes for a user.
"""

import os
import re
import shutil
import sys
import unittest

from plugin_case import CLANG, HEAD, PLUGIN, SOURCE, Case, run

PROJECT = f'''cmake_minimum_required(VERSION 3.25)
project(user LANGUAGES CXX)
set(CMAKE_CXX_STANDARD 23)
add_library(isotherm INTERFACE)
add_library(isotherm::isotherm ALIAS isotherm)
target_include_directories(isotherm INTERFACE {SOURCE}/include {SOURCE}/src)
target_compile_options(isotherm INTERFACE -mcx16)
set(ISOTHERM_PLUGIN_CLANG 19)
include({SOURCE}/cmake/IsothermInstrument.cmake)
'''
GET = 'int get(node& n) { return n.value->a; }\n'


class Targets(Case):
    def configure(self, targets, plugin=PLUGIN, expected=0):
        self.source(HEAD, 'node.hpp')
        self.source(f'{PROJECT}set(ISOTHERM_PLUGIN "{plugin}")\n{targets}', 'CMakeLists.txt')
        done = run('cmake', '-G', 'Ninja', '-S', str(self.at), '-B', str(self.at / 'build'),
                   f'-DCMAKE_CXX_COMPILER={CLANG}')
        self.assertEqual(done.returncode, expected, done.stdout + done.stderr)
        return ' '.join(done.stderr.split())  # CMake breaks its lines

    def build(self, *targets):
        return run('ninja', '-C', str(self.at / 'build'), *targets)

    def builds(self, *targets):
        done = self.build(*targets)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def test_an_interface_library_instruments_what_links_it(self):
        self.source('#include "node.hpp"\n#ifndef ISOTHERM_INSTRUMENTED\n#error plain\n#endif\n'
                    + GET, 'user.cpp')
        self.configure('add_library(structures INTERFACE)\nisotherm_instrument(structures)\n'
                       'add_library(user OBJECT user.cpp)\n'
                       'target_link_libraries(user PRIVATE structures)\n')
        self.builds()
        said = self.configure('add_library(structures INTERFACE)\n'
                              'isotherm_instrument(structures REPORT reports)\n', expected=1)
        self.assertIn('an INTERFACE library has no sources', said)

    def test_targets_that_share_a_source_have_reports_of_their_own(self):
        self.source('#include "node.hpp"\n' + GET, 'shared.cpp')
        reports = self.at / 'reports'
        self.configure(f'foreach(name IN ITEMS one other)\n  add_library(${{name}} OBJECT '
                       f'shared.cpp)\n  isotherm_instrument(${{name}} REPORT {reports})\n'
                       'endforeach()\nadd_library(third OBJECT shared.cpp)\n'
                       'isotherm_instrument(third)\n')
        self.builds()
        self.assertEqual(sorted(str(path.relative_to(reports)) for path in reports.rglob('*.txt')),
                         ['one/shared_cpp.txt', 'other/shared_cpp.txt'])

    def test_a_source_and_a_precompiled_header_are_made_anew_when_the_plugin_changes(self):
        plugin = self.at / 'isotherm-clang.so'
        shutil.copy(PLUGIN, plugin)
        self.source(GET, 'user.cpp')
        self.configure('add_library(user OBJECT user.cpp)\nisotherm_instrument(user)\n'
                       'target_precompile_headers(user PRIVATE node.hpp)\n', plugin)
        self.assertIn('cmake_pch.hxx.pch', self.builds('-v'))
        self.assertIn('no work to do', self.builds())
        os.utime(plugin)
        again = self.builds('-v')
        self.assertIn('cmake_pch.hxx.pch -c', again)
        self.assertIn('user.cpp.o -c', again)

    def test_a_target_that_is_not_instrumented_is_told_to_be(self):
        self.source('#include "node.hpp"\n' + GET, 'structures.cpp')
        self.source('#include "node.hpp"\nint main() { return 0; }\n', 'application.cpp')
        self.configure('add_library(structures OBJECT structures.cpp)\n'
                       'isotherm_instrument(structures)\n'
                       'add_library(application OBJECT application.cpp)\n'
                       'target_link_libraries(application PRIVATE structures)\n')
        done = self.build('application')
        self.assertNotEqual(done.returncode, 0)
        errors = re.findall(r'error: .*', done.stdout)
        self.assertEqual(errors, [
            'error: "this target includes marked classes of a library that it links and that is '
            'compiled by isotherm\'s plugin: call isotherm_instrument() for this target too"'])

    def test_without_the_plugin_all_is_plain(self):
        self.source('#include "node.hpp"\n' + GET, 'structures.cpp')
        said = self.configure('add_library(structures OBJECT structures.cpp)\n'
                              'isotherm_instrument(structures)\n'
                              'add_library(application OBJECT structures.cpp)\n'
                              'target_link_libraries(application PRIVATE structures)\n', '')
        self.assertIn('marked pointers stay plain, since isotherm was built without', said)
        self.builds()

    def test_a_module_is_refused(self):
        module = self.source('export module m;\nexport int f() { return 0; }\n', 'm.cppm')
        done = run(CLANG, '-std=c++23', f'-fplugin={PLUGIN}', '--precompile', module, '-o',
                   str(self.at / 'm.pcm'))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn('isotherm-clang.so does not instrument C++20 modules', done.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
