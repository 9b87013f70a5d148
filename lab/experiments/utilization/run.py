#!/usr/bin/python3
"""How much of the pages that a store touches it uses, as its records are read past their pages.

    lab/experiments/utilization/run.py run --workloads c,b --requests 0.5,1,2 --save used.jsonl
    lab/experiments/utilization/run.py table used.jsonl

Starts isotherm serve with a memory target of a share of what the records take, and beside it one
that only watches (--manage track). Both get the operations of a YCSB workload at a fixed rate, so
many a record and window of the collector, on permuted keys: Zipfian 0.99 over the records
themselves. YCSB's own Zipfian sends two in five requests evenly to all records, and no order of
records makes pages of those useful. After a warm-up, page utilization of each window
is taken from ISOTHERM STATS: bytes of the objects used in it over the bytes of the pages touched
for them. `run` appends a JSON object a run; `table` prints medians and ranges of the windows,
beside the best that any order gives of the most popular records that fit, were nothing else in
DRAM.
"""
import argparse
import collections
import contextlib
import json
import math
import pathlib
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402

PERMUTED = ['--distribution', 'permuted']
FIELDS = ('page_utilization', 'accessed_bytes', 'accessed_pages', 'read_past_bytes',
          'read_past_pages', 'accessed_cold_objects', 'promoted_objects', 'demoted_objects')


def driver(options, server, report, rate, workload, seconds, *more):
    return servers.driver_command(
        options.tool, server, report,
        ['--keys', options.keys, '--workload', workload, *options.load, '--threads', 8, '--rate',
         rate, '--seconds', seconds, *more])


def windows_of(server, work):
    """Returns the fields of each window that ended while `work` ran. Raises Trouble where a driver
    fails."""
    seen, last = [], None
    before = server.stats()['window']

    def look():
        nonlocal last
        now = server.stats()
        if now['window'] not in (before, last):
            last = now['window']
            seen.append({name: float(now[name]) for name in FIELDS})
    errors = work(look)
    look()  # on a busy machine the one look may have come before the first window ended
    if errors:
        raise servers.Trouble(f'the driver failed: {errors[0]}')
    return seen


def run_one(options, mode, workload, requests):
    rate = round(options.keys * requests / options.window)
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.dir)))
        flags = ['--window', options.window, '--expected-keys', options.keys,
                 *(['--manage', 'track'] if mode == 'track' else ['--cold-backing',
                                                                  f'file:{folder}'])]
        command = servers.isotherm_command(folder, options.tool, flags)
        server = stack.enter_context(servers.serving(command, folder / 'socket'))
        report = folder / 'report.json'
        empty = int(server.stats()['dram_bytes'])
        servers.drive([driver(options, server, report, 100, workload, 0.1)], lambda: None, 60)
        taken = int(server.stats()['dram_bytes']) - empty
        if mode == 'target':
            server.client.execute_command('ISOTHERM', 'CONFIG', 'SET', 'memory-target',
                                          empty + taken * options.share // 100)
        # A store whose uses are only tracked settles at once.
        for seconds in (options.warmup if mode == 'target' else 2 * options.window,
                        options.seconds):
            report.unlink(missing_ok=True)
            seen = windows_of(server, lambda look, seconds=seconds: servers.drive(
                [driver(options, server, report, rate, workload, seconds, '--no-load')], look,
                seconds))
        said = json.loads(report.read_text())
        row = {'mode': mode, 'workload': workload, 'requests': requests, 'rate': rate,
               'achieved': said['throughput_ops_s'], 'keys': options.keys, 'share': options.share,
               'window': options.window, 'load': options.load, 'windows': seen,
               'dram': int(server.stats()['dram_bytes']) - empty, 'taken': taken}
    if options.load == PERMUTED:
        row['best_order'] = best_order(options.keys, options.share, requests)
    saved.append(options.save, 'utilization', **row)
    found = [each['page_utilization'] for each in seen]
    print(f'{mode:6} {workload} {requests:g} a record and window, {row["achieved"]:,.0f}/s: '
          f'{ycsb.spread(found, ".1%")} of {len(found)} windows', flush=True)


RECORD = 1056  # bytes of a value of 1 KiB with what stands before it
PAGE = 4096


def best_order(keys, share, requests):
    """Utilization of the pages touched in a window when the records that fit lie in the order of
    their popularity, each as likely to be used as the Zipfian 0.99 says."""
    weights = [1 / (i + 1)**0.99 for i in range(keys)]
    scale = keys * requests / sum(weights)
    used = touched = filled = 0
    none = 1.0  # the probability that nothing in this page is used
    for weight in weights[:keys * share // 100]:
        unused = math.exp(-weight * scale)
        used += (1 - unused) * RECORD
        none *= unused
        filled += RECORD
        if filled >= PAGE:
            touched += 1 - none
            filled -= PAGE
            none = unused if filled else 1.0  # that record goes on in the next page
    return used / (touched * PAGE)


def run(options):
    servers.check_tool(options.tool)
    print(saved.here())
    for workload in options.workloads.split(','):
        for requests in map(float, options.requests.split(',')):
            for mode in ('track', 'target'):
                run_one(options, mode, workload, requests)


def table(options):
    groups = collections.OrderedDict()
    for row in saved.rows(*options.files):
        if not row['windows']:  # none ended in a short run on a busy machine
            continue
        what = row['workload'], row['requests'], row['share']
        groups.setdefault(what, {})[row['mode']] = row
    print('| workload | requests a record and window | target | watched only | with the target '
          '| best order of what fits | of the bytes used, read past their pages |')
    print('|---|---|---|---|---|---|---|')
    for (workload, requests, share), modes in groups.items():
        if len(modes) < 2:
            continue
        used = {mode: [each['page_utilization'] for each in row['windows']]
                for mode, row in modes.items()}
        managed = modes['target']
        past = statistics.median(each['read_past_bytes'] / max(each['accessed_bytes'], 1)
                                 for each in managed['windows'])
        best = f'{managed["best_order"]:.1%}' if 'best_order' in managed else ''
        print(f'| {workload} | {requests:g} | {share}% | {ycsb.spread(used["track"], ".1%")} '
              f'| {ycsb.spread(used["target"], ".1%")} | {best} | {past:.1%} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser('run')
    running.set_defaults(work=run)
    running.add_argument('--workloads', default='c,b,a')
    running.add_argument('--requests', default='0.5,1,2', help='a record and window')
    running.add_argument('--keys', type=int, default=100_000)
    running.add_argument('--window', type=float, default=10, help='seconds')
    running.add_argument('--share', type=int, default=35, help='percent of the records in DRAM')
    running.add_argument('--warmup', type=float, default=120, help='seconds')
    running.add_argument('--seconds', type=float, default=60, help='measured')
    running.add_argument('--dir', default='/var/tmp', help='where COLD lies')
    running.add_argument('--tool', default=tree.TOOL)
    running.add_argument('--save', help='append a JSON object a run')
    running.add_argument('load', nargs='*', default=PERMUTED,
                         help='flags of the driver, after --, in place of the permuted Zipfian')
    saved.add_readers(commands, table=table)
    options = parser.parse_args()
    options.work(options)


if __name__ == '__main__':
    servers.run_main('utilization', main)
