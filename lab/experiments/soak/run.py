#!/usr/bin/python3
"""isotherm serve under load for long, second by second.

    lab/experiments/soak/run.py run --workload a --rate 20000 --minutes 30 \\
        --save soak.jsonl -- FLAGS
    lab/experiments/soak/run.py phases --save phases.jsonl -- FLAGS
    lab/experiments/soak/run.py draw soak.jsonl -o soak.svg
    lab/experiments/soak/run.py draw phases.jsonl -o phases.svg --every 1

FLAGS are the managed server's. `run` drives one server; call it again for another line in the
plot. `phases` serves managed, then unmanaged: load, first demotion, steady state, a shift of the
hot set, a burst of writes, deletion of nine tenths. Each line of the file is written when it is
known, so that an interrupted run keeps what it has; requests come at the end of each piece.
"""
import argparse
import collections
import contextlib
import pathlib
import random
import shutil
import statistics
import sys
import tempfile
import time

import redis

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402
from servers import MIB, Trouble  # noqa: E402

LOAD_SECONDS = 600  # a load may take so long
DELETED_AT_ONCE = 500  # keys of one command
WRITES = ('load', 'burst')  # every record is written; the driver's few requests behind say nothing
SHARES = ('p50', 'p90', 'p99', 'p999')


class Soak:
    """A server, the drivers beside it, and the lines that they make."""

    def __init__(self, options, label, server, folder):
        self.options, self.label, self.server, self.folder = options, label, server, folder
        self.line = servers.Line()
        self.began = self.seen_at = time.monotonic()
        self.misses = 0
        self.phase = 'start'

    def write(self, **what):
        saved.append(self.options.save, 'soak', run=self.label, phase=self.phase, **what)

    def now(self):
        return round(time.monotonic() - self.began, 2)

    def each_second(self):
        if not self.server.is_alive():
            return
        try:
            stats = self.stats()
            faults, processor = self.server.spent()
        except (OSError, redis.RedisError):  # the server may end at any moment
            return
        now = time.monotonic()
        misses = faults + stats.get('cold_misses', 0)  # a server without management has no COLD
        rate = (misses - self.misses) / max(0.001, now - self.seen_at)
        self.misses, self.seen_at = misses, now
        self.write(at=self.now(), misses=round(rate), processor=processor, stats=stats)
        self.line.show(f'{self.label}  {self.phase} {self.now():.0f} s  '
                       f'DRAM {stats["dram_bytes"] / MIB:.0f} MiB  {rate:.0f} misses/s')

    def stats(self):
        """Returns the fields of ISOTHERM STATS; numbers are returned as numbers."""
        return {name: number(value) for name, value in self.server.stats().items()}

    def drive(self, phase, seconds, keys, *more):
        """One driver for each size of values, as its records have keys of a length of their own."""
        self.phase = phase
        options, sizes = self.options, self.options.values
        paths = [self.folder / f'report-{size}.json' for size in sizes]
        commands = []
        for number_of_size, (size, path) in enumerate(zip(sizes, paths)):
            path.unlink(missing_ok=True)
            commands.append(servers.driver_command(options.tool, self.server, path, [
                '--keys', keys // len(sizes), '--key-size', 30 + number_of_size, '--value-size',
                size, '--workload', options.workload, *ycsb.keys_by(options),
                '--threads', max(1, options.connections // len(sizes)), '--rate',
                options.rate / len(sizes), '--seconds', seconds, '--window', 1, '--seed',
                random.SystemRandom().randrange(1, 2**31), *more]))
        start = self.now()
        errors = servers.drive(commands, self.each_second, max(seconds, LOAD_SECONDS))
        for size, report in zip(sizes, servers.reports(paths)):
            self.write(value=size, start=start, seed=report['seed'], errors=errors,
                       load_seconds=report['load_seconds'],
                       throughput=report['throughput_ops_s'], latency_us=report['latency_us'],
                       requests=[] if phase in WRITES else servers.seconds_of(report, start))
        if not self.server.is_alive() or errors:
            raise Trouble(f'{self.label}, {phase}: {"; ".join(errors) or "the server ended"}')

    def write_all(self, phase):
        """Writes every record, as fast as the drivers can."""
        self.drive(phase, 0.1, self.options.records, '--rate', 100)

    def delete_nine_tenths(self):
        self.phase = 'deletion'
        doomed, due = [], time.monotonic()
        for count, key in enumerate(self.server.client.scan_iter(count=1000)):
            if count % 10:
                doomed.append(key)
            if len(doomed) == DELETED_AT_ONCE:
                self.server.client.unlink(*doomed)
                doomed.clear()
            if time.monotonic() > due:
                self.each_second()
                due += 1
        if doomed:
            self.server.client.unlink(*doomed)
        began = time.monotonic()
        for second in range(int(self.options.phase_seconds)):
            self.each_second()
            time.sleep(max(0, began + second + 1 - time.monotonic()))


def number(value):
    if isinstance(value, (int, float)):
        return value
    text = value.decode()
    try:
        return float(text) if '.' in text or 'e' in text else int(text)
    except ValueError:
        return text


@contextlib.contextmanager
def soaking(options, manage):
    """A server of its own, which ends with the block."""
    servers.check_tool(options.tool)
    sizes = 'mixed sizes' if len(options.values) > 1 else f'{options.values[0]} B'
    pace = f'{options.rate:,}/s' if options.rate else 'closed loop'
    label = f'{manage} {options.label}'.strip()
    label += f', {ycsb.load_name(options.workload, options.distribution)}, {sizes}, {pace}'
    folder = pathlib.Path(tempfile.mkdtemp(prefix='isotherm-soak-', dir=options.dir))
    flags = ['--threads', 2, '--expected-keys', options.records, '--manage', manage]
    if manage == 'on':
        flags += ['--cold-backing', f'file:{folder}', *options.flags]
    command = servers.isotherm_command(folder, options.tool, flags)
    try:
        with servers.serving(command, folder / 'socket') as server:
            soak = Soak(options, label, server, folder)
            soak.write(command=' '.join(map(str, command)), records=options.records,
                       values=options.values)
            yield soak
            soak.line.show('')
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def run(options):
    with soaking(options, options.manage) as soak:
        soak.write_all('load')
        left = options.minutes * 60
        while left > 0:
            soak.drive('soak', min(left, options.piece), options.records, '--no-load')
            left -= options.piece


def phases(options):
    seconds = options.phase_seconds
    for manage in ('on', 'off'):
        with soaking(options, manage) as soak:
            soak.write_all('load')
            soak.drive('first demotion', seconds, options.records, '--no-load')
            soak.drive('steady', seconds, options.records, '--no-load')
            # Another number of keys makes other keys the popular ones.
            soak.drive('shift', seconds, options.records - len(options.values), '--no-load')
            soak.write_all('burst')
            soak.drive('after it', seconds, options.records, '--no-load')
            soak.delete_nine_tenths()
            print(f'{soak.label}: {soak.now():.0f} s', flush=True)


def points_of(path, every):
    """For each run its panels' points: the middle of what was seen in each `every` seconds."""
    bins = collections.defaultdict(lambda: collections.defaultdict(list))
    borders = collections.defaultdict(dict)

    def put(run, at, name, value):
        bins[run][name, int(at // every)].append(value)

    for row in saved.rows(path):
        if 'stats' in row:
            borders[row['run']].setdefault(row['phase'], row['at'])
            put(row['run'], row['at'], 'DRAM, MiB', row['stats']['dram_bytes'] / MIB)
            put(row['run'], row['at'], 'misses/s', row['misses'])
        for second in row.get('requests', []):
            put(row['run'], second['at'], f'requests/s {row["value"]}', second['throughput'])
            for share in SHARES:
                put(row['run'], second['at'], f'{share} {row["value"]}', second[share] / 1000)
    return {run: merge_sizes(seen, every) for run, seen in bins.items()}, borders


def merge_sizes(seen, every):
    """Requests of all sizes add up; of a percentile the slowest size's counts."""
    middles = collections.defaultdict(lambda: collections.defaultdict(list))
    for (name, place), values in seen.items():
        panel = name if name in ('DRAM, MiB', 'misses/s') else name.rpartition(' ')[0]
        middles[panel][(place + 0.5) * every].append(statistics.median(values))
    return {panel: sorted((at, sum(found) if panel == 'requests/s' else max(found))
                          for at, found in places.items())
            for panel, places in middles.items()}


def draw(options):
    """Panels over each other with one axis of time: DRAM, misses, requests, percentiles in ms."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    panels = ('DRAM, MiB', 'misses/s', 'requests/s', *SHARES)
    runs, borders = points_of(options.runs, options.every)
    if not runs:
        raise Trouble(f'{options.runs} holds no samples')
    figure, axes = pyplot.subplots(len(panels), sharex=True, figsize=(10, 2 * len(panels)))
    unit, name = (60, 'minutes') if options.every >= 10 else (1, 'seconds')
    for count, (run_name, points) in enumerate(runs.items()):
        for panel, axis in zip(panels, axes):
            xs = [at / unit for at, _ in points.get(panel, [])]
            axis.plot(xs, [value for _, value in points.get(panel, [])], linewidth=1,
                      color=f'C{count}', label=run_name)
            if len(borders[run_name]) > 2:
                for at in borders[run_name].values():
                    axis.axvline(at / unit, color=f'C{count}', linestyle=':', linewidth=0.7)
        if len(borders[run_name]) > 2:
            for phase, at in borders[run_name].items():
                axes[0].text(at / unit, 0, phase, rotation=90, fontsize=6, color=f'C{count}')
    for panel, axis in zip(panels, axes):
        axis.set_ylabel(f'{panel}, ms' if panel in SHARES else panel)
        axis.set_yscale('log' if panel in SHARES else 'linear')
    axes[0].set_ylim(bottom=0)
    axes[0].legend(fontsize=7)
    axes[-1].set_xlabel(name)
    figure.tight_layout()
    figure.savefig(options.output, dpi=120)


def sizes(text):
    return [int(word) for word in text.split(',')]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    for name, call in (('run', run), ('phases', phases)):
        runs = commands.add_parser(name)
        runs.add_argument('--workload', choices='abc', default='c')
        runs.add_argument('--rate', type=int, default=20_000, help='0: closed loop')
        runs.add_argument('--records', type=int, default=1_000_000, help='of all sizes together')
        runs.add_argument('--values', type=sizes, default=[1024],
                          help='bytes; several: a driver and as many records of each')
        runs.add_argument('--connections', type=int, default=16)
        ycsb.add_distribution(runs)
        runs.add_argument('--dir', default='/var/tmp', help='on a disk: for COLD')
        runs.add_argument('--tool', default=tree.TOOL)
        runs.add_argument('--label', default='',
                          help='in the plot, behind on or off')
        runs.add_argument('--save', default=f'soak-{name}.jsonl', help='appended to')
        runs.add_argument('flags', nargs='*', help='flags of the managed server, after --')
        runs.set_defaults(call=call)
        if name == 'run':
            runs.add_argument('--manage', choices=('on', 'off', 'track'), default='on')
            runs.add_argument('--minutes', type=float, default=30)
            runs.add_argument('--piece', type=float, default=60, help='seconds of one driver')
        else:
            runs.add_argument('--phase-seconds', type=float, default=120)
    draws = commands.add_parser('draw')
    draws.add_argument('runs')
    draws.add_argument('-o', '--output', required=True, help='.svg or .png')
    draws.add_argument('--every', type=float, default=60, help='seconds that make one point')
    draws.set_defaults(call=draw)
    return parser.parse_args()


def main():
    options = parse_arguments()
    options.call(options)


if __name__ == '__main__':
    servers.run_main('soak', main)
