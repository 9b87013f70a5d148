#!/usr/bin/env python3
"""plugin_test.py CLANG PLUGIN SOURCE_DIR REFUSED...

What isotherm-clang.so says, and keeps from linking.
"""

import pathlib
import re
import sys
import unittest

from plugin_case import (CLANG, HEAD, PLAIN, PLUGIN, REFUSED, Case, instrumented, run,
                         with_precompiled)

HERE = pathlib.Path(__file__).resolve().parent
GC = ['-ffunction-sections', '-fdata-sections', '-Wl,--gc-sections']


class Refusals(Case):
    """The exact messages, their places and their order."""

    def test_refused(self):
        self.assertTrue(REFUSED)
        for name in REFUSED:
            path = HERE / name
            expected = path.with_suffix('.expected').read_text(encoding='utf-8').splitlines()
            with self.subTest(name):
                self.assertEqual(self.messages(path), expected)

    def test_a_warning_can_be_turned_off(self):
        for name, source in [('malloc', 'guides'), ('longjmp', 'guides'), ('kept', 'passed')]:
            path = HERE / 'refused' / f'{source}.cpp'
            group = f'[-Wisotherm-{name}]'
            self.assertTrue(any(group in line for line in self.messages(path)))
            quiet = self.messages(path, f'-fplugin-arg-isotherm-Wno-isotherm-{name}')
            self.assertFalse(any(group in line for line in quiet))

    def test_unknown_option(self):
        done = run(*with_precompiled('-fsyntax-only', '-fplugin-arg-isotherm-nonsense',
                                     self.source('')))
        self.assertIn("isotherm-clang.so has no option 'nonsense'", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_a_copied_node_is_refused(self):
        deleted = ["source.cpp:3:65: note: copy constructor of 'node' is implicitly deleted "
                   "because field 'value' has a deleted copy constructor"]
        for text, expected in {
            'node copy(const node& n) { return n; }': [
                "source.cpp:4:35: error: call to implicitly-deleted copy constructor of 'node'",
                *deleted],
            'int copy(node& n) { auto [next, value] = n; return next != nullptr; }': [
                "source.cpp:4:26: error: call to implicitly-deleted copy constructor of 'node'",
                *deleted],
            'void copy(node& a, node& b) { a = b; }': [
                "source.cpp:4:33: error: object of type 'node' cannot be assigned because its copy "
                "assignment operator is implicitly deleted",
                "source.cpp:3:65: note: copy assignment operator of 'node' is implicitly deleted "
                "because field 'value' has a deleted copy assignment operator"],
            'void copy(node& a, node& b) { a.value = b.value; }': [
                "source.cpp:4:39: error: overload resolution selected deleted operator '='",
                "source.cpp:4:41: note: an object has one guide: write std::exchange(b.value, "
                "nullptr) to hand it over"],
        }.items():
            with self.subTest(text):
                self.assertEqual(self.messages(self.source(HEAD + text + '\n')), expected)

    def test_a_guide_is_no_pointer(self):
        unrelated = ("error: non-const lvalue reference to type 'record *' cannot bind to a value "
                     "of unrelated type '[[isotherm::guide]] record *'")
        for text, expected in {
            'void f(node& n) { record*& held = n.value; held = nullptr; }':
                f'source.cpp:4:28: {unrelated}',
            'void f(node& n, bool b) { record*& held = b ? n.value : n.next->value; held = 0; }':
                f'source.cpp:4:36: {unrelated}',
            'record* f(node& n) { return __atomic_load_n(&n.value, __ATOMIC_SEQ_CST); }':
                'source.cpp:4:29: error: address argument to atomic operation must be a pointer to '
                "integer or pointer ('marked<record> *' invalid)",
        }.items():
            with self.subTest(text):
                self.assertEqual(self.messages(self.source(HEAD + text + '\n')), [expected])

    def test_without_the_header_there_is_no_guide(self):
        path = self.source('struct node { [[isotherm::guide]] int* value; };\n')
        done = run(*PLAIN, f'-fplugin={PLUGIN}', '-fsyntax-only', path)
        self.assertIn("source.cpp:1:17: error: 'isotherm::guide' needs '#include "
                      "<isotherm/compiler.hpp>', compiled with -DISOTHERM_INSTRUMENTED, before it",
                      done.stderr)

    def test_ranges(self):
        path = self.source(HEAD + 'record* first(node& n) { return n.value; }\n')
        done = run(*with_precompiled('-fsyntax-only', '-fdiagnostics-print-source-range-info',
                                     path))
        self.assertIn("source.cpp:4:33:{4:33-4:40}: error: 'first' returns", done.stderr)

    def test_an_object_that_cannot_be_moved_is_refused(self):
        done = run(*with_precompiled('-fsyntax-only', self.source(
            '#include <isotherm/compiler.hpp>\n#include <string>\n'
            'struct node { [[isotherm::guide]] std::string* value = nullptr; };\n'
            'node one;\n')))
        self.assertIn('the collector moves objects by copying bytes', done.stderr)
        self.assertIn('source.cpp:3:', done.stderr)

    def test_what_may_be_moved_is_said_with_and_without_the_plugin(self):
        path = self.source('''#include <isotherm/compiler.hpp>
#include <string>
struct record { record(const record&); record* next; };
template <> struct isotherm::is_trivially_relocatable<record> : std::true_type {};
template <class T> constexpr bool moves = isotherm::is_trivially_relocatable<T>::value;
static_assert(moves<std::pair<record, int>> && moves<std::tuple<int, record>>);
static_assert(!moves<std::pair<int, std::string>> && !moves<std::tuple<std::string>>);
''')
        for command in [PLAIN, instrumented()]:
            done = run(*command, '-fsyntax-only', path)
            self.assertEqual((done.returncode, done.stderr), (0, ''))

    def test_a_header_that_marks_includes_the_tripwire(self):
        self.source('struct record { int a; };\n'
                    'struct node { [[isotherm::guide]] record* value = nullptr; };\n', 'node.hpp')
        said = self.messages(self.source('#include "node.hpp"\n'))
        self.assertEqual(said, ['node.hpp:2:35: error: a file that marks guides includes '
                                '<isotherm/compiler.hpp> itself, so that objects compiled without '
                                'the plugin are found out'])


    def test_what_comes_from_a_precompiled_header_is_not_checked_again(self):
        header = self.source(HEAD + '''
class list {
 public:
  int first() { return find()->a; }
 private:
  friend void store(list&);
  record* find() { return at->value; }
  node* at;
};
''', 'list.hpp')
        compiled = str(self.at / 'list.hpp.pch')
        done = run(*instrumented('-x', 'c++-header', '-o', compiled, header))
        self.assertEqual(done.returncode, 0, done.stderr)
        said = self.messages(self.source('int f(list& l) { return l.first(); }\n'),
                             '-include-pch', compiled)
        self.assertEqual(said, [])
        text = 'record* kept;\nvoid store(list& l) { kept = l.find(); }\n'
        said = self.messages(self.source(text), '-include-pch', compiled)
        self.assertEqual(said, ['source.cpp:2:23: error: the address that a guide gives is stored '
                                "in the global variable 'kept', where it outlives its scope"])

    def test_a_pinned_object_that_ends_at_once_is_warned_of(self):
        said = self.messages(self.source(HEAD + '''
isotherm::pinned<record> first(node& n) { return isotherm::pinned<record>(n.value); }
int fine(node& n) { return first(n)->a; }
int dangling(node& n) {
  record* found = first(n).get();
  return found->a;
}
'''))
        self.assertEqual(len(said), 1, said)
        self.assertRegex(said[0], r'source\.cpp:8:19: warning: .*\[-Wdangling')

    def test_null_is_written_in_every_way(self):
        self.assertEqual(self.messages(self.source('''#include <cstddef>
#include <isotherm/compiler.hpp>
struct record { int a = 0; };
struct node {
  [[isotherm::guide]] record* value = nullptr;
  [[isotherm::guide]] record* zero = 0;
  [[isotherm::guide]] const record* null = NULL;
};
bool use(node& n, node& other, record* held, const record* seen) {
  n.value = 0;
  n.value = NULL;
  n.value = nullptr;
  isotherm::discard(std::exchange(other.value, nullptr));
  isotherm::discard(std::move(other.value));
  return n.value == 0 || n.value == NULL || nullptr != n.value || n.value == other.value ||
         n.value == held || n.value == seen || n.null == held || seen != n.null;
}
''')), [])

    def test_without_passes_there_would_be_no_scopes(self):
        path = self.source(HEAD + 'int get(node& n) { return n.value->a; }\n')
        for option in ['-save-temps=obj', '-Xclang -disable-llvm-passes']:
            done = run(*with_precompiled('-c', '-o', str(self.at / 'o'), *option.split(), path))
            self.assertNotEqual(done.returncode, 0, option)
            self.assertIn('isotherm-clang.so cannot put scopes', done.stderr)


class FixIts(Case):
    def errors_in(self, text):
        return len([said for said in self.messages(self.source(text)) if 'error' in said])

    def fixed(self, text):
        """`text` with all fixes that are printed for it."""
        done = run(*with_precompiled('-fsyntax-only', '-fdiagnostics-parseable-fixits',
                                     self.source(text)))
        lines = text.splitlines()
        # From the last to the first, each is a range of a line and what takes its place.
        fixes = re.findall(r'^fix-it:"[^"]*":{(\d+):(\d+)-\d+:(\d+)}:"(.*)"$', done.stderr, re.M)
        for line, begin, end, new in sorted(((int(a), int(b), int(c), d) for a, b, c, d in fixes),
                                            reverse=True):
            old = lines[line - 1]
            lines[line - 1] = old[:begin - 1] + new + old[end - 1:]
        return '\n'.join(lines) + '\n'

    def test_applied_they_compile(self):
        text = (HEAD +
                'struct list {\n'
                '  record* first() { return at->value; }\n'
                '  void fill() { at->value = new record{3}; }\n'
                '  void refill() { delete at->value; at->value = new record; }\n'
                '  int bound() { auto& held = at->value; return held->a; }\n'
                '  record *second() { return at->value; }\n'
                '  int tied() { auto &held = at->value; return held->a; }\n'
                '  node* at;\n'
                '};\n')
        self.assertEqual(self.errors_in(text), 7)
        fixed = self.fixed(text)
        self.assertEqual(self.messages(self.source(fixed)), [])
        self.assertIn('isotherm::pinned<record> first() { return '
                      'isotherm::pinned<record>(at->value); }', fixed)
        self.assertIn('at->value = isotherm::make<record>(3);', fixed)
        self.assertIn('isotherm::discard(at->value); at->value = isotherm::make<record>();', fixed)
        self.assertEqual(fixed.count('{ record* held = at->value; return held->a; }'), 2)
        self.assertIn('  isotherm::pinned<record> second() { return ', fixed)

    def test_of_what_clang_refuses(self):
        text = (HEAD + 'int f(node& n) { auto* p = n.value; return p->a; }\n'
                'int g(node& n) { if (const auto *p = n.value) return p->a; return 0; }\n'
                'int h(node& n) { auto p = n.value; return p->a; }\n'
                'int i(node& n) { return [p = n.value] { return p->a; }(); }\n'
                'void j(node& a, node& b) { a.value = b.value; }\n'
                'int k(node& n, bool b) { record* p = b ? n.value : nullptr; return p ? 1 : 0; }\n'
                'struct other { [[isotherm::guid]] struct record* value = nullptr; };\n')
        self.assertEqual(self.errors_in(text), 8)  # one is of the lambda's body
        fixed = self.fixed(text)
        self.assertEqual(self.messages(self.source(fixed)), [])
        self.assertIn('if (const record *p = n.value) return', fixed)
        self.assertIn('[p = static_cast<record*>(n.value)] {', fixed)
        self.assertIn('a.value = std::exchange(b.value, nullptr);', fixed)
        self.assertIn('[[isotherm::guide]] struct record* value', fixed)

    def test_none_where_another_declaration_would_have_to_change(self):
        path = self.source(HEAD + 'record* first(node& n);\n'
                           'record* first(node& n) { return n.value; }\n'
                           'int bound(node& n) { const auto& held = n.value; return held->a; }\n')
        done = run(*with_precompiled('-fsyntax-only', '-fdiagnostics-parseable-fixits', path))
        self.assertEqual(done.stderr.count('error:'), 2, done.stderr)
        self.assertNotIn('fix-it', done.stderr)


class Links(Case):
    """Objects compiled with the plugin and without do not meet in a program."""

    def test_mixed_objects(self):
        main = self.source('#include <isotherm/compiler.hpp>\nint f();\n'
                           'int main() { return f(); }\n', 'main.cpp')
        other = self.source('#include <isotherm/compiler.hpp>\nint f() { return 0; }\n', 'f.cpp')
        # Flags for the compiler and the linkers, and linkers.
        for flags, linkers in [([], ['bfd', 'lld']), (GC, ['bfd', 'lld']),
                               (['-flto=thin'], ['lld']), (['-flto=full'], ['lld'])]:
            objects = self.objects(main, other, flags)
            for linker in linkers:
                with self.subTest(linker=linker, flags=flags):
                    self.refuses_mixed(main, other, objects, linker, flags)

    def objects(self, main, other, flags):
        """By whether the plugin compiled them, and their sources."""
        made = {}
        with_plugin = with_precompiled() if flags else instrumented()
        for kind, command in {'plain': PLAIN, 'plugin': with_plugin}.items():
            for path in [main, other]:
                made[kind, path] = f'{path}.{kind}.o'
                done = run(*command, *flags, '-c', '-o', made[kind, path], path)
                self.assertEqual(done.returncode, 0, done.stderr)
        return made

    def refuses_mixed(self, main, other, objects, linker, flags):
        # Without the library, whose symbols stay undefined.
        link = [CLANG, f'-fuse-ld={linker}', '-Wl,--unresolved-symbols=ignore-all', *flags, '-o',
                str(self.at / 'program')]
        for first, second in [('plain', 'plugin'), ('plugin', 'plain')]:
            for order in [1, -1]:
                mixed = [objects[first, main], objects[second, other]]
                done = run(*link, *mixed[::order])
                self.assertNotEqual(done.returncode, 0)
                self.assertIn('isotherm_compiled_with_and_without_plugin', done.stderr)
        for kind in ['plain', 'plugin']:
            done = run(*link, objects[kind, main], objects[kind, other])
            self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
