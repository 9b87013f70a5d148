#!/usr/bin/env python3
"""Commands that the documentation shows: each `isotherm bench` runs, made tiny, and so do the flags
that scripts hand on to it; each run.py of lab/experiments knows the options that it is called with.

    docs_commands_test.py TOOL PROJECT
"""

import lzma
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

TOOL, PROJECT = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
PAGES = [PROJECT / 'README.md', *sorted((PROJECT / 'docs').rglob('*.md'))]
# Options that make a command tiny, where it has them. Three are added where they are missing.
TINY = {'--keys': '2000', '--seconds': '0.1', '--warmup': '0.1', '--window': '0.1',
        '--rate': '2000', '--rounds': '1', '--ops': '2000', '--min-rest': '0', '--requests': '2000',
        '--speed': '1000'}
ADDED = ('--seconds', '--warmup', '--keys')


def commands(pattern):
    """(page:line, words) of each line of a code block that begins with `pattern`."""
    for page in PAGES:
        text = page.read_text(encoding='utf-8')
        joined = re.sub(r'\\\n\s*', ' ', text)
        for line in re.finditer(rf'^ *((?:\S*/)?{pattern}.*)$', joined, re.MULTILINE):
            if line[0].startswith(' ' * 4) or joined[:line.start()].count('\n```') % 2 == 1:
                number = text.count('\n', 0, text.find(line[1][:60])) + 1
                yield f'{page.relative_to(PROJECT)}:{number}', shlex.split(line[1], comments=True)


def spans(pattern):
    """(page, words) of each code span in running text that begins with `pattern`, and goes on."""
    for page in PAGES:
        text = page.read_text(encoding='utf-8')
        for span in re.finditer(rf'`((?:[^`\s]*/)?{pattern}\s[^`]*)`', text):
            yield str(page.relative_to(PROJECT)), shlex.split(span[1])


def tiny(words, socket):
    words = list(words)
    for at, word in enumerate(words[:-1]):
        words[at + 1] = TINY.get(word, words[at + 1])
        if word == '--connect':
            words[at + 1] = f'unix:{socket}'
        if word == '--cold-backing':
            words[at + 1] = 'anon'
    for option in () if {'trace', 'tlb'} & set(words[:3]) else ADDED:
        if option not in words and '--ops' not in words:
            words += [option, TINY[option]]
    return words


class Programs(unittest.TestCase):
    def test_the_first_program_is_the_example(self):
        page = (PROJECT / 'docs/library.md').read_text(encoding='utf-8')
        shown = page.partition('```cpp\n')[2].partition('```')[0]
        example = (PROJECT / 'examples/first.cpp').read_text(encoding='utf-8')
        self.assertEqual(shown, example.partition('\n')[2], 'without its first line')


class Commands(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def serve(self):
        socket = self.folder / 'store.sock'
        server = subprocess.Popen([TOOL, 'serve', '--port', '-1', '--unixsocket', str(socket)],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.terminate)
        said = iter(server.stdout.readline, '')
        self.assertTrue(any('Ready to accept' in line for line in said), 'isotherm serve ended')
        return socket

    def count_of_commands(self):
        """Places of the pages that name a benchmark and, behind it, a flag or a file."""
        return sum(len(re.findall(r'isotherm bench \w+\s[\w-]', page.read_text(encoding='utf-8')))
                   for page in PAGES)

    def test_each_benchmark_runs(self):
        socket = self.serve()
        # Blocks as the ARC paper's authors give them out: first one, how many, two more.
        (self.folder / 'P6.lis').write_text(
            ''.join(f'{7 * i % 3000} 2 0 {i}\n' for i in range(3000)))
        # Binary keys, as Caffeine's repository has them.
        (self.folder / 'cache2k_orm-busy.trace.xz').write_bytes(
            lzma.compress(b''.join((i % 300).to_bytes(4, 'big') for i in range(3000))))
        (self.folder / 'cloud_physics_w106.trace.xz').write_bytes(
            lzma.compress(b''.join((i % 300).to_bytes(4, 'little') for i in range(3000))))
        # Traces are generated before they are replayed.
        benchmarks = [*commands('isotherm bench'), *spans(r'isotherm bench \w+')]
        self.assertEqual(len(benchmarks), self.count_of_commands(), 'and none is left out')
        found = [*commands('isotherm trace'), *benchmarks]
        for place, words in found:
            with self.subTest(place):
                command = [TOOL, *tiny(words[1:], socket)]
                done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                                      timeout=300, check=False)
                self.assertEqual(done.returncode, 0, (command, done.stderr))

    def test_flags_that_scripts_hand_on_are_the_drivers(self):
        found = [(place, words[words.index('--') + 1:])
                 for place, words in commands(r'lab/experiments/(?:memory|pairs|e1_e3)/run\.py')
                 if '--' in words]
        self.assertGreater(len(found), 2)
        for place, flags in found:
            with self.subTest(place):
                command = [TOOL, 'bench', 'ycsb', *tiny(flags, None)]
                done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True,
                                      timeout=300, check=False)
                self.assertEqual(done.returncode, 0, (command, done.stderr))

    def test_each_script_knows_its_options(self):
        found = list(commands(r'lab/experiments/\S+\.py'))
        self.assertGreater(len(found), 20)
        helps = {}
        for place, words in found:
            own = words[:words.index('--')] if '--' in words else words
            called = tuple(own[:2] if len(own) > 1 and not own[1].startswith('-') and
                           not own[1].endswith('.jsonl') else own[:1])
            if called not in helps:
                helps[called] = subprocess.run(
                    [sys.executable, '-B', PROJECT / called[0], *called[1:], '--help'],
                    capture_output=True, text=True, timeout=60, check=False)
            with self.subTest(place):
                self.assertEqual(helps[called].returncode, 0, helps[called].stderr)
                for option in (word.split('=')[0] for word in own if word.startswith('--')):
                    self.assertRegex(helps[called].stdout, rf'{option}\b', f'{words} of {place}')


if __name__ == '__main__':
    unittest.main()
