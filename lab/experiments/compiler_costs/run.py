#!/usr/bin/env python3
"""The costs of isotherm-clang.so.

    lab/experiments/compiler_costs/run.py --build build/release --rounds 9
    lab/experiments/compiler_costs/run.py --build build/release --instructions
    lab/experiments/compiler_costs/run.py --build build/release --memory
    lab/experiments/compiler_costs/run.py --build build/release --large json fmt cli

Measures the hash table of lab/micro/compiler with plain pointers, with guides by hand and with
guides by the plugin:
time of an operation, bytes of the object, time of its compilation; and the compilation
of the sources of src/index, which mark nothing, as they are and with the plugin loaded. Each round
has everything by turns; printed are medians and ranges. With --instructions, which valgrind counts,
once and whatever else the machine does. With --memory, the memory of such a table by the size of
its values. The targets of lab/micro must be built. With --large, of
sources in large/ alone: what clang reads of each, with the library in its headers taken for the
program's own, as it is, with the plugin loaded, and as isotherm_instrument() compiles it.
"""
import argparse
import json
import os
import pathlib
import re
import resource
import shlex
import statistics
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402

KINDS = ('plain', 'by_hand', 'by_plugin')
UNMARKED = 'src/index'
COUNTED = 'src/index/art/art.cpp'   # the one of them whose compilation is counted
OPERATIONS = {'get': 'tables::sum_of(*', 'put': 'tables::put_all(*'}


# Headers of the libraries that large/ includes.
OWN = [f'--no-system-header-prefix={name}/' for name in ('nlohmann', 'fmt', 'CLI')]


class Compilations:
    """Commands that compile sources, without a cache of compilations."""

    def __init__(self, build):
        self.build = build
        self.known = {}     # by object, from the root
        for entry in json.loads((build / 'compile_commands.json').read_text(encoding='utf-8')):
            words = shlex.split(entry['command'])
            if 'ccache' in words[0]:
                words = words[1:]
            at = words.index('-o') + 1
            self.known[words[at]] = [*words[:at], os.devnull, *words[at + 1:]]
        self.plugin = f'-fplugin={build / "lib" / "isotherm-clang.so"}'

    def of_table(self, kind):
        return self.known[f'lab/micro/compiler/CMakeFiles/table_{kind}.dir/table.cpp.o']

    def of_unmarked(self, within):
        """Returns the commands for the sources of UNMARKED whose paths, from the root, begin with
        `within`."""
        return [command for made, command in self.known.items()
                if made.startswith(UNMARKED) and command[-1].startswith(str(tree.ROOT / within))]

    def groups(self, unmarked):
        """Commands by what they show together."""
        alone = self.of_unmarked(unmarked)
        sources = unmarked if len(alone) == 1 else f'{len(alone)} sources of {unmarked}'
        found = {f'table, {kind}': [self.of_table(kind)] for kind in KINDS}
        found['table, by_hand, plugin loaded'] = [[*self.of_table('by_hand'), self.plugin]]
        found[sources] = alone
        found[f'{sources}, plugin loaded'] = [[*each, self.plugin] for each in alone]
        return found

    def of_large(self, name):
        """Returns the commands for a source in large/, by what they show."""
        source = pathlib.Path(__file__).resolve().parent / 'large' / f'{name}.cpp.in'
        plain = ['clang++-19', '-std=c++23', '-mcx16', '-fsyntax-only', *OWN, '-x', 'c++', source]
        header = [f'-I{tree.ROOT / "include"}', f'-I{tree.ROOT / "src"}', '-DISOTHERM_INSTRUMENTED',
                  '-include', 'isotherm/compiler.hpp']
        return {name: [plain], f'{name}, plugin loaded': [[*plain, self.plugin]],
                f'{name}, instrumented': [[*plain, self.plugin, *header]]}


def user_seconds(commands, build):
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    for command in commands:
        subprocess.run(command, cwd=build, check=True)
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before


def instructions(command, build, tool, *flags):
    done = subprocess.run(['valgrind', f'--tool={tool}', f'--{tool}-out-file={os.devnull}', *flags,
                           *command], cwd=build, check=True, capture_output=True, text=True)
    return int(re.search(r'I +refs: +([\d,]+)', done.stderr)[1].replace(',', '')), done.stdout


def benchmark(build, kind, seconds, only=''):
    return [build / 'bin' / f'table_{kind}_bench', '--benchmark_format=json',
            f'--benchmark_min_time={seconds}', f'--benchmark_filter={only}']


def nanoseconds(told):
    """Returns the time of an operation, by benchmark."""
    return {each['name']: 1e9 / each['items_per_second'] for each in json.loads(told)['benchmarks']}


def object_bytes(build, kind):
    """Returns the size that size(1) calls text: code, constants and the tables of exceptions."""
    made = build / f'lab/micro/compiler/CMakeFiles/table_{kind}.dir/table.cpp.o'
    told = subprocess.check_output(['size', made], text=True)
    return int(told.splitlines()[1].split()[0])


def print_times(build, options):
    groups = Compilations(build).groups(UNMARKED)
    times, seconds = {}, {}
    for _ in range(options.rounds):
        for kind in KINDS:
            told = subprocess.check_output(benchmark(build, kind, options.seconds),
                                           stderr=subprocess.DEVNULL)
            for name, found in nanoseconds(told).items():
                times.setdefault((name, kind), []).append(found)
                saved.append(options.save, 'compiler', operation=name, guides=kind, ns=found)
        for name, commands in groups.items():
            spent = user_seconds(commands, build)
            seconds.setdefault(name, []).append(spent)
            saved.append(options.save, 'compiler', compiled=name, user_seconds=spent)
    print(f'medians and ranges of {options.rounds} rounds')
    for (name, kind), found in sorted(times.items()):
        print(f'{name:20} {kind:10} {ycsb.spread(found)} ns')
    for name, found in seconds.items():
        print(f'compilation of {name:40} {ycsb.spread(found)} s')


def print_large(build, options):
    compilations = Compilations(build)
    for source in options.large:
        times = {}
        for _ in range(options.rounds):
            for name, commands in compilations.of_large(source).items():
                spent = user_seconds(commands, build)
                times.setdefault(name, []).append(spent)
                saved.append(options.save, 'compiler', compiled=name, user_seconds=spent)
        plain = statistics.median(times[source])
        for name, found in times.items():
            ratio = statistics.median(found) / plain
            print(f'reading {name:40} {ycsb.spread(found)} s, {ratio:.3f} of plain')


def print_memory(build, options):
    uses = [(options.values // 20, 'reads'), (options.values, 'reads'),
            (options.values // 20, 'replaces')]
    for size in (16, 64, 200, 1024):
        for used, how in uses:
            for kind in ('plain', 'by_plugin'):
                command = [build / 'bin' / f'table_memory_{kind}', *map(str, (
                    size, options.values, used, how))]
                runs = [subprocess.check_output(command, text=True).split()
                        for _ in range(options.rounds)]
                filled, after, peak = ([int(count) / 2**20 for count in column]
                                       for column in zip(*runs))
                print(f'{size:5} bytes, {how} {used:7}, {kind:10} filled {ycsb.spread(filled)}, '
                      f'after {ycsb.spread(after)}, peak {ycsb.spread(peak)} MiB')


def print_instructions(build):
    for name, function in OPERATIONS.items():
        for kind in KINDS:
            # One iteration, of as many operations as the benchmark says.
            count, told = instructions(benchmark(build, kind, 0, f'{name}/keys:2000'), build,
                                       'callgrind', f'--toggle-collect={function}')
            ran = json.loads(told)['benchmarks'][0]
            operations = ran['items_per_second'] * ran['cpu_time'] / 1e9 * ran['iterations']
            print(f'{name:20} {kind:10} {count / operations:.1f} instructions')
    for name, commands in Compilations(build).groups(COUNTED).items():
        count = sum(instructions(command, build, 'cachegrind', '--cache-sim=no')[0]
                    for command in commands)
        print(f'compilation of {name:40} {count / 1e6:.0f} million instructions')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--build', type=pathlib.Path, default=pathlib.Path('build/release'))
    parser.add_argument('--rounds', type=int, default=9)
    parser.add_argument('--seconds', type=float, default=0.5, help='of each benchmark in a round')
    parser.add_argument('--save', help='append a JSON object for each time')
    parser.add_argument('--instructions', action='store_true', help='instead of times')
    parser.add_argument('--memory', action='store_true', help='instead of times')
    parser.add_argument('--values', type=int, default=200_000, help='of the tables of --memory')
    parser.add_argument('--large', nargs='+', choices=('json', 'fmt', 'cli'),
                        help='sources in large/ whose compilation is timed, instead of the table')
    options = parser.parse_args()
    build = options.build.resolve()
    print(f'{saved.here()}, load {os.getloadavg()[0]:.1f}')
    if options.large or options.memory:
        (print_large if options.large else print_memory)(build, options)
        return
    for kind in KINDS:
        print(f'{"object":20} {kind:10} {object_bytes(build, kind)} bytes')
    if options.instructions:
        print_instructions(build)
    else:
        print_times(build, options)
    print(f'load at the end {os.getloadavg()[0]:.1f}')


if __name__ == '__main__':
    main()
