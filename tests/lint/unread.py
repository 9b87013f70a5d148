"""Flags, members and options of the command line that are set, and that nothing reads.

It judges by text, and errs towards not reporting: a member or an option whose name occurs once more
than where it is declared or added counts as read.
"""

import re
from collections import Counter

import cpp_text

_ENUM = re.compile(r'\benum\s+\w+[^{;]*\{([^}]*)\}')
_VALUE = re.compile(r'\b(k\w+)\s*=\s*(?:1u?\s*<<\s*\d+|(\d+))')
_ALIAS = re.compile(r'\bconstexpr\s+[\w:]+\s+(k\w+)\s*=\s*([^;]*);')
_WORD = re.compile(r'\bk[A-Z]\w*')
# A name among others that are put together, or one value of a list of values.
_SET_AFTER = re.compile(r'\s*[|,;}]')
_SET_BEFORE = re.compile(r'[|,{=]\s*$')
_MEMBER = re.compile(r'^[ \t]+(?:(?:static|const|mutable|inline|constexpr)\s+)*(?!return\b)[\w:]+'
                     r'(?:<[^;(){}]*>)?[*& ]+(\w+)(?:\s*=[^=;]*|\{[^;{}]*\})?;', re.MULTILINE)
_NAME = re.compile(r'\b[A-Za-z_]\w*')
_FIELD = re.compile(r'(?:\.|->)(\w+)')
_OPTION = re.compile(r'\badd(?:_\w+)?\(\s*"[^"]*",\s*[\w>.-]*?[.>](\w+),')

PLACES = ('src/', 'include/', 'tests/', 'bench/', 'examples/')
# Structs as the kernel reads them.
LAYOUTS = {'src/os/scheduling.hpp'}


def flags(code):
    """Name -> (file, line) of the enumerators that are single bits, at least three to an enum."""
    found = {}
    for name, text in code.items():
        for enum in _ENUM.finditer(text):
            bits = [each for each in _VALUE.finditer(enum.group(1))
                    if each.group(2) is None or int(each.group(2)).bit_count() == 1]
            if len(bits) < 3 or len(bits) < enum.group(1).count('='):
                continue
            for each in bits:
                line = text.count('\n', 0, enum.start(1) + each.start()) + 1
                found[each.group(1)] = (name, line)
    return found


def unread_flags(code):
    """Flags that commands or objects are given, and that no mask asks for."""
    unread = flags(code)
    aliases, read = {}, set()
    for text in code.values():
        for name, value in _ALIAS.findall(text):
            aliases.setdefault(name, set()).update(_WORD.findall(value))
    for text in code.values():
        for each in _WORD.finditer(text):
            word = each.group()
            if word not in unread and word not in aliases:
                continue
            is_set = (_SET_AFTER.match(text, each.end())
                      and _SET_BEFORE.search(text, max(0, each.start() - 40), each.start()))
            is_declared = re.match(r'\s*=[^=]', text[each.end():each.end() + 8])
            if not is_set and not is_declared:
                read.add(word)
    for alias in read & set(aliases):
        read |= aliases[alias]
    for name in sorted(set(unread) - read):
        yield *unread[name], f'{name} is set and never tested: it goes, or somebody asks for it'


def unread_members(code):
    """Members that no line but their declaration names. A comparison by default reads all members
    of its struct."""
    names = Counter(word for text in code.values() for word in _NAME.findall(text))
    for name, text in code.items():
        if not name.startswith('src/') or name in LAYOUTS:
            continue
        for each in _MEMBER.finditer(text):
            if names[each.group(1)] > 1:
                continue
            end = text.find('\n}', each.end())
            if '= default' in text[each.end():end] and 'operator==' in text[each.end():end]:
                continue
            line = text.count('\n', 0, each.start(1)) + 1
            yield name, line, f'nothing reads {each.group(1)}: it goes, or somebody uses it'


def unread_options(code):
    """Options of the command line whose value nothing but the call that adds them names."""
    fields = Counter(word for name, text in code.items() if name.startswith('src/')
                     for word in _FIELD.findall(text))
    for name, text in code.items():
        if not name.startswith('src/cli/'):
            continue
        for each in _OPTION.finditer(text):
            if fields[each.group(1)] < 2:
                line = text.count('\n', 0, each.start()) + 1
                yield name, line, f'nothing reads the option that sets {each.group(1)}'


def check_unread(tree):
    code = {name: cpp_text.code_of(text)
            for name, text in tree.matching({'.cpp', '.hpp'}, PLACES)}
    yield from unread_flags({name: text for name, text in code.items()
                             if name.startswith('src/')})
    yield from unread_members(code)
    yield from unread_options(code)
