#!/usr/bin/env python3
"""Prints the tests of build/release that changed files touch, one a line: ctest's number, the name.
Nightly ones are left out.

    affected.py [REVISION]

REVISION is the one to compare the working tree with: the branch's start from main by default (from
origin/main where that exists), which on main itself is the last commit. Files that git does not
know yet count as changed. build/release must be built: the compiler noted there which headers a
source includes.

A test is touched by a change of
- a source that its program, or a program that its command names, is made of, or a header of these;
- a script that its command names, or a module of the project that this one imports; a folder that
  its command names; of the whole project the folders that the script names; src, include and cmake
  if the command names build/release itself;
- a file or a folder that CMake lists as its REQUIRED_FILES;
- the code that docs/verification.md names for its model.
A changed CMake file, Makefile or preset touches all tests.
"""

import itertools
import json
import os
import re
import subprocess
import sys

BUILD = 'build/release'
TOUCHES_ALL = re.compile(r'(^|/)CMakeLists\.txt$|\.cmake$|\.in$|^Makefile$|^CMakePresets\.json$')


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def start_of_branch():
    """Where HEAD left main."""
    for main in 'origin/main', 'main':
        found = subprocess.run(['git', 'merge-base', main, 'HEAD'], capture_output=True, text=True)
        if found.returncode == 0:
            return found.stdout.strip()
    return 'HEAD'


def changed_files(revision):
    changed = output('git', 'diff', '--name-only', '--no-renames', revision)
    unknown = output('git', 'ls-files', '--others', '--exclude-standard')
    return set((changed + unknown).split('\n')) - {''}


def headers_of_sources(deps):
    """Reads the output of `ninja -t deps`: source -> all files that its objects were compiled from.
    The first file of each part is the source."""
    found = {}
    for part in deps.split('\n\n'):
        files = [line.strip() for line in part.split('\n')[1:] if line.startswith('    ')]
        if files:
            found.setdefault(files[0], set()).update(files)
    return found


def expanded(pattern):
    """The patterns that one with {alternatives} stands for."""
    parts = re.split(r'\{([^}]*)\}', pattern)
    choices = [part.split(',') if at % 2 else [part] for at, part in enumerate(parts)]
    return [''.join(choice) for choice in itertools.product(*choices)]


def code_of_models(page):
    """Reads docs/verification.md: model -> regular expressions of its files under src/. A model
    that is "the same with" more is of the files of the row above too."""
    models, above = {}, []
    for name, code in re.findall(r'^\| `(\w+)` \| (.*?) \|', page, re.MULTILINE):
        patterns = [one for quoted in re.findall(r'`([^`]*[/.][^`]*)`', code)
                    for one in expanded(quoted)]
        own = [re.compile('src/(.*/)?' + re.escape(one).replace(r'\*', r'[^/]*') + '$')
               for one in patterns]
        models[name] = own + (above if 'the same' in code else [])
        above = models[name]
    return models


def modules_of(script, tree):
    """A script and the modules of the project that it imports. Python looks for them in the folders
    that the script puts into sys.path, so each file with a module's name counts."""
    found, left = set(), [script]
    while left:
        path = left.pop()
        if path in found:
            continue
        found.add(path)
        for names in re.findall(r'^\s*(?:import|from) +(\w+(?:, *\w+)*)', tree.read(path) or '',
                                re.MULTILINE):
            for name in re.split(', *', names):
                left += tree.modules.get(name, ())
    return found


def scripts_of(test, tree):
    """The text of the scripts that a test's command names, and of their modules."""
    paths = [os.path.relpath(word, tree.root) for word in test['command'] if os.path.isabs(word)]
    return ''.join(tree.read(module) or '' for path in paths if path.endswith(('.py', '.sh'))
                   for module in modules_of(path, tree))


def property_of(test, name):
    """The values of one of ctest's properties."""
    return next((each['value'] for each in test.get('properties', ()) if each['name'] == name), [])


def is_nightly(test):
    return 'nightly' in property_of(test, 'LABELS')


def is_affected(test, changed, tree):
    """Whether one of ctest's tests is touched by changed files (relative to the project)."""
    model = tree.models.get(test['name'].removeprefix('model_'), [])
    if any(pattern.match(file) for pattern in model for file in changed):
        return True
    for needed in property_of(test, 'REQUIRED_FILES'):
        path = os.path.relpath(needed, tree.root)
        if any(path == '.' or file == path or file.startswith(path + '/') for file in changed):
            return True
    for word in test.get('command') or []:
        path = os.path.relpath(word, tree.root) if os.path.isabs(word) else word
        if path.startswith('..'):
            continue
        if path == '.':  # The whole project, of which the scripts name the folders that they read.
            if any(re.search(rf'\b{re.escape(file.split("/")[0])}\b', scripts_of(test, tree))
                   for file in changed):
                return True
        elif path == BUILD:
            if any(re.match('(src|include|cmake)/', file) for file in changed):
                return True
        elif path.startswith(BUILD):
            if changed & tree.made_of(path):
                return True
        elif path.endswith('.py'):
            if changed & modules_of(path, tree):
                return True
        elif any(file == path or file.startswith(path + '/') for file in changed):
            return True
    return False


class Tree:
    """What ninja and the files of the project say."""

    def __init__(self):
        self.root = os.getcwd()
        self.headers = headers_of_sources(output('ninja', '-C', BUILD, '-t', 'deps'))
        self.models = code_of_models(self.read('docs/verification.md'))
        self.inputs = {}
        self.modules = {}
        for file in output('git', 'ls-files', '*.py').split():
            name = os.path.basename(file).removesuffix('.py')
            self.modules.setdefault(name, []).append(file)

    def read(self, path):
        try:
            with open(path, encoding='utf-8') as file:
                return file.read()
        except OSError:
            return None

    def made_of(self, path):
        """The project's files that an output of the build is made of, headers included."""
        if path not in self.inputs:
            target = os.path.relpath(path, BUILD)
            known = subprocess.run(['ninja', '-C', BUILD, '-t', 'inputs', target],
                                   capture_output=True, text=True)
            sources = known.stdout.split('\n') if known.returncode == 0 else []
            files = set(sources).union(*(self.headers.get(source, ()) for source in sources))
            self.inputs[path] = {os.path.relpath(file, self.root) for file in files
                                 if file.startswith(self.root)}
        return self.inputs[path]


def main():
    if len(sys.argv) > 2 or sys.argv[1:2] in (['-h'], ['--help']):
        sys.exit(__doc__)
    os.chdir(os.path.dirname(os.path.abspath(__file__)) + '/..')
    changed = changed_files(sys.argv[1] if len(sys.argv) == 2 else start_of_branch())
    tests = json.loads(output('ctest', '--test-dir', BUILD, '--show-only=json-v1'))['tests']
    tree = Tree()
    everything = any(TOUCHES_ALL.search(file) for file in changed)
    for number, test in enumerate(tests, 1):
        if not is_nightly(test) and (everything or is_affected(test, changed, tree)):
            print(number, test['name'])


if __name__ == '__main__':
    try:
        main()
    except subprocess.CalledProcessError as failed:
        sys.exit(f'affected.py: {" ".join(failed.cmd)} failed: {failed.stderr.strip()}')
