"""Flags, members and options of the command line that are set, and that nothing reads.

The rules judge by text, and err towards not reporting. A name counts as read where it occurs other
than in its declaration, on the left of an assignment, before an initialiser in braces, or before
the call that stores into an atomic; a flag also not in a list of flags or in a combination by "|".
A name that is read in one struct hides the same name in another.
"""

import re
from collections import Counter

import cpp_text

_ENUM = re.compile(r'enum\s+\w+[^{;]*\{([^}]*)\}')
_VALUE = re.compile(r'\b(k\w+)\s*=\s*(?:1u?\s*<<\s*\d+|(\d+))')
_ALIAS = re.compile(r'constexpr\s+[\w:]+\s+(k\w+)\s*=\s*([^;]*);')
_CONSTANT = re.compile(r'\bk[A-Z]\w*')
_DECLARED = re.compile(r'\s*=[^=]')
# A name among others that are put together, or one value of a list of values.
_SET_AFTER = re.compile(r'\s*[|,;}]')
_SET_BEFORE = re.compile(r'[|,{=]\s*$')
_MEMBER = re.compile(r'^[ \t]+(?:(?:static|const|mutable|inline|constexpr)\s+)*'
                     r'(?!(?:return|using)\b)([\w:]+(?:<[^;(){}]*>)?[*& ]+)(\w+)'
                     r'(\s*=[^=;]*|\{[^;{}]*\})?;', re.MULTILINE)
# Types whose objects do nothing by themselves. An object of another type may be there for what its
# constructor and its destructor do (a lock, a registration, a thread).
_PLAIN = re.compile(r'(?:bool|char|unsigned|int|long|float|double|(?:std::)?(?:u?int\d+_t|uintptr_t'
                    r'|size_t|ptrdiff_t|byte|string|string_view|chrono|span)|base::atomic)\b'
                    r'|.*[*&]$', re.DOTALL)
_NAME = re.compile(r'\w+')
_FIELD = re.compile(r'(?:\.|->)(\w+)')
_OPTION = re.compile(r'\badd(?:_\w+)?\(\s*"[^"]*",\s*[\w>.-]*?[.>](\w+),')

PLACES = ('src/', 'lab/', 'include/', 'tests/', 'examples/')
# Structs as the kernel reads them.
LAYOUTS = {'src/os/scheduling.hpp'}


def is_single_bit(value):
    return value != 0 and value & (value - 1) == 0


def flags(code):
    """Name -> (file, line) of the enumerators that are single bits, at least three to an enum."""
    found = {}
    for name, text in code.items():
        for enum in _ENUM.finditer(text):
            bits = [each for each in _VALUE.finditer(enum.group(1))
                    if each.group(2) is None or is_single_bit(int(each.group(2)))]
            if len(bits) < 3 or len(bits) < enum.group(1).count('='):
                continue
            for each in bits:
                line = text.count('\n', 0, enum.start(1) + each.start()) + 1
                found[each.group(1)] = (name, line)
    return found


def flag_sets(code, names):
    """Name -> the flags and flag sets in its value, of each constant that holds one of `names`."""
    constants = {}
    for text in code.values():
        for name, value in _ALIAS.findall(text):
            constants.setdefault(name, set()).update(_CONSTANT.findall(value))
    found, known = {}, set(names)
    while more := {name: held for name, held in constants.items()
                   if name not in found and not known.isdisjoint(held)}:
        found.update(more)
        known.update(more)
    return found


def unread_flags(code):
    """Flags that commands or objects are given, and that no mask asks for."""
    unread = flags(code)
    sets = flag_sets(code, unread)
    names, read = unread.keys() | sets.keys(), set()
    if not names:
        return
    # The letter stands before the test for the word's begin: the search skips to the letter.
    one_of_them = re.compile(r'k(?<!\wk)(?:' + '|'.join(name[1:] for name in names) + r')\b')
    for text in code.values():
        for each in one_of_them.finditer(text):
            is_set = (_SET_AFTER.match(text, each.end())
                      and _SET_BEFORE.search(text, max(0, each.start() - 40), each.start()))
            if not is_set and not _DECLARED.match(text, each.end()):
                read.add(each.group())
    pending = [name for name in read if name in sets]
    while pending:
        held = sets[pending.pop()] - read
        read |= held
        pending += [name for name in held if name in sets]
    for name in sorted(unread.keys() - read):
        yield *unread[name], f'{name} is set and never tested: remove the flag, or test it'


def compared_by_default(text, at):
    """Has the struct whose member is at `at` a comparison by default, which reads all members?"""
    rest = text[at:text.find('\n}', at)]
    return '= default' in rest and 'operator==' in rest


def unread_members(code, words):
    """Members that only their declaration, assignments and initialisers name. A member that is no
    plain value counts as read where anything but its declaration names it."""
    marked, all_uses = Counter(), Counter()
    for used in words:
        marked.update(used)
    for word, count in marked.items():
        all_uses[_NAME.match(word)[0]] += count
    members = [(name, each) for name, text in code.items()
               if name.startswith(('src/', 'lab/')) and name not in LAYOUTS
               for each in _MEMBER.finditer(text)]
    bare = Counter(each[2] for _, each in members if not each[3])
    for name, each in members:
        written = marked[each[2]] <= bare[each[2]] and _PLAIN.match(each[1].strip())
        if not written and all_uses[each[2]] > 1:
            continue
        if not compared_by_default(each.string, each.end()):
            line = each.string.count('\n', 0, each.start(2)) + 1
            yield name, line, f'nothing reads {each[2]}: remove the member, or read it'


def unread_options(code):
    """Options of the command line whose value only the call that adds them names."""
    fields = Counter(word for name, text in code.items() if name.startswith(('src/', 'lab/'))
                     for word in _FIELD.findall(text))
    for name, text in code.items():
        if not name.startswith('src/cli/'):
            continue
        for each in _OPTION.finditer(text):
            if fields[each.group(1)] < 2:
                line = text.count('\n', 0, each.start()) + 1
                yield name, line, f'nothing reads the option that sets {each.group(1)}'


def check_unread(tree):
    files = tree.matching({'.cpp', '.hpp'}, PLACES)
    code = {name: cpp_text.code_of(text) for name, text in files}
    yield from unread_flags({name: text for name, text in code.items()
                             if name.startswith(('src/', 'lab/'))})
    yield from unread_members(code, [cpp_text.words_of(text) for _, text in files])
    yield from unread_options(code)
