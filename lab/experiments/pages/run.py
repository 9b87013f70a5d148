#!/usr/bin/python3
"""How much of their pages stores use under the same reads, observed by isotherm pages.

    lab/experiments/pages/run.py --requests 20000,100000 --save pages.jsonl
    lab/experiments/pages/run.py --programs sqlite3,python3,cc1plus
    lab/experiments/pages/run.py --agreement 3
    lab/experiments/pages/run.py --cost 3
    lab/experiments/pages/run.py --objects --servers redis,isotherm

Starts each server under observation, loads records, and then lets a window go by for each number of
requests: YCSB-C at a fixed rate, which the observed server bears. Loading is left out. Prints for
each window what the server held, touched and used, and the shares of touched pages of which at most
3, 15 and 25% was used. With --objects: what ordering a server's objects by temperature would save,
as predicted, beside what isotherm serve holds when it moves them. With --programs: the table of
whole runs of other programs (programs.py). With --agreement: the bytes and pages that the collector
of isotherm serve (--manage track) counts in so many of its windows, beside those that the
observation counts in its heaps meanwhile. With --cost: requests a second of each server in a closed
loop, by itself and observed in turn, so many rounds.
"""
import argparse
import contextlib
import json
import pathlib
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import agreement  # noqa: E402
import prediction  # noqa: E402
import programs  # noqa: E402
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402
from servers import Trouble  # noqa: E402

MIB = 1 << 20
PATIENCE = 900  # seconds


def commands(folder, options):
    """The command of each server, and the address that the driver is given."""
    path = folder / 'socket'
    serve = [tree.TOOL, 'serve', '--port', -1, '--unixsocket', path]
    managed = ['--window', options.collector_window, '--cold-backing', f'file:{folder}']
    return {
        'redis': (servers.redis_command(folder), f'unix:{path}'),
        'memcached': (['memcached', '-u', 'root', '-s', path, '-t', 2, '-m', 6000],
                      f'memcached:unix:{path}'),
        'isotherm': ([*serve, '--manage', 'off'], f'unix:{path}'),
        # QEMU's own memory counts as the server's, so that a memory target has no meaning.
        'isotherm-on': ([*serve, *managed, '--policy', 'published', '--hint', 'pageout',
                         '--min-rest', options.collector_window], f'unix:{path}'),
        'isotherm-track': ([*serve, *managed, '--manage', 'track'], f'unix:{path}'),
    }


def drive(address, options, *flags):
    """Requests a second. All runs send the same requests."""
    done = subprocess.run([tree.TOOL, 'bench', 'ycsb', '--connect', address, '--workload', 'c',
                           '--keys', str(options.keys), '--value-size', str(options.value_size),
                           '--distribution', options.distribution, '--threads', '4', '--seed',
                           str(options.seed), *flags],
                          capture_output=True, text=True, check=False, timeout=PATIENCE)
    if done.returncode != 0:
        raise Trouble(f'the driver failed: {done.stderr.strip()}')
    return int(re.search(r'([\d,]+) ops/s ', done.stdout)[1].replace(',', ''))


def await_socket(path, run):
    for _ in range(PATIENCE * 20):
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex(str(path)) == 0:
                return
        if run.poll() is not None:
            break
        time.sleep(.05)
    raise Trouble(f'the observed server did not start: {run.stderr.read().strip()}')


def end_window(run):
    """Waits for its line: its figures are complete then."""
    run.send_signal(signal.SIGUSR1)
    for line in run.stderr:
        if line.startswith('window '):
            return
    raise Trouble('the observation ended early')


@contextlib.contextmanager
def loaded(command, address, options, folder):
    """The process of `command`, which serves the records."""
    run = subprocess.Popen(list(map(str, command)), stdout=subprocess.DEVNULL,
                           stderr=subprocess.PIPE, text=True)
    try:
        await_socket(folder / 'socket', run)
        drive(address, options, '--seconds', '0.1', '--rate', '10')
        yield run
    finally:
        run.terminate()
        run.communicate(timeout=PATIENCE)


def observe(name, options, folder):
    """The windows of a server, as isotherm pages reports them; the first is of loading."""
    command, address = commands(folder, options)[name]
    report = folder / 'report.json'
    flags = [flag for flag, is_set in (('--syscalls', options.syscalls),
                                       ('--objects', options.objects)) if is_set]
    observed = [tree.TOOL, 'pages', '--progress', '--json', report, *flags, '--', *command]
    with loaded(observed, address, options, folder) as run:
        end_window(run)
        time.sleep(options.rest)
        end_window(run)
        for requests in options.requests:
            drive(address, options, '--no-load', '--seconds', str(requests / options.rate),
                  '--rate', str(options.rate))
            end_window(run)
    return json.loads(report.read_text())['windows']


def observe_anew(name, options):
    with tempfile.TemporaryDirectory(prefix='isotherm-pages-') as folder:
        return observe(name, options, pathlib.Path(folder))


def row_of(window):
    """The figures of a window that its row tells."""
    everything, pages = window['all'], window['pages_of_4_kib']
    shares = pages['share_of_pages_by_percent_of_bytes']
    return {'held_bytes': everything['resident_bytes'],
            'touched_bytes': everything['touched_bytes'],
            'used_bytes': everything['used_bytes'],
            'used_line_bytes': everything['used_line_bytes'],
            'could_leave_bytes': everything['could_leave_bytes'],
            'could_leave_in_order_bytes': everything['could_leave_in_order_bytes'],
            'utilization': pages['utilization'],
            'utilization_of_2_mib': window['pages_of_2_mib']['utilization'],
            'pages_up_to': {str(percent): shares[percent - 1] for percent in (3, 15, 25)}}


def report(name, requests, row):
    shares = row['pages_up_to']
    print(f'{name:<14} {requests:>8}  held {row["held_bytes"] / MIB:7.1f} MiB  '
          f'touched {row["touched_bytes"] / MIB:7.1f}  used {row["used_bytes"] / MIB:6.1f}  '
          f'utilization {row["utilization"]:6.1%}  <=3% {shares["3"]:6.1%}  <=15% '
          f'{shares["15"]:6.1%}  <=25% {shares["25"]:6.1%}  could leave '
          f'{row["could_leave_bytes"] / MIB:6.1f} + {row["could_leave_in_order_bytes"] / MIB:6.1f}',
          flush=True)


def observe_programs(options):
    """Prints and saves the figures of whole runs."""
    for name in options.programs.split(','):
        with tempfile.TemporaryDirectory(prefix='isotherm-pages-') as folder:
            window, version = programs.observe(tree.TOOL, name, folder, options.scale)
        row = row_of(window)
        print(version)
        report(name, 'its run', row)
        saved.append(options.save, 'pages', server=name, version=version, scale=options.scale,
                     **row)


def compare_counts(options):
    """Prints and saves the counts of the collector and of the observation."""
    with tempfile.TemporaryDirectory(prefix='isotherm-pages-') as folder:
        folder = pathlib.Path(folder)
        command, address = commands(folder, options)['isotherm-track']
        found = folder / 'report.json'
        observed = [tree.TOOL, 'pages', '--progress', '--json', found, '--', *command]
        with loaded(observed, address, options, folder) as run:
            counted = agreement.count_windows(options, address, folder / 'socket',
                                              lambda: end_window(run))
        rows = agreement.rows_of(json.loads(found.read_text())['windows'], counted)
    for row in rows:
        print(f'collector {row["collector_bytes"] / MIB:7.2f} MiB in '
              f'{row["collector_page_bytes"] / MIB:7.2f} MiB of pages; observed '
              f'{row["tool_bytes"] / MIB:7.2f} in {row["tool_page_bytes"] / MIB:7.2f}: '
              f'{row["tool_bytes"] / row["collector_bytes"] - 1:+.2%} bytes, '
              f'{row["tool_page_bytes"] / row["collector_page_bytes"] - 1:+.2%} pages', flush=True)
        saved.append(options.save, 'pages agreement', keys=options.keys, rate=options.rate,
                     value_size=options.value_size, distribution=options.distribution,
                     window=options.collector_window, **row)


def measure_cost(name, options):
    """Prints medians of both sides and of the rounds' ratios."""
    rates = {'alone': [], 'observed': []}
    for _ in range(options.cost):
        for side, found in rates.items():
            with tempfile.TemporaryDirectory(prefix='isotherm-pages-') as folder:
                folder = pathlib.Path(folder)
                command, address = commands(folder, options)[name]
                if side == 'observed':
                    command = [tree.TOOL, 'pages', '--', *command]
                with loaded(command, address, options, folder):
                    found.append(drive(address, options, '--no-load', '--seconds', '4'))
    times = [alone / observed for alone, observed in zip(*rates.values())]
    print(f'{name:<10} requests/s alone {statistics.median(rates["alone"]):,.0f}, observed '
          f'{statistics.median(rates["observed"]):,.0f}: {statistics.median(times):.1f} times '
          f'slower ({min(times):.1f} .. {max(times):.1f})', flush=True)
    saved.append(options.save, 'pages cost', server=name, keys=options.keys,
                 value_size=options.value_size, **rates)


def numbers(text):
    return [int(word) for word in text.split(',')]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--servers', default='redis,memcached,isotherm,isotherm-on')
    parser.add_argument('--keys', type=int, default=200_000)
    parser.add_argument('--value-size', type=int, default=1024)
    parser.add_argument('--distribution', default='zipfian', help='of isotherm bench ycsb')
    parser.add_argument('--requests', type=numbers, default=[20_000, 100_000],
                        help='of each window')
    parser.add_argument('--rate', type=int, default=2000, help='requests a second')
    parser.add_argument('--rest', type=float, default=15,
                        help='seconds after loading in which the server may tidy up')
    parser.add_argument('--syscalls', action='store_true', help='count buffers of system calls')
    parser.add_argument('--objects', action='store_true',
                        help='predict what ordering objects would save, of redis and isotherm')
    parser.add_argument('--seed', type=int, default=1, help='of the requests')
    parser.add_argument('--dir', help='folder for COLD of the managed store')
    parser.add_argument('--collector-window', type=float, default=20,
                        help='seconds of a window of the collector')
    parser.add_argument('--programs', help=f'observe these: {",".join(programs.PROGRAMS)}')
    parser.add_argument('--scale', type=float, default=1, help='of the work of programs')
    parser.add_argument('--agreement', type=int, help='compare counts, of so many windows')
    parser.add_argument('--cost', type=int, help='measure requests a second, in so many rounds')
    parser.add_argument('--save', help='append a JSON object for each window')
    return parser.parse_args()


def main():
    options = parse_arguments()
    servers.check_tool(tree.TOOL)
    print(f'{saved.here()}; {options.keys} records of {options.value_size} B, {options.rate} '
          'requests a second')
    if options.objects:
        prediction.run(options, drive, lambda name: observe_anew(name, options))
        return
    if options.programs:
        observe_programs(options)
        return
    if options.agreement:
        compare_counts(options)
        return
    for name in options.servers.split(','):
        if options.cost:
            measure_cost(name, options)
            continue
        windows = observe_anew(name, options)
        for requests, window in zip(options.requests, windows[2:]):
            row = row_of(window)
            report(name, requests, row)
            saved.append(options.save, 'pages', server=name, requests=requests, keys=options.keys,
                         value_size=options.value_size, distribution=options.distribution,
                         rate=options.rate, syscalls=options.syscalls, **row)


if __name__ == '__main__':
    servers.run_main('pages', main)
