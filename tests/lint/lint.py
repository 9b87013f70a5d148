#!/usr/bin/env python3
"""The rules of the house that a compiler does not check, as a test.

    lint.py ROOT      prints one line a violation; exit status 1 when there is any
    lint.py --commit ROOT      the same, and the message of the last commit

Layers (docs/architecture.md): a folder of src/ includes itself and lower layers only; peers do not
include each other. An index sees guides and scopes, never heaps (but through index/storage.hpp)
nor the collector. The other rules bound lengths, ban calls, and find what nothing uses.
"""

import ast
import functools
import pathlib
import re
import subprocess
import sys

import cpp_text
import unread

# Bottom first; the members of one group are peers.
LAYERS = [['base'], ['os'], ['sync', 'device'], ['heap'], ['guide'], ['collector'], ['live'],
          ['placement'], ['index', 'sort', 'pages'], ['store'], ['server'], ['tool'], ['top'],
          ['lab'], ['cli']]
# Folders whose subfolders are layers.
LAYERED = ('src/', 'lab/')
RANK = {name: rank for rank, group in enumerate(LAYERS) for name in group}
# The same inside a folder that has more than one folder of its own. Files that stand in the folder
# itself may be below those (what they share) or above (what puts them together).
SUBFOLDERS = {
    'os': [['limits'], ['memory'], ['files'], ['disk']],
    'cli': [['parser'], ['bench', 'pages', 'serve', 'sort', 'trace']],
    'collector': [['memory'], ['policy'], ['protocol'], ['scan'], ['window']],
    'heap': [['packed'], ['cold']],
    'index': [['art', 'btree', 'hash', 'masstree', 'skip']],
    'lab': [['workload', 'records', 'charts', 'emulation', 'kernel'],
            ['bench', 'policies', 'simulation', 'traces'], ['tiers', 'tlb', 'replay', 'backends'],
            ['micro', 'experiments']],
    'pages': [['heat', 'objects'], ['qemu', 'trace', 'live'], ['report']],
    'server': [['timing'], ['management'], ['commands']],
    'sort': [['job'], ['packed', 'keys'], ['input'], ['coding'], ['plan'], ['runs'],
             ['scan', 'cost', 'output'], ['merge', 'top', 'split'], ['index_sort'], ['algorithms']],
}
# Folders that a folder must not include although they are lower, and the one file that may.
FORBIDDEN = {('index', 'collector'): None, ('index', 'heap'): 'storage.hpp'}

# Headers whose functions stand in sources of other names: "*" where each part of what the header
# lists has a source of its own.
DEFINED_IN = {
    'src/cli/commands.hpp': '*', 'lab/bench/run.hpp': '*',
    'src/server/commands/families.hpp': '*', 'src/store/commands/command.hpp': '*',
    'lab/policies/policy.hpp': '*', 'lab/micro/peers/store.hpp': '*',
    'src/sync/scope.hpp': 'src/sync/retire.cpp',
    'src/guide/registry.hpp': 'src/guide/soda.cpp',
    'src/heap/packed/backing.hpp': '*',
    'src/index/index.hpp': 'src/index/registry.cpp',
    'src/store/memory.hpp': 'src/store/allocated.cpp',
}

MAX_LINE_COLUMNS = 100
MAX_FUNCTION_LINES = 70
MAX_LINES = {'.cpp': 600, '.hpp': 400, '.py': 600}
MAX_CLI_LINES = 150  # a subcommand reads its flags and calls what does the work
MAX_FOLDER_FILES = 14  # a header and its source, x.hpp and x.cpp, count as one

FOLDERS = ['include', 'src', 'tests', 'examples', 'scripts', 'cmake', 'compiler', 'lab', 'python',
           'deploy', 'docs', '.ci']
SKIPPED_FOLDERS = {'corpus', 'data', '__pycache__', 'build'}
CPP = {'.cpp', '.hpp', '.h'}
CODE = CPP | {'.py', '.cmake', '.sh', '.txt', ''}
TEXT = CODE | {'.md', '.json', '.html', '.css', '.js', '.pml', '.in', '.yml'}

# Assembled, so that this file does not hold what it looks for.
MARKER_WORDS = ['TO' + 'DO', 'FIX' + 'ME', 'X' + 'XX', 'HA' + 'CK']
MARKERS = re.compile(r'\b(' + '|'.join(MARKER_WORDS) + r')\b')

LINK = re.compile(r'\bisotherm(?:_|::)(\w+)')
PYTHON_SCOPE = re.compile(r'^( *)(?:(?:async )?(def)|class)\b', re.MULTILINE)
PRAGMA_ONCE = re.compile(r'^#pragma once$', re.MULTILINE)
CALL = re.compile(r'(\w+|\])\s*\(((?:[^(){};]|\([^()]*\))*)\)')
ANY_BOOLEAN = re.compile(r'[(,]\s*(?:const\s+)?bool\s')
BOOLEAN = re.compile(r'(?:^|,)\s*(?:const\s+)?bool\s+\w+\s*(?:=[^,]*)?(?:,|$)')
TEST = re.compile(r'TEST(?:_[FP])?\(\s*(\w+),\s*(\w+)\s*\)')
TEST_NAME = re.compile(r'[A-Z][A-Za-z0-9]*')
NAMED_FILE = re.compile(r'[\w/.-]+')
FENCED = re.compile(r'^```.*?^```', re.MULTILINE | re.DOTALL)
QUOTED = re.compile(r'`[^`]*`')
PAGE_LINK = re.compile(r'\]\(([^)#:\s]+)(?:#[^)]*)?\)')
PAGE_FILE = re.compile(r'`((?:[\w.-]+/)+[\w-]+\.(?:hpp|cpp|py|pml|md))`')

MAX_SUBJECT_COLUMNS = 72

# Programs that link nothing of Isotherm: a disk, other libraries' sorts, a plugin of QEMU, a
# library that an observed program loads.
STANDALONE = ('lab/experiments/shared/emulated_disk.cpp', 'lab/micro/sort/library_sorts.cpp',
              'src/pages/objects/preload.cpp', 'src/pages/qemu/plugin.cpp',
              'src/pages/qemu/follow.hpp')

# (pattern, where: path prefixes, except: path prefixes, what to do instead). In a pattern, "@(...)"
# is a group that matches one whole identifier: only files with such an identifier are searched, so
# each alternative of a pattern holds one such group.
ALL_CPP = ('src/', 'lab/', 'include/', 'tests/', 'examples/')
BANNED = [
    (r'\b@(strcpy|strcat|sprintf|vsprintf|gets|strtok)\s*\(', ALL_CPP, (),
     'unbounded or stateful; use std::string, fmt or std::string_view'),
    (r'(?<![\w.>])(?:std::)?@(s?rand)\s*\(\s*\w*\s*\)', ALL_CPP, (),
     'use base::random with a seed'),
    (r'(?<![\w.>])(?:std::)?@(atoi|atol|atoll|atof)\s*\(', ALL_CPP, (), 'use std::from_chars'),
    (r'std::@(atomic(?:_flag)?)\b', ('src/', 'lab/', 'include/'),
     ('src/base/atomic.hpp', *STANDALONE), 'use base::atomic: the order belongs in the name'),
    (r'@(using)\s+namespace\s+std\s*;', ALL_CPP, (), 'write std::'),
    (r'\b@(sleep_for|sleep_until|usleep|nanosleep)\s*\(|(?<![\w.>:])@(sleep)\s*\(', ('tests/',),
     ('tests/lab/workload/driver_test.cpp',  # its fake store stalls on purpose
      'tests/linearizability/naps.hpp'),  # threads stop on purpose
     'wait for the event itself, not for time to pass'),
    (r'(?<![\w.>])@(socket|accept4|[gs]etsockopt|getaddrinfo|epoll_\w+)\s*\('
     r'|(?<![\w.>:])::@(accept|bind|listen|connect|recv|send|recvmsg|sendmsg)\s*\(',
     ('src/', 'lab/', 'include/'),
     # received.cpp: the one answer that libmicrohttpd cannot send
     ('src/server/', 'lab/workload/', 'src/live/received.cpp'),
     'sockets belong to server and lab/workload'),
    # Names that others have too (an index unlinks nodes) count where they are the global ones, or
    # where the flags of open(2) tell.
    (r'(?<![\w.>:])(?:::)?@(mmap|munmap|mremap|mprotect|madvise|mincore|msync|mlock|mbind'
     r'|(?:posix_)?fallocate|posix_fadvise|ftruncate|sync_file_range|fsync|fdatasync|flock'
     r'|statv?fs|preadv?|pwritev?|mko?stemp|memfd_create|linkat|unlinkat|renameat2?)\s*\('
     r'|(?<![\w.>:])::@(open|openat|creat|rename|link|unlink|truncate)\s*\('
     r'|\b@(open(?:at)?)\s*\([^;]*\bO_[A-Z]+', ('src/', 'lab/', 'include/'),
     ('src/os/', *STANDALONE),
     'files and mappings belong to os: see os/files and os/memory'),
    (r'std::@(j?thread)\b(?!::hardware_concurrency)|std::@(async)\b|@(pthread_create)\b',
     ('src/', 'lab/', 'include/'), ('src/os/', *STANDALONE),
     'use os::start_thread, which tests can make fail'),
    (r'\b@(io_uring_\w+)', ('src/', 'lab/', 'include/'), ('src/os/', 'src/device/direct.'),
     'io_uring stands in device/direct and os'),
    # Words that have said several things here; std::exception::what() is the library's.
    (r'(?<![.>\w])@((?:\w+_)?(?:who|what|home|fresh|crew|bill|regard|glance|begun)(?:_\w*)?)\b'
     r'(?!\()',
     ALL_CPP, (), 'use the word of the field: client, server, kind, subject, new ...'),
    # No test of the tree is switched off. Assembled like MARKERS.
    (r'\b@(' + 'GTEST_' + 'SKIP' + r')\b|\b@(' + 'DISABLED' + r'_\w*)', ('tests/',), (),
     'a test runs or does not exist'),
]


class Tree:
    """The project's text files, read once; paths are relative, with slashes."""

    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.files = {}
        self.suffixes = {}
        self.folders = {}
        for path in self._paths():
            name = path.relative_to(self.root).as_posix()
            folder = name.rpartition('/')[0]
            if path.name != 'CMakeLists.txt':
                self.folders.setdefault(folder, set()).add(path.stem)
            if path.suffix in TEXT:
                self.files[name] = path.read_text(encoding='utf-8', errors='replace')
                self.suffixes[name] = path.suffix

    def _paths(self):
        for entry in sorted(self.root.iterdir()):
            if entry.is_file() and not entry.name.startswith('.'):
                yield entry
        for folder in FOLDERS:
            for path in sorted((self.root / folder).rglob('*')):
                inside = path.relative_to(self.root).parts[:-1]
                if path.is_file() and not SKIPPED_FOLDERS.intersection(inside):
                    yield path

    def matching(self, suffixes, prefixes=('',)):
        return [(name, self.files[name]) for name, suffix in self.suffixes.items()
                if suffix in suffixes and name.startswith(prefixes)]


def as_included(name):
    """The path by which includes name a file of src/ or lab/: the laboratory is a layer."""
    return name.removeprefix('src/')


def layer_of(name):
    own, *inner = as_included(name).split('/')
    return own if inner and name.startswith(LAYERED) else None


def public_layers(tree):
    """The layers that a public header brings in, by the header's name in an include."""
    layers = {}
    for name, text in tree.matching(CPP, ('include/',)):
        used = {i.split('/')[0] for _, i, quoted in cpp_text.includes_of(text) if quoted}
        layers[name.removeprefix('include/')] = used & RANK.keys()
    return layers


def layer_fault(name, own, used):
    """Why a file of layer `own` must not use layer `used`, or None."""
    if used == own:
        return None
    if RANK[used] >= RANK[own]:
        return f'{own} must not use {used}: it is not a lower layer'
    file = name.rpartition('/')[2]
    if (own, used) in FORBIDDEN and FORBIDDEN[own, used] != file:
        return f'{own} must not use {used}'
    return None


def check_layers(tree):
    public = public_layers(tree)
    for name, text in tree.matching(CPP, LAYERED):
        own = layer_of(name)
        if own not in RANK:
            yield name, 1, f'src/{own} is not one of the layers'
            continue
        for line, included, quoted in cpp_text.includes_of(text):
            if quoted:
                used_layers = {included.split('/')[0]} & RANK.keys()
                if not used_layers:
                    yield name, line, f'"{included}": write includes from src/ ("layer/file.hpp")'
            else:
                used_layers = public.get(included, set())
            for used in sorted(used_layers):
                if fault := layer_fault(name, own, used):
                    yield name, line, fault


def folders_behind(tree, header, seen):
    """The folders of its layer that a header brings in, itself or through headers beside it."""
    layer, *inner = header.split('/')
    if len(inner) > 1:
        return {inner[0]}
    if header in seen:
        return set()
    seen.add(header)
    text = tree.files.get(f'src/{header}', tree.files.get(header, ''))
    return {folder for _, included, _ in cpp_text.includes_of(text)
            if included.split('/')[0] == layer
            for folder in folders_behind(tree, included, seen)}


def check_subfolders(tree):
    for name, text in tree.matching(CPP, LAYERED):
        parts = as_included(name).split('/')
        if len(parts) < 3:
            continue
        layer, own = parts[:2]
        ranks = {folder: rank for rank, peers in enumerate(SUBFOLDERS.get(layer, []))
                 for folder in peers}
        if ranks and own not in ranks:
            yield name, 1, f'src/{layer}/{own} has no place in SUBFOLDERS'
        for line, included, _ in cpp_text.includes_of(text):
            if included.split('/')[0] != layer:
                continue
            for used in sorted(folders_behind(tree, included, set()) - {own}):
                if not ranks:
                    if included.count('/') > 1:
                        yield name, line, f'say in SUBFOLDERS which folder of src/{layer} is lower'
                elif own in ranks and ranks.get(used, len(ranks)) >= ranks[own]:
                    yield name, line, f'{layer}/{own} must not use {layer}/{used}: it is not lower'


def check_links(tree):
    """A library links lower layers only (the linker's side of check_layers)."""
    for name, text in tree.files.items():
        own = layer_of(name)
        if not name.endswith('CMakeLists.txt') or own not in RANK:
            continue
        for line, content in enumerate(text.splitlines(), 1):
            for linked in LINK.findall(content.split('#')[0]):
                used = 'lab' if linked.startswith('lab_') else linked
                if used in RANK and used != own and RANK[used] >= RANK[own]:
                    yield name, line, f'{own} must not link {used}: it is not a lower layer'


def check_lengths(tree):
    for name, text in tree.files.items():
        suffix = pathlib.PurePosixPath(name).suffix
        lines = text.splitlines()
        if suffix in CODE:
            for number, line in enumerate(lines, 1):
                if len(line) > MAX_LINE_COLUMNS and 'http' not in line:
                    yield name, number, f'{len(line)} columns (at most {MAX_LINE_COLUMNS})'
        most = MAX_LINES.get(suffix, len(lines))
        if re.match(r'src/cli/(?!parser/)', name) and suffix in CPP:
            most = MAX_CLI_LINES
        if len(lines) > most:
            yield name, len(lines), f'{len(lines)} lines (at most {most})'


def may_be_long(text):
    """Has a Python file a function that is too long if it reaches to the next one, or to the end?
    Only such files are parsed: to parse all of them takes longer than the other rules."""
    scopes = [(len(scope[1]), text.count('\n', 0, scope.start()), scope[2])
              for scope in PYTHON_SCOPE.finditer(text)]
    last = text.count('\n') + 1
    for number, (indent, line, is_function) in enumerate(scopes, 1):
        ends = (end for other, end, _ in scopes[number:] if other <= indent)
        if is_function and next(ends, last) - line > MAX_FUNCTION_LINES:
            return True
    return False


def check_functions(tree):
    functions = [(name, function) for name, text in tree.matching(CPP)
                 if text.count('\n') >= MAX_FUNCTION_LINES
                 for function in cpp_text.functions_of(text)]
    for name, text in tree.matching({'.py'}):
        if may_be_long(text):
            functions += [(name, (node.lineno, node.end_lineno - node.lineno + 1, node.name))
                          for node in ast.walk(ast.parse(text))
                          if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))]
    for name, (line, length, head) in functions:
        if length > MAX_FUNCTION_LINES:
            what = head.split('(')[0][-40:]
            yield name, line, f'{what}: {length} lines (at most {MAX_FUNCTION_LINES} a function)'


def check_folders(tree):
    for folder, names in tree.folders.items():
        if folder and len(names) > MAX_FOLDER_FILES:
            yield folder, 0, f'{len(names)} files (at most {MAX_FOLDER_FILES} a folder)'


def check_markers(tree):
    for name, text in tree.files.items():
        if not any(word in text for word in MARKER_WORDS):
            continue
        for number, line in enumerate(text.splitlines(), 1):
            if found := MARKERS.search(line):
                yield name, number, f'left-over marker {found.group(1)}'


def check_headers(tree):
    for name, text in tree.matching({'.hpp'}):
        if not PRAGMA_ONCE.search(text):
            yield name, 1, 'a header needs #pragma once'


def check_definitions(tree):
    """The free functions of a header are defined in the source of its name (or DEFINED_IN)."""
    defined = {}
    for name, text in tree.matching({'.cpp'}, LAYERED):
        for _, _, head in cpp_text.functions_of(text):
            if function := cpp_text.name_in(head):
                defined.setdefault((layer_of(name), function), set()).add(name)
    for name, text in tree.matching({'.hpp'}, LAYERED):
        own = {name.removesuffix('.hpp') + '.cpp', DEFINED_IN.get(name)}
        if '*' in own:
            continue
        for line, function in cpp_text.declarations_of(text):
            sources = defined.get((layer_of(name), function), set())
            if sources and not sources & own:
                yield name, line, f'{function} is defined in {min(sources)}: move one to the other'


def check_booleans(tree):
    """A call with `true` says nothing to its reader: headers take enums. A function that sets one
    flag may take a bool."""
    for name, text in tree.matching({'.hpp'}, (*LAYERED, 'include/')):
        code = cpp_text.code_of(text)
        for call in CALL.finditer(code) if ANY_BOOLEAN.search(code) else ():
            if BOOLEAN.search(call[2]) and not call[1].startswith(('set_', 'boolean')):
                line = code.count('\n', 0, call.start()) + 1
                yield name, line, f'{call[1]} takes a bool: an enum says what it means'


def check_test_names(tree):
    """GoogleTest builds identifiers of suite and test name, so it asks for names without _."""
    for name, text in tree.matching(CPP, ('tests/',)):
        code = cpp_text.code_of(text)
        for test in TEST.finditer(code):
            for part in test.groups():
                if not TEST_NAME.fullmatch(part):
                    line = code.count('\n', 0, test.start()) + 1
                    yield name, line, f'{part}: suites and tests are named LikeThis'


@functools.cache
def banned_patterns():
    """For each entry of BANNED its pattern, and the one that its identifiers match."""
    group = re.compile(r'@\(((?:[^()]|\([^()]*\))*)\)')
    return [(re.compile(group.sub(r'(?:\1)', pattern)),
             re.compile(r'^(?:' + '|'.join(group.findall(pattern)) + r')\b.*', re.MULTILINE))
            for pattern, *_ in BANNED]


def check_banned(tree):
    files = tree.matching(CPP)
    words = '\n'.join(set().union(*(cpp_text.words_of(text) for _, text in files)))
    suspects = [set(identifiers.findall(words)) for _, identifiers in banned_patterns()]
    suspect = set().union(*suspects)
    for name, text in files:
        used = suspect.intersection(cpp_text.words_of(text))
        code = cpp_text.code_of(text) if used else ''
        for entry, (_, prefixes, exceptions, advice) in enumerate(BANNED):
            if (used.isdisjoint(suspects[entry]) or not name.startswith(prefixes)
                    or name.startswith(exceptions)):
                continue
            pattern = banned_patterns()[entry][0]
            if not pattern.search(code):
                continue
            for number, line in enumerate(code.splitlines(), 1):
                if found := pattern.search(line):
                    yield name, number, f'{found.group(0).strip()} is banned: {advice}'


def check_dead(tree):
    """A source that no CMakeLists.txt names; a header of src/ that nothing includes."""
    named_in = {name: set(NAMED_FILE.findall(text)) for name, text in tree.files.items()
                if name.endswith('CMakeLists.txt')}
    for name, _ in tree.matching({'.cpp'}, (*LAYERED, 'tests/', 'examples/')):
        folder, _, file = name.rpartition('/')
        named, relative = False, file
        while folder and not named:
            named = relative in named_in.get(f'{folder}/CMakeLists.txt', ())
            folder, _, last = folder.rpartition('/')
            relative = f'{last}/{relative}'
        if not named:
            yield name, 1, 'dead file: no CMakeLists.txt names it'
    included = {i for _, text in tree.matching(CPP) for _, i, _ in cpp_text.includes_of(text)}
    for name, _ in tree.matching({'.hpp'}, LAYERED):
        if as_included(name) not in included:
            yield name, 1, 'dead file: nothing includes it'


def check_docs(tree):
    """A page's relative links, and the files that it names in `code`, are there."""
    for name, text in tree.matching({'.md'}):
        page = tree.root / name
        prose = FENCED.sub(lambda block: '\n' * block.group().count('\n'), text)
        for number, line in enumerate(prose.splitlines(), 1):
            for target in PAGE_LINK.findall(QUOTED.sub('', line)):
                if not (page.parent / target).exists():
                    yield name, number, f'link to {target}, which does not exist'
            for path in PAGE_FILE.findall(line):
                if not any((tree.root / base / path).exists() for base in ('', 'src', 'include')):
                    yield name, number, f'names {path}, which does not exist'


def check_commit(root):
    """The last commit's message: for whoever is about to hand it on. Not for tests, which also run
    on what a server merged or where there is no repository."""
    log = subprocess.run(['git', '-C', root, 'log', '-1', '--no-merges', '--format=%s%n%b'],
                         capture_output=True, text=True, check=False)
    subject, _, body = log.stdout.partition('\n')
    if len(subject) > MAX_SUBJECT_COLUMNS:
        yield 'HEAD', 1, f'subject of {len(subject)} columns (at most {MAX_SUBJECT_COLUMNS})'
    if subject and not body.strip():
        yield 'HEAD', 1, 'a commit needs a body that says why'


RULES = [check_layers, check_subfolders, check_links, check_lengths, check_functions,
         check_folders, check_markers, check_headers, check_booleans, check_definitions,
         check_test_names, check_banned, check_dead, unread.check_unread, check_docs]


def violations(root):
    tree = Tree(root)
    return [found for rule in RULES for found in rule(tree)]


def main():
    arguments = [each for each in sys.argv[1:] if each != '--commit']
    if len(arguments) != 1:
        sys.exit('usage: lint.py [--commit] ROOT')
    found = violations(arguments[0])
    if '--commit' in sys.argv:
        found += check_commit(arguments[0])
    for name, line, message in found:
        print(f'{name}:{line}: {message}')
    print(f'lint: {len(found)} violation(s)')
    sys.exit(1 if found else 0)


if __name__ == '__main__':
    main()
