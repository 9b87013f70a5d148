"""Just enough of C++'s text for the lint: code without comments and literals, and the functions.

It is a rough parse on purpose: no preprocessor, no types. Every approximation errs towards not
reporting, and the self-test pins what must be found.
"""

import functools
import re

_TOKENS = re.compile(
    r'//[^\n]*'
    r'|/\*.*?\*/'
    r'|R"(?P<fence>[^()\s\\]{0,16})\(.*?\)(?P=fence)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'",
    re.DOTALL)
_DIRECTIVE = re.compile(r'^[ \t]*#(?:[^\n\\]|\\\n|\\.)*', re.MULTILINE)
_STRUCTURE = re.compile('[{};]')
_SCOPE_HEAD = re.compile(r'^(?:(?:inline|export|typedef|static|constexpr|extern)\s+)*'
                         r'(?:class|struct|union|enum|namespace)\b')
_INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)


def _keep_lines(match):
    text = match.group(0)
    if text.startswith(('"', 'R"')):
        return '""' + '\n' * text.count('\n')
    return ' ' + '\n' * text.count('\n')


@functools.cache
def code_of(text):
    """`text` without comments and with empty literals; line numbers stay."""
    return _TOKENS.sub(_keep_lines, text)


def includes_of(text):
    """(line number, name, is it quoted) of each include."""
    without_comments = re.sub(r'/\*.*?\*/', _keep_lines, text, flags=re.DOTALL)
    return [(without_comments.count('\n', 0, m.start()) + 1, m.group(2), m.group(1) == '"')
            for m in _INCLUDE.finditer(without_comments)]


def _without_template_heads(head):
    while True:
        at = head.find('template')
        opening = head.find('<', at)
        if at < 0 or opening < 0 or head[at + len('template'):opening].strip():
            return head
        depth, end = 0, opening
        while end < len(head):
            depth += {'<': 1, '>': -1}.get(head[end], 0)
            end += 1
            if depth == 0:
                break
        head = head[:at] + head[end:]


def _opens_scope(head):
    head = re.sub(r'\[\[.*?\]\]', ' ', _without_template_heads(head), flags=re.DOTALL).strip()
    if re.fullmatch(r'extern\s*""', head):
        return True
    without_alignment = re.sub(r'\balignas\s*\([^)]*\)\)?', ' ', head)
    return bool(_SCOPE_HEAD.match(head)) and '(' not in without_alignment


_NAME_OF_FUNCTION = re.compile(r'(?:[\w:<>,*&\s]|\b)+?[\s*&](\w+)\s*\(')
_NO_FUNCTION = re.compile(r'(?:using|typedef|extern|static_assert|template|friend|class|struct|enum'
                          r'|return)\b')


def name_in(head):
    """The name of the function, none of a class, that `head` begins to declare; or None."""
    found = _NAME_OF_FUNCTION.match(head)
    if not found or '=' in found.group(0) or _NO_FUNCTION.match(head):
        return None
    return found.group(1)


def declarations_of(text):
    """(line, name) of each function that is declared at namespace scope and not defined there."""
    code = _DIRECTIVE.sub(_keep_lines, code_of(text))
    code = re.sub(r'\[\[.*?\]\]', _keep_lines, code, flags=re.DOTALL)
    found, stack, start = [], [], 0  # stack: is it a namespace
    for at, character in enumerate(code):
        if character not in '{};':
            continue
        head = code[start:at].strip()
        if character == '{':
            stack.append(bool(re.match(r'(?:inline\s+)?namespace\b', head)))
        elif character == '}':
            del stack[-1:]
        elif all(stack) and (name := name_in(' '.join(head.split()))):
            found.append((code.count('\n', 0, at) + 1, name))
        start = at + 1
    return found


def functions_of(text):
    """(first line, number of lines, head) of each function body at namespace or class scope.

    A lambda belongs to the function around it; a constructor's body is found also behind an
    initialiser list with braces.
    """
    code = _DIRECTIVE.sub(_keep_lines, code_of(text))
    found, stack = [], []  # stack: (kind, first line, head)
    head_start, line, inside_function, counted = 0, 1, 0, 0
    for each in _STRUCTURE.finditer(code):
        at, character = each.start(), each.group()
        line += code.count('\n', counted, at)
        counted = at
        if character == '{':
            head = code[head_start:at].strip()
            if inside_function:
                kind = 'block'
            elif _opens_scope(head):
                kind = 'scope'
            elif not head or '(' in head:
                kind = 'function'
            else:
                kind = 'initialiser'
            inside_function += kind == 'function'
            stack.append((kind, line - code[head_start:at].lstrip().count('\n'), head))
            head_start = at + 1
        elif character == '}':
            if stack:
                kind, first, head = stack.pop()
                if kind == 'function':
                    inside_function -= 1
                    found.append((first, line - first + 1, ' '.join(head.split())))
            head_start = at + 1
        elif character == ';':
            head_start = at + 1
    return found
