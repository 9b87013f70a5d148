#!/usr/bin/env python3
"""plugin_test.py CLANG PLUGIN SOURCE_DIR REFUSED...

What isotherm-clang.so says, makes of code, and keeps from linking.
"""

import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

CLANG, PLUGIN, SOURCE, *REFUSED = sys.argv[1:]
HERE = pathlib.Path(__file__).resolve().parent
PLAIN = [CLANG, '-std=c++23', '-mcx16', f'-I{SOURCE}/include', f'-I{SOURCE}/src']
PREFIX = 'isotherm_'
# A release of clang does not look at whether the code that it makes is valid.
VERIFIED = '-fverify-intermediate-code'
GC = ['-ffunction-sections', '-fdata-sections', '-Wl,--gc-sections']


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False,
                          **options)


def instrumented(*arguments):
    return [*PLAIN, f'-fplugin={PLUGIN}', '-DISOTHERM_INSTRUMENTED', '-include',
            'isotherm/compiler.hpp', *arguments]


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
        """What the compiler says, without the folder; one line a message."""
        done = run(*instrumented('-fsyntax-only', '-fno-caret-diagnostics',
                                 '-fno-color-diagnostics', *arguments, str(path)))
        lines = done.stderr.replace(str(pathlib.Path(path).parent) + '/', '').splitlines()
        return [line for line in lines if re.match(r'\w+\.[ch]pp:', line)]

    def module(self, text, *arguments):
        """What is made of `text`, in LLVM's language."""
        done = run(*instrumented('-S', '-emit-llvm', VERIFIED, '-o', '-', *arguments,
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
        path = HERE / 'refused' / 'guides.cpp'
        for name in ['malloc', 'longjmp']:
            group = f'[-Wisotherm-{name}]'
            self.assertTrue(any(group in line for line in self.messages(path)))
            quiet = self.messages(path, f'-fplugin-arg-isotherm-Wno-isotherm-{name}')
            self.assertFalse(any(group in line for line in quiet))

    def test_unknown_option(self):
        done = run(*instrumented('-fsyntax-only', '-fplugin-arg-isotherm-nonsense',
                                 self.source('')))
        self.assertIn("isotherm-clang.so has no option 'nonsense'", done.stderr)
        self.assertNotEqual(done.returncode, 0)

    def test_a_copied_node_is_refused(self):
        said = self.messages(self.source(HEAD + 'node copy(const node& n) { return n; }\n'))
        self.assertIn("implicitly-deleted copy constructor of 'node'", '\n'.join(said))
        said = self.messages(self.source(HEAD + 'void copy(node& a, node& b) { a = b; }\n'))
        self.assertIn('cannot be assigned', '\n'.join(said))
        said = self.messages(
            self.source(HEAD + 'void copy(node& a, node& b) { a.value = b.value; }\n'))
        self.assertIn("selected deleted operator '='", '\n'.join(said))

    def test_an_object_that_cannot_be_moved_is_refused(self):
        done = run(*instrumented('-fsyntax-only', self.source(
            '#include <isotherm/compiler.hpp>\n#include <string>\n'
            'struct node { [[isotherm::guide]] std::string* value = nullptr; };\n'
            'node one;\n')))
        self.assertIn('the collector moves objects by copying bytes', done.stderr)
        self.assertIn('source.cpp:3:', done.stderr)

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
            done = run(*instrumented('-c', '-o', str(self.at / 'o'), *option.split(), path))
            self.assertNotEqual(done.returncode, 0, option)
            self.assertIn('isotherm-clang.so cannot put scopes', done.stderr)


class FixIts(Case):
    def test_applied_they_compile(self):
        text = (HEAD +
                'struct list {\n'
                '  record* first() { return at->value; }\n'
                '  void fill() { at->value = new record{3}; }\n'
                '  void refill() { delete at->value; at->value = new record; }\n'
                '  int bound() { auto& held = at->value; return held->a; }\n'
                '  node* at;\n'
                '};\n')
        path = self.source(text)
        self.assertEqual(len([m for m in self.messages(path) if 'error' in m]), 5)
        done = run(*instrumented('-fsyntax-only', '-fdiagnostics-parseable-fixits', path))
        lines = text.splitlines()
        # From the last to the first, each is a range of a line and what takes its place.
        fixes = re.findall(r'^fix-it:"[^"]*":{(\d+):(\d+)-\d+:(\d+)}:"(.*)"$', done.stderr, re.M)
        for line, begin, end, new in sorted(((int(a), int(b), int(c), d) for a, b, c, d in fixes),
                                            reverse=True):
            old = lines[line - 1]
            lines[line - 1] = old[:begin - 1] + new + old[end - 1:]
        fixed = '\n'.join(lines) + '\n'
        self.assertEqual(self.messages(self.source(fixed)), [])
        self.assertIn('isotherm::pinned<record> first() { return '
                      'isotherm::pinned<record>(at->value); }', fixed)
        self.assertIn('at->value = isotherm::make<record>(3);', fixed)
        self.assertIn('isotherm::discard(at->value); at->value = isotherm::make<record>();', fixed)
        self.assertIn('{ record* held = at->value; return held->a; }', fixed)

    def test_none_where_another_declaration_would_have_to_change(self):
        done = run(*instrumented('-fsyntax-only', '-fdiagnostics-parseable-fixits', self.source(
            HEAD + 'record* first(node& n);\n'
            'record* first(node& n) { return n.value; }\n'
            'int bound(node& n) { const auto& held = n.value; return held->a; }\n')))
        self.assertEqual(done.stderr.count('error:'), 2, done.stderr)
        self.assertNotIn('fix-it', done.stderr)


HEAD = '''#include <isotherm/compiler.hpp>
struct record { int a = 0; };
struct node { node* next = nullptr; [[isotherm::guide]] record* value = nullptr; };
'''

FIGURE_5_5 = '''#include <iostream>
#include <isotherm/compiler.hpp>
class HashMap {
 public:
  void get();
  void skip() { ++looked; }
 private:
  int looked = 0;
  [[isotherm::guide]] char* key = nullptr;
};
void HashMap::get() {
  if (*key > 37) {
    return;
  }
  *key = 42;
  std::cout << "Value: " << *key << std::endl;
}
'''


class Code(Case):
    """What the pass makes, before anything is inlined."""

    def scopes(self, body):
        return body.count('@isotherm_enter_scope('), body.count('@isotherm_leave_scope(')

    def test_figure_5_5(self):
        for level in ['-O0', '-O2']:
            functions = self.code(FIGURE_5_5, level, '-fno-inline')
            get = functions['_ZN7HashMap3getEv']
            entered, left = self.scopes(get)
            self.assertEqual(entered, 1)
            self.assertGreaterEqual(left, 2)  # the return, and what writing throws
            # It opens before the first use, and no use comes after it closes.
            self.assertLess(get.index('isotherm_enter_scope'), get.index('marked'))
            last = get.rindex('isotherm_leave_scope')
            self.assertNotIn('isotherm6marked', get[last:])

    def test_nothing_where_nothing_is_touched(self):
        for body in self.code(FIGURE_5_5 + 'void f(HashMap& m) { m.skip(); m.get(); }\n',
                              '-O0').items():
            if body[0] != '_ZN7HashMap3getEv' and PREFIX not in body[0]:
                self.assertEqual(self.scopes(body[1]), (0, 0), body[0])

    def test_through_private_methods_and_lambdas(self):
        functions = self.code(HEAD + '''
class list {
 public:
  int outer() { return one(); }
  int by_lambda() { return visit([](record& r) { return r.a; }); }
  int none() { return 4; }
 private:
  int one() { return two(); }
  int two() { return first->value->a; }
  template <class F> int visit(F f) { return f(*first->value); }
  node* first;
};
int use(list& l) { return l.outer() + l.by_lambda() + l.none(); }
''', '-O0')
        with_scope = {name for name, body in functions.items()
                      if self.scopes(body)[0] and not name.startswith(PREFIX)}
        self.assertEqual(with_scope, {'_ZN4list5outerEv', '_ZN4list9by_lambdaEv'})

    def test_what_is_inlined_everywhere_is_not_kept(self):
        text = HEAD + '''
class list {
 public:
  int get() { return one(); }
 private:
  int one() { return first->value->a; }
  node* first;
};
int use(list& l) { return l.get(); }
'''
        functions = self.code(text, '-O2')
        self.assertIn('_ZN4list3getEv', ''.join(functions.values()))
        self.assertNotIn('_ZN4list3oneEv', functions)

    def test_marks_of_others_stay(self):
        made = self.module(FIGURE_5_5 + '[[clang::annotate("theirs")]] void f() {}\n', '-O2')
        rows = re.search(r'^@llvm.global.annotations = .*', made, re.M)[0]
        self.assertEqual(rows.count('{ ptr @'), 1)
        self.assertIn('{ ptr @_Z1fv,', rows)
        self.assertIn('c"theirs\\00"', made)

    def test_what_is_defined_elsewhere_may_touch(self):
        text = HEAD + '''
void unknown(node*);
[[isotherm::untouched]] void harmless(node*);
class list {
 public:
  void calls_unknown() { unknown(first); }
  void calls_harmless() { harmless(first); }
  void calls_pointer(void (*f)()) { f(); }
 private:
  node* first;
};
class other {
 public:
  void calls_unknown() { unknown(nullptr); }
};
void use(list& l, other& o) {
  l.calls_unknown();
  l.calls_harmless();
  l.calls_pointer(nullptr);
  o.calls_unknown();
}
'''
        functions = self.code(text, '-O0')
        self.assertEqual(self.scopes(functions['_ZN4list13calls_unknownEv'])[0], 1)
        self.assertEqual(self.scopes(functions['_ZN4list14calls_harmlessEv'])[0], 0)
        self.assertEqual(self.scopes(functions['_ZN4list13calls_pointerEPFvvE'])[0], 1)
        self.assertEqual(self.scopes(functions['_ZN5other13calls_unknownEv'])[0], 0)

    def test_operators_that_are_defined_elsewhere_may_touch(self):
        # Their symbols begin as those of new and delete do: _Zde, _Znt, _Zng.
        functions = self.code(HEAD + '''
struct handle { node* at; };
[[isotherm::inside]] record& operator*(handle&);
bool operator!(node&);
handle operator-(handle&);
int get(handle& h) { return (*h).a; }
class list {
 public:
  bool is_empty() { return !*first; }
  handle last() { return -own; }
  node* fresh() { return new node; }
 private:
  node* first;
  handle own;
};
void use(list& l) {
  l.is_empty();
  l.last();
  l.fresh();
}
''', '-O0')
        self.assertEqual(self.scopes(functions['_Z3getR6handle'])[0], 1)
        self.assertEqual(self.scopes(functions['_ZN4list8is_emptyEv'])[0], 1)
        self.assertEqual(self.scopes(functions['_ZN4list4lastEv'])[0], 1)
        self.assertEqual(self.scopes(functions['_ZN4list5freshEv'])[0], 0)

    def test_a_call_of_a_virtual_method_that_has_no_scope(self):
        functions = self.code(HEAD + '''
struct store {
  [[isotherm::inside]] virtual record* find() = 0;
  virtual int count() = 0;
};
int first(store& s) { return s.find()->a; }
int by_lambda(store& s) { return [&] { return s.find()->a; }(); }
int count(store& s) { return s.count(); }
''', '-O0')
        self.assertEqual(self.scopes(functions['_Z5firstR5store'])[0], 1)
        self.assertEqual(self.scopes(functions['_Z9by_lambdaR5store'])[0], 1)
        self.assertEqual(self.scopes(functions['_Z5countR5store'])[0], 0)

    def test_a_class_that_does_not_show_what_it_reaches(self):
        functions = self.code(HEAD + '''
class hidden {
 public:
  int first() { return find().a; }
  int second() { return next()->a; }
  int none() { return count(); }
 private:
  record& find();
  virtual record* next() = 0;
  int count();
  struct rest;
  rest* all_;
};
void unknown();
class list {
 public:
  struct cursor {
    void move() { unknown(); }
  };
 private:
  node* first;
};
void use(hidden& h, list::cursor& c) {
  h.first();
  h.second();
  h.none();
  c.move();
}
''', '-O0')
        self.assertEqual(self.scopes(functions['_ZN6hidden5firstEv'])[0], 1)
        self.assertEqual(self.scopes(functions['_ZN6hidden6secondEv'])[0], 1)
        self.assertEqual(self.scopes(functions['_ZN6hidden4noneEv'])[0], 0)
        # Asked first when the class around it is not complete.
        self.assertEqual(self.scopes(functions['_ZN4list6cursor4moveEv'])[0], 1)

    def test_what_other_files_may_call_has_a_scope(self):
        functions = self.code(HEAD + '''
node only;
class hidden {
 public:
  int twice();
 private:
  int once();
  int in_class() { return only.value->a; }
};
int hidden::once() { return only.value->a; }
int hidden::twice() { return once() + in_class(); }
''', '-O0')
        self.assertEqual(self.scopes(functions['_ZN6hidden4onceEv'])[0], 1)
        # Called in scopes in this file, and not to be taken for that of another one.
        own = functions['_ZN6hidden8in_classEv']
        self.assertEqual(self.scopes(own)[0], 0)
        self.assertIn('define internal', own)

    def test_a_specialisation_of_std_that_is_defined_elsewhere_may_touch(self):
        functions = self.code('#include <functional>\n#include <string>\n' + HEAD + '''
template <> struct std::hash<node> { std::size_t operator()(const node&) const; };
std::size_t hashed(const node& n) { return std::hash<node>{}(n); }
std::size_t text(const std::string& s) { return std::string(s).append(s).size(); }
''', '-O0')
        self.assertEqual(self.scopes(functions['_Z6hashedRK4node'])[0], 1)
        text = next(body for name, body in functions.items() if name.startswith('_Z4text'))
        self.assertEqual(self.scopes(text)[0], 0)

    def test_a_function_that_begins_with_a_call(self):
        functions = self.code(HEAD + '''
node only;
void may_throw();
static record* current() { may_throw(); return only.value; }
int get() { return current()->a; }
''', '-O0')
        get = functions['_Z3getv']
        self.assertEqual(self.scopes(get), (1, 2))
        self.assertLess(get.index('isotherm_enter_scope'), get.index('current'))

    def test_one_personality(self):
        functions = self.code(FIGURE_5_5, '-O0')
        self.assertIn('personality ptr @__gxx_personality_v0', functions['_ZN7HashMap3getEv'])

    def test_the_code_is_valid(self):
        for level in ['-O0', '-O2', '-O2 -g', '-O1 -fsanitize=address', '-O2 -flto=thin',
                      '-O1 -fsanitize=thread']:
            command = instrumented('-c', '-o', str(self.at / 'o'), VERIFIED, *level.split(),
                                   self.source(FIGURE_5_5))
            self.assertNotIn('-disable-llvm-verifier', run(*command, '-###').stderr)
            done = run(*command)
            self.assertEqual(done.returncode, 0, level + done.stderr)

    def test_report(self):
        report = self.at / 'report'
        done = run(*instrumented('-c', '-g', '-o', str(self.at / 'o'),
                                 f'-fplugin-arg-isotherm-report={report}',
                                 self.source(FIGURE_5_5)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(report.read_text(encoding='utf-8'),
                         'scope\tHashMap::get()\tpublic, calls isotherm::marked<char>::operator*() '
                         'const in line 12\n')

    def test_main_is_warned_of(self):
        path = self.source(HEAD + 'int main() { node n; return n.value->a; }\n')
        done = run(*instrumented('-c', '-o', str(self.at / 'o'), path))
        self.assertIn('main() touches guides itself', done.stderr)
        self.assertIn('[-Wisotherm-main]', done.stderr)


class Links(Case):
    """Objects compiled with the plugin and without do not meet in a program."""

    def test_mixed_objects(self):
        main = self.source('#include <isotherm/compiler.hpp>\nint f();\n'
                           'int main() { return f(); }\n', 'main.cpp')
        other = self.source('#include <isotherm/compiler.hpp>\nint f() { return 0; }\n', 'f.cpp')
        # A linker with its flags, and flags for the compiler.
        for linker, flags in [('bfd', []), ('lld', []), ('bfd', GC), ('lld', GC),
                              ('lld', ['-flto=thin']), ('lld', ['-flto=full'])]:
            with self.subTest(linker=linker, flags=flags):
                self.refuses_mixed(main, other, linker, flags)

    def refuses_mixed(self, main, other, linker, flags):
        objects = {}
        for kind, command in {'plain': PLAIN, 'plugin': instrumented()}.items():
            for path in [main, other]:
                made = f'{path}.{kind}.o'
                done = run(*command, *flags, '-c', '-o', made, path)
                self.assertEqual(done.returncode, 0, done.stderr)
                objects[kind, path] = made
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
