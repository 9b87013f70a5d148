"""Rows that experiments save: a JSON object a line, each of which tells where it comes from.

    {"experiment": "hotkey", ..., "origin": {"command": "lab/experiments/misses/run.py hotkey",
     "processor": ..., "processors": ..., "memory_bytes": ..., "system": ..., "date": ...}}

`origin` has the fields that it has in the tool's own results, so that `isotherm report` reads both.
"""
import datetime
import functools
import json
import os
import pathlib
import platform
import shlex
import sys

import tree


@functools.cache
def machine():
    """The facts of this machine."""
    with open('/proc/cpuinfo', encoding='utf-8') as file:
        model = next((line.split(':', 1)[1].strip() for line in file
                      if line.startswith('model name')), platform.machine())
    return {'processor': model, 'processors': os.cpu_count(),
            'memory_bytes': os.sysconf('SC_PAGE_SIZE') * os.sysconf('SC_PHYS_PAGES'),
            'system': f'{platform.system()} {platform.release()}'}


def words_of(facts):
    """A machine in a line: of machine(), or of a row's origin."""
    return f'{facts["processors"]} x {facts["processor"]}, {facts["system"]}'


def here():
    """This machine in a line."""
    return words_of(machine())


def command_line():
    """As a shell takes it in the root of the source tree."""
    script = pathlib.Path(sys.argv[0]).resolve()
    if script.is_relative_to(tree.ROOT):
        script = script.relative_to(tree.ROOT)
    return shlex.join([str(script), *sys.argv[1:]])


def origin():
    """Command, machine and date (of now, UTC)."""
    now = datetime.datetime.now(datetime.UTC)
    return {'command': command_line(), **machine(), 'date': f'{now:%Y-%m-%dT%H:%M:%SZ}'}


def append(path, experiment, **row):
    """Appends a row of this experiment; nothing where no file is named. A row that a caller gives
    an origin keeps it."""
    if path:
        with open(path, 'a', encoding='utf-8') as file:
            file.write(json.dumps({'experiment': experiment, 'origin': origin(), **row}) + '\n')


def rows(*paths):
    """The rows of files, one after the other."""
    for path in paths:
        with open(path, encoding='utf-8') as file:
            yield from (json.loads(line) for line in file if line.strip())


def add_readers(commands, **works):
    """Adds a subcommand of each name, which calls its function with files of saved rows."""
    for name, work in works.items():
        command = commands.add_parser(name)
        command.add_argument('files', nargs='+')
        command.set_defaults(work=work)
