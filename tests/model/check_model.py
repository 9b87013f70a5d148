#!/usr/bin/env python3
"""Verifies a model, and sees that each of its mutations fails.

    check_model.py SPIN CLANG MODEL.pml        its small form, if it has one, and its mutations
    check_model.py SPIN CLANG MODEL.pml whole  the model in its whole size

The model's head lists, one a line, its variants, which must verify like the model itself, and its
mutations, in which a step is left out and spin must find a violated assertion. The model itself
must also have reached each of its statements: what never runs proves nothing. Some heads name a
smaller form of the model, -DSMALL, and mutations that only the whole size shows.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

FLAG = re.compile(r'^ \*   ([A-Z][A-Z_]+)  ?', re.MULTILINE)
UNREACHED = re.compile(r'^\s+(\S+\.pml:\d+), state \d+, "(?!-end-)(.*)"$', re.MULTILINE)
MAX_DEPTH = 100_000
SMALL = 'SMALL'


def flags_under(heading, text):
    """Names in the list of the model's head that follows `heading`."""
    head = text[:text.index('*/')]
    if heading not in head:
        return []
    after = head.split(heading, 1)[1].split('(-D', 1)[0]
    return FLAG.findall(after)


def explore(spin, clang, model, flags, is_long):
    """pan's report of the model's whole state space, or up to the first error."""
    with tempfile.TemporaryDirectory() as folder:
        def run(*command):
            done = subprocess.run(command, cwd=folder, text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            return done.returncode, done.stdout

        steps = [
            (spin, '-P' + clang + ' -E -x c', *('-D' + f for f in flags), '-a', str(model)),
            (clang, '-x', 'c', '-w', '-O2' if is_long else '-O0', '-DSAFETY', '-DMEMLIM=4000', '-o',
             'pan', 'pan.c')]
        for step in steps:
            status, output = run(*step)
            if status != 0 or 'Error:' in output:
                sys.exit(f'{model.name} {flags}: {step[0]} failed:\n{output}')
        # Clearing the default table, 128 MiB, would take longer than most searches.
        return run('./pan', f'-m{MAX_DEPTH}', '-w24' if is_long else '-w20')[1]


def problem_of(report, must_fail, must_reach_all):
    """Returns the problem with the report in one line; None when it is as it must be."""
    if 'max search depth too small' in report or 'out of memory' in report:
        return 'the search was cut short'
    if must_fail:
        return None if 'assertion violated' in report else 'no assertion is violated'
    if 'errors: 0' not in report or 'Search not completed' in report:
        return 'an error was found'
    unreached = UNREACHED.search(report) if must_reach_all else None
    return f'never reached: {unreached[1]}: {unreached[2]}' if unreached else None


def runs_of(text, is_whole):
    """Flags of each run, and whether it must fail."""
    variants = [[]] + [[f] for f in flags_under('Variants (-D):', text)]
    if is_whole:
        return [(flags, False) for flags in variants]
    small = [SMALL] if f'-D{SMALL}' in text else []
    mutations = [small + [f] for f in flags_under('Mutations (-D):', text)]
    mutations += [[f] for f in flags_under('Mutations that one window does not show (-D):', text)]
    return [(small + flags, False) for flags in variants] + [(flags, True) for flags in mutations]


def main():
    spin, clang, path, *size = sys.argv[1:]
    model = pathlib.Path(path).resolve()
    text = model.read_text(encoding='utf-8')
    if not flags_under('Mutations (-D):', text):
        sys.exit(f'{model.name}: no mutations are listed')
    failures = 0
    for flags, must_fail in runs_of(text, bool(size)):
        report = explore(spin, clang, model, flags, bool(size))
        problem = problem_of(report, must_fail, flags in ([], [SMALL]))
        states = re.search(r'(\S+) states, stored', report)
        name = model.stem + ''.join(' -D' + f for f in flags)
        verdict = 'fails as it must' if must_fail else 'verified'
        print(f'{name}: {problem or verdict} ({states[1] if states else "?"} states)', flush=True)
        if problem:
            print(report)
            failures += 1
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
