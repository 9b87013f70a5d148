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
_STRUCTURE = re.compile('([{};])')
_ATTRIBUTE = re.compile(r'\[\[.*?\]\]', re.DOTALL)
_BLOCK_COMMENT = re.compile(r'/\*.*?\*/', re.DOTALL)
_NAMESPACE = re.compile(r'(?:inline\s+)?namespace\b')
_EXTERN = re.compile(r'extern\s*""')
_ALIGNMENT = re.compile(r'\balignas\s*\([^)]*\)\)?')
_WORD = re.compile(r'[A-Za-z_]\w*(?: ?(?:[-+*/|&^%]|<<|>>)?=(?=\s)| ?\{|\.store\w*\()?')
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


@functools.cache
def words_of(text):
    """The identifiers in the code of `text`, in order. Identifiers that are assigned or initialised
    end with the mark of it: `x =`, `x |=`, `x{`, `x.store(`."""
    return _WORD.findall(code_of(text))


@functools.cache
def includes_of(text):
    """(line number, name, is it quoted) of each include."""
    without_comments = _BLOCK_COMMENT.sub(_keep_lines, text)
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
    head = _ATTRIBUTE.sub(' ', _without_template_heads(head)).strip()
    if _EXTERN.fullmatch(head):
        return True
    without_alignment = _ALIGNMENT.sub(' ', head)
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


def pieces_of(code):
    """(text, the brace or semicolon that ends it) of the pieces of `code`."""
    pieces = _STRUCTURE.split(code)
    return zip(pieces[::2], pieces[1::2])


def declarations_of(text):
    """(line, name) of each function that is declared at namespace scope and not defined there."""
    code = _DIRECTIVE.sub(_keep_lines, code_of(text))
    code = _ATTRIBUTE.sub(_keep_lines, code)
    found, stack, line = [], [], 1  # stack: is it a namespace
    for head, character in pieces_of(code):
        line += head.count('\n')
        if character == '{':
            stack.append(bool(_NAMESPACE.match(head.strip())))
        elif character == '}':
            del stack[-1:]
        elif all(stack) and (name := name_in(' '.join(head.split()))):
            found.append((line, name))
    return found


@functools.cache
def functions_of(text):
    """(first line, number of lines, head) of each function body at namespace or class scope.

    A lambda belongs to the function around it; a constructor's body is found also behind an
    initialiser list with braces.
    """
    code = _DIRECTIVE.sub(_keep_lines, code_of(text))
    found, stack, line = [], [], 1  # stack: (is it a function, first line, head)
    blocks = 0  # open braces inside of the function on top of the stack
    for head, character in pieces_of(code):
        line += head.count('\n')
        inside_function = stack and stack[-1][0]
        if inside_function and (character != '}' or blocks):
            blocks += {'{': 1, '}': -1, ';': 0}[character]
        elif character == '{':
            first = line - head.lstrip().count('\n')
            head = head.strip()
            is_function = not _opens_scope(head) and (not head or '(' in head)
            stack.append((is_function, first, head))
        elif character == '}' and stack:
            _, first, head = stack.pop()
            if inside_function:
                found.append((first, line - first + 1, ' '.join(head.split())))
    return found
