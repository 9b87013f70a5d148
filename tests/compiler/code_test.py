#!/usr/bin/env python3
"""code_test.py CLANG PLUGIN SOURCE_DIR

What isotherm-clang.so makes of code.
"""

import os
import re
import shutil
import sys
import unittest

from plugin_case import CLANG, HEAD, PLUGIN, VERIFIED, Case, instrumented, run, with_precompiled

PREFIX = 'isotherm_'

TASK = '''struct task {
  struct promise_type {
    task get_return_object() { return {}; }
    std::suspend_never initial_suspend() noexcept { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
[[isotherm::inside]] void touch(node&);
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
    """The code that the pass makes, before anything is inlined."""

    def scopes(self, body):
        return body.count('@isotherm_enter_scope('), body.count('@isotherm_leave_scope(')

    def test_figure_5_5(self):
        for level in ['-O0', '-O2 -fno-inline']:
            functions = self.code(FIGURE_5_5, *level.split())
            get = functions['_ZN7HashMap3getEv']
            entered, left = self.scopes(get)
            self.assertEqual(entered, 1)
            self.assertGreaterEqual(left, 2)  # the return, and what writing throws
            # It opens before the first use, and no use comes after it closes.
            self.assertLess(get.index('isotherm_enter_scope'), get.index('marked'))
            last = get.rindex('isotherm_leave_scope')
            self.assertNotIn('isotherm6marked', get[last:])
            # Whatever leaves the function has closed it in the same block.
            blocks = re.split(r'^\w+:', get, flags=re.M)
            leaving = [block for block in blocks if re.search(r'^  (ret|resume) ', block, re.M)]
            self.assertTrue(any('  ret void' in block for block in leaving))
            for block in leaving:
                self.assertIn('@isotherm_leave_scope()', block)

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

    def test_what_has_a_scope_is_inlined(self):
        # By another function that has a personality, whose size is not what is asked about.
        functions = self.code(HEAD + '''
void may_throw();
class list {
 public:
  int get() { may_throw(); return first->value->a; }
 private:
  node* first;
};
int use(list& l) {
  try {
    return l.get();
  } catch (...) {
    return 0;
  }
}
''', '-O2', '-mllvm', '-inline-threshold=1000')
        self.assertNotIn('list3get', functions['_Z3useR4list'])
        self.assertNotIn('@isotherm_enter_scope(', functions['_Z3useR4list'])

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
        functions = self.code('#include <string_view>\n' + HEAD + '''
class hidden {
 public:
  int first() { return find().a; }
  int second() { return next()->a; }
  bool third() { return view().empty(); }
  int none() { return count(); }
 private:
  record& find();
  virtual record* next() = 0;
  std::string_view view();
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
  h.third();
  h.none();
  c.move();
}
''', '-O0')
        self.assertEqual(self.scopes(functions['_ZN6hidden5firstEv'])[0], 1)
        self.assertEqual(self.scopes(functions['_ZN6hidden6secondEv'])[0], 1)
        self.assertEqual(self.scopes(functions['_ZN6hidden5thirdEv'])[0], 1)
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

    def test_a_debugger_shows_the_arguments_where_a_function_begins(self):
        # Its own header in the place of the library, so that the program runs without one.
        (self.at / 'isotherm').mkdir()
        self.source('''#pragma once
extern "C" [[gnu::used]] inline void isotherm_enter_scope() noexcept {}
extern "C" [[gnu::used]] inline void isotherm_leave_scope() noexcept {}
namespace isotherm {
template <class T> struct marked {
  [[clang::annotate("isotherm::touch")]] T* operator->() const { return held; }
  T* held;
};
}
''', 'isotherm/compiler.hpp')
        path = self.source('''#include <isotherm/compiler.hpp>
struct record { int a = 3; };
struct node { [[isotherm::guide]] record* value; };
struct both { long one, two; };
int fetch(node* n, int key, both pair, bool yes) {
  key += static_cast<int>(pair.two);
  return yes ? key : n->value->a;
}
int main() { return fetch(nullptr, 21, {5, 7}, true) == 28 ? 0 : 1; }
''')
        program = str(self.at / 'program')
        done = run(CLANG, '-std=c++23', f'-I{self.at}', f'-fplugin={PLUGIN}', '-O0', '-g', path,
                   '-o', program)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = run('gdb', '-batch', '-nx', '-ex', 'set disable-randomization off', '-ex',
                   'break fetch', '-ex', 'run', '-ex', 'info args', '-ex', 'continue',
                   program).stdout
        self.assertIn('fetch (n=0x0, key=21, pair=..., yes=true) at ', said)
        self.assertIn('source.cpp:6\n', said)
        self.assertIn('pair = {one = 5, two = 7}', said)
        self.assertIn('exited normally', said)

    def test_one_personality(self):
        functions = self.code(FIGURE_5_5, '-O0')
        self.assertIn('personality ptr @__gxx_personality_v0', functions['_ZN7HashMap3getEv'])

    def test_the_code_is_valid(self):
        for level in ['-O0', '-O2', '-O2 -g', '-O1 -fsanitize=address', '-O2 -flto=thin',
                      '-O1 -fsanitize=thread']:
            command = with_precompiled('-c', '-o', str(self.at / 'o'), VERIFIED, *level.split(),
                                       self.source(FIGURE_5_5))
            self.assertNotIn('-disable-llvm-verifier', run(*command, '-###').stderr)
            done = run(*command)
            self.assertEqual(done.returncode, 0, level + done.stderr)

    def test_report(self):
        report = self.at / 'report'
        done = run(*with_precompiled('-c', '-g', '-o', str(self.at / 'o'),
                                     f'-fplugin-arg-isotherm-report={report}',
                                     self.source(FIGURE_5_5)))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(report.read_text(encoding='utf-8'),
                         'scope\tHashMap::get()\tpublic, calls isotherm::marked<char>::operator*() '
                         'const in line 12\n')

    @unittest.skipIf(shutil.which('ccache') is None, 'no ccache')
    def test_ccache_sees_another_plugin(self):
        plugin = self.at / 'isotherm-clang.so'
        shutil.copy(PLUGIN, plugin)
        command = [f'-fplugin={plugin}' if part == f'-fplugin={PLUGIN}' else part
                   for part in instrumented('-c', '-o', str(self.at / 'o'), self.source(HEAD))]
        environment = {**os.environ, 'CCACHE_DIR': str(self.at / 'cache')}
        environment.pop('CCACHE_DISABLE', None)
        misses = []
        for _ in range(2):
            for _ in range(2):
                done = run('ccache', *command, env=environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                counts = run('ccache', '--print-stats', env=environment).stdout
                misses.append(int(re.search(r'^cache_miss\t(\d+)$', counts, re.M)[1]))
            with plugin.open('ab') as file:
                file.write(b'\0')
        self.assertEqual(misses, [1, 1, 2, 2])

    def test_main_is_warned_of(self):
        path = self.source(HEAD + 'int main() { node n; return n.value->a; }\n')
        done = run(*with_precompiled('-c', '-o', str(self.at / 'o'), path))
        self.assertIn('main() touches guides itself', done.stderr)
        self.assertIn('[-Wisotherm-main]', done.stderr)
        done = run(*with_precompiled('-c', '-o', str(self.at / 'o'),
                                     '-fplugin-arg-isotherm-Wno-isotherm-main', path))
        self.assertEqual((done.returncode, done.stderr), (0, ''))

    # The programs are compiled and never run: their sleeps are what the warning is about.
    def test_a_scope_that_stays_open_is_warned_of(self):
        used = ['poll.h', 'unistd.h', 'chrono', 'thread']
        head = ''.join(f'#include <{each}>\n' for each in used) + HEAD
        step = 'void step(node& n) { n.value->a++; }\n'
        for body, expected in {
            'void run(node& n) { for (;;) n.value->a++; }': 'has a loop that does not end',
            'void run(node& n) { n.value->a++; sleep(1); }': 'waits by sleep while',
            'static void wait(node& n) { n.value->a++; poll(nullptr, 0, 1); }\n'
            'void run(node& n) { wait(n); }': 'waits by poll while',
            'void run(node& n) { n.value->a++; '
            'std::this_thread::sleep_for(std::chrono::seconds(1)); }': 'waits by nanosleep while',
            step + 'void run(node& n) { for (;;) step(n); }': None,
            step + 'void run(node& n) { step(n); sleep(1); }': None,
            'void run(node& n) { while (n.value->a < 3) n.value->a++; }': None,
        }.items():
            with self.subTest(body):
                path = self.source(head + body + '\n')
                command = with_precompiled('-c', '-o', str(self.at / 'o'), path)
                done = run(*command)
                self.assertEqual(done.returncode, 0, done.stderr)
                if expected is None:
                    self.assertEqual(done.stderr, '')
                    continue
                self.assertIn(expected, done.stderr)
                self.assertIn('[-Wisotherm-held]', done.stderr)
                quiet = run(*command, '-fplugin-arg-isotherm-Wno-isotherm-held')
                self.assertEqual(quiet.stderr, '')

    def test_a_report_that_cannot_be_written(self):
        report = self.at / 'nowhere' / 'report'
        done = run(*with_precompiled('-c', '-o', str(self.at / 'o'),
                                     f'-fplugin-arg-isotherm-report={report}',
                                     self.source(FIGURE_5_5)))
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(f'error: isotherm: cannot write {report}', done.stderr)

    def test_coroutines_whose_callees_touch(self):
        for body in ['task use(node& n) { touch(n); co_return; }',
                     'void use(node& n) { [&n]() -> task { touch(n); co_return; }(); }']:
            path = self.source('#include <coroutine>\n' + HEAD + TASK + body)
            done = run(*with_precompiled('-c', '-o', str(self.at / 'o'), path))
            self.assertNotEqual(done.returncode, 0, body)
            self.assertIn('isotherm: a coroutine touches guides, and a scope cannot stay open over '
                          'its suspension', done.stderr)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
