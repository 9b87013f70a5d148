#!/usr/bin/env python3
"""Which tests scripts/affected.py says that changed files touch.

    affected_test.py PROJECT
"""

import glob
import os
import sys
import unittest

PROJECT = os.path.abspath(sys.argv.pop())
sys.path.insert(0, PROJECT + '/scripts')
import affected  # noqa: E402

DEPS = '''a/first.cpp.o: #deps 2, deps mtime 1 (VALID)
    /p/src/first.cpp
    /p/src/both.hpp

b/second.cpp.o: #deps 3, deps mtime 1 (VALID)
    /p/src/second.cpp
    /p/src/both.hpp
    /p/src/second.hpp

'''


class Tree:
    """A project of two programs and some scripts."""
    root = '/p'
    models = affected.code_of_models(
        '| `veto` | `guide/guide.*`, `sync/{epoch,slots}.cpp` | x | 1 |\n'
        '| `soda` | the same with `guide/soda.cpp` | x | 1 |\n')
    scripts = {'tests/e2e/serve.py': 'import os\nfrom dialogue import one\n',
               'tests/e2e/dialogue.py': 'import process\n',
               'tests/e2e/process.py': '',
               'tests/e2e/live/page.py': '    import dialogue\n',
               'tests/e2e/other.py': '',
               'tests/histories/check.py': 'sys.path.insert(0, E2E)\nimport process  # noqa\n',
               'tests/plugin.py': "flags = f'-I{SOURCE}/include'\nread('README.md')\n"}

    modules = {}
    for file in scripts:
        modules.setdefault(os.path.basename(file).removesuffix('.py'), []).append(file)

    def read(self, path):
        return self.scripts.get(path)

    def made_of(self, path):
        return {'build/release/bin/first': {'src/first.cpp', 'src/both.hpp'},
                'build/release/bin/tool': {'src/tool.cpp', 'src/both.hpp'}}.get(path, set())


def touched(name, command, *changed, **properties):
    listed = [{'name': each, 'value': value} for each, value in properties.items()]
    return affected.is_affected({'name': name, 'command': command, 'properties': listed},
                                set(changed), Tree())


class Affected(unittest.TestCase):
    def test_a_header_belongs_to_each_source_that_includes_it(self):
        found = affected.headers_of_sources(DEPS)
        self.assertEqual(found['/p/src/first.cpp'], {'/p/src/first.cpp', '/p/src/both.hpp'})
        self.assertIn('/p/src/second.hpp', found['/p/src/second.cpp'])

    def test_a_program_is_touched_by_its_sources_and_headers(self):
        command = ['/p/build/release/bin/first']
        self.assertTrue(touched('first_test', command, 'src/first.cpp'))
        self.assertTrue(touched('first_test', command, 'src/both.hpp', 'docs/x.md'))
        self.assertFalse(touched('first_test', command, 'src/second.cpp', 'docs/x.md'))

    def test_a_script_is_touched_by_its_modules_and_the_program_that_it_runs(self):
        command = ['/usr/bin/python3', '/p/tests/e2e/serve.py', '/p/build/release/bin/tool']
        for file in ('tests/e2e/serve.py', 'tests/e2e/dialogue.py', 'tests/e2e/process.py',
                     'src/tool.cpp'):
            self.assertTrue(touched('e2e_serve', command, file), file)
        self.assertFalse(touched('e2e_serve', command, 'tests/e2e/other.py'))

    def test_a_module_may_lie_in_a_folder_above(self):
        command = ['python3', '/p/tests/e2e/live/page.py']
        self.assertTrue(touched('page', command, 'tests/e2e/dialogue.py'))

    def test_a_module_may_lie_in_a_folder_beside(self):
        command = ['python3', '/p/tests/histories/check.py']
        self.assertTrue(touched('check', command, 'tests/e2e/process.py'))
        self.assertFalse(touched('check', command, 'tests/e2e/other.py'))

    def test_the_build_folder_is_made_of_the_product(self):
        command = ['/p/tests/install_test.sh', '/usr/bin/cmake', '/p/build/release']
        for file in 'src/heap/heap.hpp', 'include/isotherm/guide.hpp', 'cmake/isotherm.pc':
            self.assertTrue(touched('install', command, file), file)
        self.assertFalse(touched('install', command, 'lab/ycsb.py'))

    def test_required_files_touch(self):
        self.assertTrue(touched('docs', [], 'docs/a.md', REQUIRED_FILES=['/p/docs']))
        self.assertFalse(touched('docs', [], 'README.md', REQUIRED_FILES=['/p/docs']))
        self.assertTrue(touched('lint', [], 'README.md', REQUIRED_FILES=['/p']))

    def test_nightly_tests_are_known_by_their_label(self):
        def labelled(*labels):
            return {'name': 'x', 'properties': [{'name': 'LABELS', 'value': list(labels)}]}
        self.assertTrue(affected.is_nightly(labelled('e2e', 'nightly')))
        self.assertFalse(affected.is_nightly(labelled('e2e')))
        self.assertFalse(affected.is_nightly({'name': 'x'}))

    def test_a_folder_is_touched_by_the_files_under_it(self):
        self.assertTrue(touched('demo', ['python3', '/p/scripts'], 'scripts/demo_page.py'))
        self.assertFalse(touched('demo', ['python3', '/p/scripts'], 'scripts_of_others/x.py'))

    def test_of_the_whole_project_a_script_names_the_folders(self):
        command = ['python3', '/p/tests/plugin.py', '/p']
        self.assertTrue(touched('plugin', command, 'include/isotherm/compiler.hpp'))
        self.assertTrue(touched('plugin', command, 'README.md'))
        self.assertFalse(touched('plugin', command, 'docs/x.md'))

    def test_a_model_is_touched_by_the_code_that_its_row_names(self):
        for name in 'model_veto', 'model_soda':
            self.assertTrue(touched(name, [], 'src/guide/guide.hpp'), name)
            self.assertTrue(touched(name, [], 'src/sync/slots.cpp'), name)
        self.assertTrue(touched('model_soda', [], 'src/guide/soda.cpp'))
        self.assertFalse(touched('model_veto', [], 'src/guide/soda.cpp'))
        self.assertFalse(touched('other', [], 'src/guide/guide.hpp'))

    def test_the_page_names_code_that_exists_for_each_model(self):
        with open(PROJECT + '/docs/verification.md', encoding='utf-8') as page:
            models = affected.code_of_models(page.read())
        files = [os.path.relpath(file, PROJECT)
                 for file in glob.glob(PROJECT + '/src/**', recursive=True)]
        for path in glob.glob(PROJECT + '/tests/model/*.pml'):
            name = os.path.basename(path).removesuffix('.pml')
            self.assertTrue(models.get(name), name)
            for pattern in models[name]:
                self.assertTrue(any(pattern.match(file) for file in files), (name, pattern.pattern))

    def test_a_build_file_touches_all(self):
        for file in ('tests/heap/CMakeLists.txt', 'cmake/IsothermTest.cmake', 'Makefile',
                     'CMakePresets.json'):
            self.assertTrue(affected.TOUCHES_ALL.search(file), file)
        self.assertFalse(affected.TOUCHES_ALL.search('src/heap/heap.cpp'))


if __name__ == '__main__':
    unittest.main()
