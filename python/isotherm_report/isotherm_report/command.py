"""python3 -m isotherm_report: reads a folder, writes the page."""
import argparse
import os
import pathlib
import platform
import sys

from isotherm_report import cards, page, results

EXAMPLE = 'isotherm bench ycsb --manage on --json results.jsonl'


def model_name():
    try:
        with open('/proc/cpuinfo', encoding='utf-8') as file:
            return next((line.split(':', 1)[1].strip() for line in file
                         if line.startswith('model name')), platform.machine())
    except OSError:
        return platform.machine()


def facts(found):
    """(name, text) of the machines that the results name, and of this one where some name none."""
    told = {}
    for result in found:
        origin = result.data.get('origin')
        if origin:
            text = (f'{origin["processors"]} x {origin["processor"]}, '
                    f'{origin["memory_bytes"] / 2**30:.1f} GiB, {origin["system"]}')
            told.setdefault(text, set()).add(origin['date'][:10])
    lines = [('measured on', f'{text}; {min(dates)} to {max(dates)}')
             for text, dates in told.items()]
    unnamed = sum('origin' not in result.data for result in found)
    if unnamed:
        lines.append(('not told', f'{unnamed} of {len(found)} results do not name their machine; '
                                  f'this report was made on {os.cpu_count()} x {model_name()}, '
                                  f'{platform.system()} {platform.release()}'))
    return lines


def write(target, text):
    if target == '-':
        sys.stdout.write(text)
        return
    pending = pathlib.Path(f'{target}.part')
    try:
        pending.write_text(text, encoding='utf-8')
        pending.replace(target)
    except OSError as error:
        pending.unlink(missing_ok=True)
        sys.exit(f'isotherm report: cannot write {target}: {error.strerror}')


def main(words=None):
    parser = argparse.ArgumentParser(
        prog='isotherm report',
        description='One HTML page of result files (*.json, *.jsonl), each experiment beside what '
                    'the papers report.')
    parser.add_argument('folder', metavar='DIR', help='result files, also in folders below')
    parser.add_argument('-o', '--output', default='report.html',
                        help='the page; -: standard output (default: report.html)')
    options = parser.parse_args(words)
    if not pathlib.Path(options.folder).is_dir():
        sys.exit(f'isotherm report: {options.folder} is no folder')
    found, problems = results.read_folder(options.folder)
    for problem in problems:
        print(f'isotherm report: left out: {problem}', file=sys.stderr)
    if not found:
        sys.exit(f'isotherm report: no results in {options.folder}; make some, for example with '
                 f'{EXAMPLE}')
    sections = cards.sections_of(found)
    title = f'Isotherm: results of {pathlib.Path(options.folder).resolve().name}'
    write(options.output, page.render(title, facts(found), sections, problems))
    if options.output != '-':
        print(f'{options.output}: {page.counted(found, "result")}, '
              f'{page.counted(sections, "experiment")}')
    return 0
