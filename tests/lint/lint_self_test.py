#!/usr/bin/env python3
"""The lint must catch what it promises to catch, and must be silent about a clean tree."""

import pathlib
import subprocess
import tempfile
import unittest

import cpp_text
import lint

CLEAN = {
    'src/base/CMakeLists.txt': 'isotherm_library(base SOURCES a.cpp)\n',
    'src/base/a.hpp': '#pragma once\nint f();\n',
    'src/base/a.cpp': '#include "base/a.hpp"\n\nint f() { return 1; }\n',
    'src/index/CMakeLists.txt': 'isotherm_library(index PUBLIC_LINK isotherm_guide)\n',
    'src/index/storage.hpp': '#pragma once\n#include "heap/heap.hpp"\n#include "base/a.hpp"\n',
    'src/index/index.hpp': '#pragma once\n#include "index/storage.hpp"\n',
    'src/heap/heap.hpp': '#pragma once\n',
    'include/isotherm/index.hpp': '#pragma once\n#include "index/index.hpp"\n',
}

LONG_BODY = '\n'.join(f'  g({i});' for i in range(75))


def findings(changes):
    """Returns the lint's messages about the clean tree with `changes` (name -> text, None
    removes)."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**CLEAN, **changes}.items():
            if text is None:
                continue
            path = pathlib.Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding='utf-8')
        return [f'{name}:{line}: {message}' for name, line, message in lint.violations(folder)]


class LintCatches(unittest.TestCase):
    def expect(self, changes, part):
        found = findings(changes)
        self.assertTrue(any(part in f for f in found), f'{part!r} not in {found}')

    def expect_clean(self, changes):
        self.assertEqual(findings(changes), [])

    def test_nothing_in_a_clean_tree(self):
        self.expect_clean({})

    def test_include_of_a_higher_layer(self):
        self.expect({'src/base/a.hpp': '#pragma once\n#include "heap/heap.hpp"\n'},
                    'base must not use heap')

    def test_include_of_a_peer(self):
        self.expect({'src/sort/s.hpp': '#pragma once\n#include "index/index.hpp"\n'},
                    'sort must not use index')
        self.expect({'src/device/d.hpp': '#pragma once\n#include "sync/x.hpp"\n'},
                    'device must not use sync')

    def test_include_of_a_higher_layer_through_a_public_header(self):
        self.expect({'src/base/a.hpp': '#pragma once\n#include <isotherm/index.hpp>\n'},
                    'base must not use index')

    def test_index_that_knows_the_collector_or_the_heaps(self):
        self.expect({'src/index/index.hpp': '#pragma once\n#include "collector/collector.hpp"\n'},
                    'index must not use collector')
        self.expect({'src/index/index.hpp': '#pragma once\n#include "heap/heap.hpp"\n'},
                    'index must not use heap')

    def test_unknown_layer_and_relative_include(self):
        self.expect({'src/misc/m.hpp': '#pragma once\n'}, 'not one of the layers')
        self.expect({'src/base/a.cpp': '#include "a.hpp"\n'}, 'write includes from src/')

    def test_include_between_folders_of_a_layer(self):
        self.expect({'src/sort/input/i.hpp': '#pragma once\n#include "sort/runs/runs.hpp"\n'},
                    'sort/input must not use sort/runs')
        self.expect({'src/index/art/a.hpp': '#pragma once\n#include "index/hash/h.hpp"\n'},
                    'index/art must not use index/hash')
        self.expect({'src/sort/new/n.hpp': '#pragma once\n'}, 'no place in SUBFOLDERS')
        self.expect({'src/guide/a/a.hpp': '#pragma once\n#include "guide/b/b.hpp"\n'},
                    'say in SUBFOLDERS')
        through_the_root = {'include/isotherm/s.hpp': '#pragma once\n#include "sort/runs/r.hpp"\n',
                            'src/sort/runs/r.hpp': '#pragma once\n#include "sort/input/i.hpp"\n',
                            'src/sort/input/i.hpp': '#pragma once\n#include "sort/s.hpp"\n',
                            'src/sort/s.hpp': '#pragma once\n#include "sort/t.hpp"\n'}
        self.expect_clean({**through_the_root, 'src/sort/t.hpp': '#pragma once\n'})
        self.expect({**through_the_root,
                     'src/sort/t.hpp': '#pragma once\n#include "sort/runs/r.hpp"\n'},
                    'sort/input must not use sort/runs')

    def test_link_of_a_higher_layer(self):
        self.expect({'src/base/CMakeLists.txt': 'isotherm_library(base SOURCES a.cpp\n'
                                                '  LINK isotherm_guide)\n'},
                    'base must not link guide')

    def test_long_functions(self):
        for head in ('int f()', 'template <class T>\nauto f(T x) -> int', 'TEST(a, b)',
                     'thing::thing(int x)\n    : a_{x}', 'thing::thing(int x) : a_{x}, b_(x)'):
            source = f'#include "base/a.hpp"\nnamespace n {{\n{head} {{\n{LONG_BODY}\n}}\n}}\n'
            with self.subTest(head=head):
                self.expect({'src/base/a.cpp': source}, 'a function)')

    def test_long_method_and_long_python_function(self):
        method = f'#pragma once\nclass c {{\n void m() const noexcept {{\n{LONG_BODY}\n }}\n}};\n'
        self.expect({'src/base/a.hpp': method}, 'a function)')
        self.expect({'scripts/s.py': 'def f():\n' + '    g()\n' * 75}, 'f: 76 lines')
        methods = ('    def f(self):\n' + '        g()\n' * 69 + '        def h():\n'
                   + '            g()\n    async def k(self):\n        g()\n')
        self.expect({'scripts/s.py': 'class c:\n' + methods + 'x = 1\n' * 75}, 'f: 72 lines')
        self.expect_clean({'scripts/s.py': 'def f():\n' + '    g()\n' * 69 + 'x = 1\n' * 75})

    def test_braces_in_literals_and_comments_are_no_code(self):
        text = ('int f() {\n  g("{", \'{\', R"(}{)", 1\'000);  // {\n  /* { */\n}\n'
                'int h() { return 0; }\n')
        self.assertEqual([(4, 1), (1, 5)],
                         [(lines, first) for first, lines, _ in cpp_text.functions_of(text)])

    def test_long_tables_and_classes_are_no_functions(self):
        table = 'const int t[] = {\n' + '  1,\n' * 75 + '};\n'
        members = 'struct alignas(64) s {\n' + '  int i;\n' * 75 + '};\n'
        self.assertEqual([], cpp_text.functions_of(table + members))

    def test_long_files_and_lines(self):
        self.expect({'src/base/a.cpp': '#include "base/a.hpp"\n' * 601}, '601 lines')
        self.expect({'src/base/a.hpp': '#pragma once\n' + 'int i;\n' * 400}, '401 lines')
        self.expect({'src/cli/serve/a.cpp': 'int i;\n' * 151}, '151 lines (at most 150)')
        self.expect({'src/base/a.hpp': '#pragma once\n// ' + 'x' * 98 + '\n'}, '101 columns')
        self.expect({'Makefile': '#' + 'x' * 100 + '\n'}, '101 columns')

    def test_markers(self):
        for marker in ('TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK'):
            self.expect({'docs/page.md': f'{marker}: later\n'}, f'marker {marker}')
            self.expect({'src/base/a.hpp': f'#pragma once\n// {marker}(me)\n'}, 'marker')

    def test_crowded_folder(self):
        self.expect({f'docs/{i}.md': 'x\n' for i in range(15)}, '15 files')

    def test_header_without_guard(self):
        self.expect({'src/base/a.hpp': 'int f();\n'}, '#pragma once')

    def test_words_that_have_said_several_things(self):
        for code in ('int f(int what);', 'struct s { int home_; };', 'int fresh = 0;'):
            self.expect({'src/base/a.hpp': '#pragma once\nint f();\n' + code + '\n'}, 'is banned')
        self.expect_clean({'src/base/a.hpp': '#pragma once\nint f();  // what is fresh\n',
                           'src/base/a.cpp': '#include "base/a.hpp"\nint f() { g(e.what()); }\n'})

    def test_boolean_parameters(self):
        for head in ('int f(bool fast);', 'int f(int n,\n      bool fast = true);',
                     'struct s { s(bool fast, int n); };', 'auto g = [](int n, bool fast) {};'):
            self.expect({'src/base/a.hpp': '#pragma once\n' + head + '\n'}, 'takes a bool')
        self.expect_clean({'src/base/a.hpp': '#pragma once\nint f();\nvoid set_fast(bool fast);\n'
                                             'struct s { bool fast; };\n'})

    def test_names_of_tests(self):
        for head in ('TEST(packed_heap, GivesBack)', 'TEST_F(PackedHeap,\n       gives_back)',
                     'TEST_P(Packed_Heap, GivesBack)', 'TYPED_TEST(PackedHeap, gives_back)'):
            self.expect({'tests/heap/h_test.cpp': head + ' {}\n'}, 'are named LikeThis')

    def test_a_function_of_a_header_in_another_source(self):
        build = {'src/base/CMakeLists.txt': 'isotherm_library(base SOURCES a.cpp b.cpp)\n'}
        elsewhere = {**build, 'src/base/a.cpp': '#include "base/a.hpp"\n'}
        for declared, definition in (
                ('int f();', 'int f() { return 1; }'),
                ('template <class T>\nint h(T x) {\n  return 1;\n}\nint f();',
                 'namespace n {\nint f() {\n  return 1;\n}\n}'),
                ('[[nodiscard]] std::map<int, int*> f(\n    int x = 1) noexcept;',
                 'std::map<int, int*> f(int x) noexcept { return {}; }')):
            header = '#pragma once\nnamespace n {\n' + declared + '\n}\n'
            with self.subTest(declared=declared):
                self.expect({**elsewhere, 'src/base/a.hpp': header, 'src/base/b.cpp': definition},
                            'f is defined in src/base/b.cpp')

    def test_functions_that_only_share_a_name_with_a_headers(self):
        build = {'src/base/CMakeLists.txt': 'isotherm_library(base SOURCES a.cpp b.cpp)\n'}
        for definition in ('int f() { return 1; }', 'int c::f() { return 1; }', 'int g() { f(); }'):
            self.expect_clean({**build, 'src/base/b.cpp': definition})
        member = '#pragma once\nclass c {\n  int f();\n  friend int f();\n};\n'
        self.expect_clean({**build, 'src/base/a.cpp': '', 'src/base/b.cpp': 'int f() { return 1; }',
                           'src/base/a.hpp': member})

    def test_dead_files(self):
        self.expect({'src/base/b.cpp': '\n'}, 'src/base/b.cpp:1: dead file')
        self.expect({'src/base/b.hpp': '#pragma once\n'}, 'src/base/b.hpp:1: dead file')
        self.expect({'tests/base/t.cpp': '\n', 'tests/base/CMakeLists.txt': 'x(other_t.cpp)'},
                    'tests/base/t.cpp:1: dead file')
        self.expect_clean({'src/base/deep/b.cpp': '\n',
                           'src/base/CMakeLists.txt': 'f(SOURCES a.cpp deep/b.cpp)\n'})

    def test_banned_calls(self):
        calls = ['strcpy(a, b);', 'std::sprintf(a, b);', 'int i = rand();', 'srand(1);',
                 'std::atomic<int> i;', 'using namespace std;', 'x = atoi(s);']
        for call in calls:
            with self.subTest(call=call):
                self.expect({'src/base/a.cpp': f'#include "base/a.hpp"\nvoid f() {{ {call} }}\n'},
                            'is banned')

    def test_banned_in_tests(self):
        build = {'tests/base/CMakeLists.txt': 'isotherm_test(t SOURCES t.cpp)\n'}
        for call in ('std::this_thread::sleep_for(1s);', 'usleep(5);', 'sleep(1);',
                     'GTEST' + '_SKIP();', 'DISABLED' + '_x();'):
            self.expect({**build, 'tests/base/t.cpp': f'void f() {{ {call} }}\n'}, 'is banned')

    def test_banned_words_in_comments_and_strings_are_fine(self):
        self.expect_clean({'src/base/a.cpp': '#include "base/a.hpp"\n// strcpy(a, b)\n'
                                             'const char* s = "rand()";\nint operand(int);\n'
                                             'int i = operand(2);\n'})

    def test_sockets_outside_of_server_and_workload(self):
        build = {'src/server/CMakeLists.txt': 'isotherm_library(server SOURCES s.cpp)\n'}
        for call in ('::socket(1, 2, 3);', 'accept4(1);', 'epoll_wait(e);', '::send(fd, p, n, 0);'):
            with self.subTest(call=call):
                body = f'void f() {{ {call} }}\n'
                self.expect({'src/base/a.cpp': '#include "base/a.hpp"\n' + body}, 'sockets belong')
                self.expect_clean({**build, 'src/server/s.cpp': body})

    def test_calls_that_only_share_a_name_with_a_socket_call(self):
        self.expect_clean({'src/base/a.cpp': '#include "base/a.hpp"\nvoid f() { std::bind(g); '
                                             'x.send(1); connect(); t::connect(2); }\n'})

    def expect_in_os_only(self, calls, part):
        build = {'src/os/CMakeLists.txt': 'isotherm_library(os SOURCES o.cpp)\n'}
        for call in calls:
            with self.subTest(call=call):
                body = f'void f() {{ {call} }}\n'
                self.expect({'src/base/a.cpp': '#include "base/a.hpp"\n' + body}, part)
                self.expect_clean({**build, 'src/os/o.cpp': body})

    def test_files_and_mappings_outside_of_os(self):
        self.expect_in_os_only(
            ('p = mmap(p, n, 0, 0, f, 0);', '::munmap(p, n);', 'madvise(p, n, 4);',
             'fallocate(f, 0, 0, n);', '::ftruncate(f, n);', 'statvfs(p, &s);', '::rename(a, b);',
             '::unlink(p);', '::open(p, 0);', 'int f = open(p, O_RDONLY | O_CLOEXEC);',
             'flock(f, 2);', 'pread(f, p, n, 0);', 'mkostemp(p, 0);'), 'belong to os')

    def test_threads_outside_of_os(self):
        self.expect_in_os_only(
            ('std::jthread t(g);', 'std::thread t(g);', 'pthread_create(&t, a, g, x);',
             'auto r = std::async(g);'), 'use os::start_thread')

    def test_io_uring_outside_of_direct(self):
        body = 'void f() { io_uring_queue_init(8, r, 0); }\n'
        self.expect({'src/base/a.cpp': '#include "base/a.hpp"\n' + body}, 'stands in device/direct')
        self.expect_clean({'src/device/CMakeLists.txt': 'isotherm_library(d SOURCES direct.cpp)\n',
                           'src/device/direct.cpp': body})

    def test_calls_that_only_share_a_name_with_a_call_for_files(self):
        self.expect_clean({'src/base/a.cpp': '#include "base/a.hpp"\nvoid f() { unlink(n); '
                                             'x.open(1); c::open(2);\n m.mmap(p); rename(x); '
                                             'std::thread::hardware_concurrency(); }\n'})

    def test_pages_that_name_what_is_not_there(self):
        self.expect({'docs/page.md': '[a](gone.md#part)\n'}, 'link to gone.md')
        self.expect({'docs/page.md': 'in `base/gone.hpp`\n'}, 'names base/gone.hpp')
        self.expect({'docs/page.md': '```\ncode\n```\n[a](gone.md)\n'}, 'docs/page.md:4: link')
        self.expect_clean({'docs/page.md': '[a](../src/base/a.hpp) [b](#part) `base/a.hpp`\n'
                                           '[c](https://example.org/gone.md) `[](int x)`\n'
                                           '```\n[](gone.md) {}\n```\n'})

    FLAGS = ('#pragma once\nenum flag : unsigned {\n  kReads = 1,\n  kWrites = 2,\n  kFast = 4,\n'
             '  kLeft = 8,\n};\nconstexpr unsigned kBoth = kReads | kWrites;\n')

    def test_a_flag_that_is_set_and_never_tested(self):
        source = '#include "base/a.hpp"\nconst unsigned all[] = {kFast | kBoth, 0, kLeft};\n'
        asks = 'bool f(unsigned x) { return x & kBoth || (x & kFast) != 0; }\n'
        self.expect({'src/base/a.hpp': self.FLAGS, 'src/base/a.cpp': source + asks},
                    'a.hpp:6: kLeft is set and never tested')
        found = findings({'src/base/a.hpp': self.FLAGS, 'src/base/a.cpp': source + asks})
        self.assertEqual(len([each for each in found if 'never tested' in each]), 1, found)

    def test_a_member_that_nothing_reads(self):
        header = '#pragma once\nint f();\nstruct s {\n  int left = 0;\n'
        compared = '  bool operator==(const s&) const = default;\n'
        reads = '#include "base/a.hpp"\nint f() { return s().left; }\n'
        self.expect({'src/base/a.hpp': header + '};\n'}, 'a.hpp:4: nothing reads left')
        self.expect_clean({'src/base/a.hpp': header + compared + '};\n'})
        self.expect_clean({'src/base/a.hpp': header + '};\n', 'src/base/a.cpp': reads})

    def test_a_member_that_is_only_written(self):
        build = {'src/base/CMakeLists.txt': 'isotherm_library(base SOURCES a.cpp)\n'}

        def tree(member, uses):
            return {**build, 'src/base/a.hpp': f'#pragma once\nclass c {{\n  {member};\n}};\n',
                    'src/base/a.cpp': f'#include "base/a.hpp"\nvoid c::f() {{\n  {uses}\n}}\n'}

        for member, uses in (('int left_', 'left_ = 1;\n  x->left_ -= 2;'),
                             ('int left_ = 0', 'this->left_ =\n      long_name;'),
                             ('const char* left_', 's = {.left_ = p};'),
                             ('std::string_view left_', 'c::c() : left_{p} {}'),
                             ('base::atomic<int> left_{0}', 'left_.store_release(1);')):
            with self.subTest(member=member):
                self.expect(tree(member, uses), 'a.hpp:3: nothing reads left_')
        for member, uses in (('int left_', 'left_ = 1;\n  if (left_ == 2) g();'),
                             ('int left_', 'left_ = 1;\n  g(left_);'),
                             ('base::atomic<int> left_{0}', 'left_.exchange(1);'),
                             ('os::watches left_', 'c::c() : left_{p} {}')):
            with self.subTest(member=member, uses=uses):
                self.expect_clean(tree(member, uses))

    def test_an_option_that_nothing_reads(self):
        build = {'src/cli/CMakeLists.txt': 'isotherm_library(cli SOURCES c.cpp)\n'}
        adds = 'void add(command& c, given& to) {\n  c.add("--one", to.one, "the one");\n}\n'
        runs = 'int run(given& g) { return g.one; }\n'
        self.expect({**build, 'src/cli/c.cpp': adds}, 'c.cpp:2: nothing reads the option that')
        self.expect_clean({**build, 'src/cli/c.cpp': adds + runs})


class LintReadsCommits(unittest.TestCase):
    def findings(self, message):
        with tempfile.TemporaryDirectory() as folder:
            git = ['git', '-C', folder, '-c', 'user.name=n', '-c', 'user.email=e@example.org',
                   '-c', 'commit.gpgsign=false']
            subprocess.run([*git, 'init', '-q'], check=True)
            subprocess.run([*git, 'commit', '-q', '--allow-empty', '-m', message], check=True)
            return [found for _, _, found in lint.check_commit(folder)]

    def test_messages(self):
        self.assertEqual(self.findings('x' * 72 + '\n\nWhy.'), [])
        self.assertEqual(self.findings('x' * 73 + '\n\nWhy.'),
                         ['subject of 73 columns (at most 72)'])
        self.assertEqual(self.findings('What'), ['a commit needs a body that says why'])


if __name__ == '__main__':
    unittest.main()
