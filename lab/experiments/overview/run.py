#!/usr/bin/python3
"""The store as it comes, with a memory target and without one, beside Redis: gains and costs.

    lab/experiments/overview/run.py --rounds 3 --save overview.jsonl

A round starts the sides one after the other. A side is filled through --threads connections, meets
a closed loop of a YCSB workload for --warmup and --seconds, and then --rate requests a second for
--seconds, whose latencies are told (corrected for coordinated omission). DRAM is the resident set
in the end. Prints a table of medians, which the README has; --save appends a JSON object a side and
round. COLD's file lies in the store's default directory, or in --directory.
"""
import argparse
import json
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402

# Figures of a round: their names in the table, their keys, and how they are printed.
FIGURES = (('DRAM, MiB', 'dram_bytes', lambda v: f'{v / servers.MIB:,.0f}'),
           ('filling, MB/s', 'fill_mb_s', lambda v: f'{v:,.0f}'),
           ('requests a second, closed loop', 'ops_s', lambda v: f'{v:,.0f}'),
           ('p50 at the fixed rate, us', 'p50_us', lambda v: f'{v:,.0f}'),
           ('p99 at the fixed rate, us', 'p99_us', lambda v: f'{v:,.0f}'),
           ('p99.9 at the fixed rate, us', 'p999_us', lambda v: f'{v:,.0f}'))


def sides(options):
    """The command of each side, by its name."""
    own = [] if options.directory is None else ['--cold-backing', f'file:{options.directory}']

    def isotherm(*flags):
        return lambda folder: servers.isotherm_command(folder, options.tool, [*own, *flags])
    return {f'isotherm, {options.target}': isotherm('--memory-target', options.target),
            'isotherm, no target': isotherm('--manage', 'off'),
            'Redis': servers.redis_command}


def drive(options, server, *more):
    """The report of a driver."""
    process = servers.launch(
        servers.driver_command(options.tool, server, '-', [
            '--keys', options.keys, '--value-size', options.value_size, '--threads',
            options.threads, '--workload', options.workload, *ycsb.keys_by(options), *more]),
        stdout=subprocess.PIPE)
    try:
        said, _ = process.communicate()
    finally:
        servers.end(process)
    if process.returncode != 0:
        raise servers.Trouble('a driver failed')
    return json.loads(said)


def measure(options, command):
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        with servers.serving(command(folder), folder / 'socket') as server:
            first = drive(options, server, '--warmup', options.warmup, '--seconds',
                          options.seconds)
            second = drive(options, server, '--no-load', '--rate', options.rate, '--seconds',
                           options.seconds)
            latency = second['latency_us']
            filled = options.keys * options.value_size / 1e6
            return {'dram_bytes': server.resident_bytes(),
                    'fill_mb_s': filled / first['load_seconds'],
                    'ops_s': first['throughput_ops_s'], 'p50_us': latency['p50'],
                    'p99_us': latency['p99'], 'p999_us': latency['p999']}


def table(found):
    yield '| | ' + ' | '.join(found) + ' |'
    yield '|---' * (len(found) + 1) + '|'
    for name, key, form in FIGURES:
        medians = (statistics.median(row[key] for row in rows) for rows in found.values())
        yield f'| {name} | ' + ' | '.join(map(form, medians)) + ' |'


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tool', default=tree.TOOL)
    parser.add_argument('--directory', help="of COLD's file")
    parser.add_argument('--target', default='440mb')
    parser.add_argument('--keys', type=int, default=1000000)
    parser.add_argument('--value-size', type=int, default=1024)
    parser.add_argument('--workload', default='b')
    parser.add_argument('--threads', type=int, default=16, help='connections')
    parser.add_argument('--rate', type=int, default=10000, help='requests a second')
    ycsb.add_distribution(parser)
    parser.add_argument('--warmup', type=float, default=60, help='seconds')
    parser.add_argument('--seconds', type=float, default=30, help='of each load')
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--save', help='append a JSON object a side and round')
    options = parser.parse_args()
    servers.check_tool(options.tool)
    found = {name: [] for name in sides(options)}
    print(saved.here(), flush=True)
    for number in range(options.rounds):
        for name, command in sides(options).items():
            row = measure(options, command)
            found[name].append(row)
            saved.append(options.save, 'overview', side=name, round=number, keys=options.keys,
                         value_size=options.value_size, workload=options.workload,
                         distribution=options.distribution, rate=options.rate,
                         target=options.target, **row)
            print(f'round {number + 1}, {name}: '
                  + ', '.join(f'{label} {form(row[key])}' for label, key, form in FIGURES),
                  flush=True)
    print('\n'.join(table(found)))


if __name__ == '__main__':
    servers.run_main('overview', main)
