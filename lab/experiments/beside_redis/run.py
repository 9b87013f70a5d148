#!/usr/bin/python3
"""redis-benchmark against isotherm serve and redis-server in turn: same clients, persistence off.

Both servers run all the time; rounds alternate between them, so that what else the machine does
meets both. Prints medians, spreads and the ratio, and names the machine; --save appends a JSON
object for each round of a test.
"""
import argparse
import contextlib
import csv
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402

TESTS = ('SET', 'GET')


def start(command, path):
    server = subprocess.Popen([str(word) for word in command], stdout=subprocess.DEVNULL)
    until = time.monotonic() + servers.PATIENCE
    while server.poll() is None and time.monotonic() < until:
        # The socket's file is there before the server listens on it.
        with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
            probe.connect(str(path))
            return server
        time.sleep(0.02)
    raise SystemExit(f'beside_redis: {command[0]} did not open {path}')


def measure(path, options, pipeline):
    """Requests a second and the median and 99th percentile of latency in ms, by test."""
    said = subprocess.run(
        ['redis-benchmark', '-s', str(path), '--csv', '-t', ','.join(TESTS).lower(), '-c',
         str(options.clients), '-n', str(options.requests * (4 if pipeline > 1 else 1)), '-P',
         str(pipeline), '-d', str(options.value_size), '-r', str(options.keys)],
        capture_output=True, text=True, check=True).stdout
    return {row['test']: (float(row['rps']), float(row['p50_latency_ms']),
                          float(row['p99_latency_ms'])) for row in csv.DictReader(
                              said.splitlines())}


def report(name, test, ours, theirs):
    def spread(values):
        return (max(values) - min(values)) / statistics.median(values)
    row = {}
    for side, runs in (('isotherm', ours), ('redis', theirs)):
        rates = [run[test][0] for run in runs]
        row[side] = {'ops_s': statistics.median(rates), 'spread': spread(rates),
                     'p50_ms': statistics.median(run[test][1] for run in runs),
                     'p99_ms': statistics.median(run[test][2] for run in runs)}
    row['ratio'] = statistics.median(a[test][0] / b[test][0] for a, b in zip(ours, theirs))
    print(f'{name:<16}' + ''.join(
        f'{row[side]["ops_s"]:>11.0f} ±{row[side]["spread"] / 2:>4.0%}{row[side]["p50_ms"]:>8.2f}'
        f'{row[side]["p99_ms"]:>8.2f}' for side in ('isotherm', 'redis'))
        + f'{row["ratio"]:>8.2f}', flush=True)


def save(options, pipeline, runs):
    """A row for each round of a test: rate and latencies of both."""
    for number, round_of in enumerate(zip(*runs.values()), 1):
        for test in TESTS:
            saved.append(options.save, 'beside redis', test=test, pipeline=pipeline, round=number,
                         clients=options.clients, value_size=options.value_size, keys=options.keys,
                         **{side: dict(zip(('ops_s', 'p50_ms', 'p99_ms'), found[test]))
                            for side, found in zip(runs, round_of)})


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--clients', type=int, default=50)
    parser.add_argument('--requests', type=int, default=100_000, help='of each test and round')
    parser.add_argument('--value-size', type=int, default=1024)
    parser.add_argument('--keys', type=int, default=100_000)
    parser.add_argument('--pipeline', type=int, nargs='+', default=[1, 16])
    parser.add_argument('--save', help='append a JSON object for each round of a test')
    parser.add_argument('flags', nargs='*', help='flags of isotherm serve, after --')
    return parser.parse_args()


def main():
    options = parse_arguments()
    started = []
    with tempfile.TemporaryDirectory(prefix='isotherm-beside-') as folder:
        paths = {side: pathlib.Path(folder, side) for side in ('isotherm', 'redis')}
        try:
            started.append(start([tree.TOOL, 'serve', '--port', '-1', '--unixsocket',
                                  paths['isotherm'], *options.flags], paths['isotherm']))
            started.append(start(['redis-server', '--port', '0', '--unixsocket', paths['redis'],
                                  '--save', '', '--appendonly', 'no', '--dir', folder],
                                 paths['redis']))
            print(f'{saved.here()}; '
                  f'{options.clients} clients, {options.value_size}-byte values, medians of '
                  f'{options.rounds} pairs; flags: {" ".join(options.flags) or "none"}')
            print(f'{"":<16}{"isotherm/s":>11}{"":>6}{"p50 ms":>8}{"p99 ms":>8}'
                  f'{"redis/s":>11}{"":>6}{"p50 ms":>8}{"p99 ms":>8}{"ratio":>8}')
            for pipeline in options.pipeline:
                runs = {side: [] for side in paths}
                for _ in range(options.rounds):
                    for side, path in paths.items():
                        runs[side].append(measure(path, options, pipeline))
                save(options, pipeline, runs)
                for test in TESTS:
                    report(f'{test} -P {pipeline}', test, *runs.values())
        finally:
            for server in started:
                server.terminate()
            for server in started:
                server.wait()


if __name__ == '__main__':
    sys.exit(main())
