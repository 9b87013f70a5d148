#!/usr/bin/python3
"""Redis, memcached and isotherm serve in one control group's memory, second by second.

    lab/experiments/limited/run.py run --limits 50,25 --save limited.jsonl -- --window 10
    lab/experiments/limited/run.py table limited.jsonl --plot limited.svg

A limit is a share of what Redis takes without one for the same records. Each run is a server of
its own in a memory control group (v1 or v2): it loads, serves without a limit, serves while the
limit is lowered, and serves under the limit in two phases. Each phase has requests of its own.
`run` appends one JSON object a run; `table` prints Markdown tables and draws. Flags after -- go to
the managed server; {limit} in them stands for the limit in bytes.

Systems: redis:file, redis:zram, off:file, off:zram, on, extstore. What follows the colon is the
swap. `on` has none: COLD lies in a file; nor has `extstore`, a memcached whose values lie in one.
Needs root, and a machine whose own swap is off.
"""
import argparse
import collections
import contextlib
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import redis

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402
from servers import MIB, Lacking, Trouble  # noqa: E402

SYSTEMS = ('redis:file', 'redis:zram', 'off:file', 'off:zram', 'on', 'extstore')
STEP = 64 * MIB  # a limit is lowered by so much at a time
LOAD_SECONDS = 600  # a load may take so long
ENDS_WITHIN = 5  # seconds, that a killed server takes to go
LOWERINGS = 4  # times that the phase in which the limit is lowered is repeated until it holds


class GroupV1:
    """A memory control group of the first version."""
    CURRENT, LIMIT = 'memory.usage_in_bytes', 'memory.limit_in_bytes'
    ANON, FILE = 'rss', 'cache'

    def __init__(self, mount):
        self.folder = pathlib.Path(mount, f'isotherm-limited-{os.getpid()}')
        try:
            self.folder.mkdir()
        except OSError as error:
            raise Lacking(f'cannot make the control group {self.folder}: {error.strerror}'
                          ) from None

    def read(self, name):
        return (self.folder / name).read_text().strip()

    def numbers(self, name):
        return {words[0]: int(words[1]) for words in map(str.split, self.read(name).splitlines())}

    def usage(self):
        return int(self.read(self.CURRENT))

    def sample(self):
        stat = self.numbers('memory.stat')
        return {'dram': self.usage(), 'anon': stat[self.ANON], 'file': stat[self.FILE],
                'swap': self.swapped(stat)}

    def swapped(self, stat):
        return stat.get('swap', 0)

    def kills(self):
        return self.numbers('memory.oom_control').get('oom_kill', 0)

    def try_limit(self, limit):
        """EBUSY while pages leave, and where none can: then the limit stays as it was."""
        with contextlib.suppress(OSError):
            (self.folder / self.LIMIT).write_text(str(limit))

    def lower(self, target):
        """One step towards the target. Without swap anonymous memory leaves only when the server,
        which was told of the target, gives it up: the limit is kept a quarter above it. Else the
        kernel shrinks whom it can."""
        self.try_limit(max(target, self.numbers('memory.stat')[self.ANON] * 5 // 4))
        if len(pathlib.Path('/proc/swaps').read_text().splitlines()) > 1:
            self.try_limit(max(target, self.usage() - STEP))

    def holds(self, limit):
        return self.read(self.LIMIT) == str(limit) and self.usage() <= limit

    def close(self):
        self.folder.rmdir()


class GroupV2(GroupV1):
    """A memory control group of the second version. The kernel kills processes of the group when
    memory.max is lowered further than pages can leave, so that pages are asked to leave first."""
    CURRENT, LIMIT = 'memory.current', 'memory.max'
    ANON, FILE = 'anon', 'file'

    def __init__(self, mount):
        controllers = pathlib.Path(mount, 'cgroup.subtree_control')
        if 'memory' not in controllers.read_text().split():
            controllers.write_text('+memory')
        super().__init__(mount)

    def swapped(self, stat):
        return int(self.read('memory.swap.current'))

    def kills(self):
        return self.numbers('memory.events').get('oom_kill', 0)

    def lower(self, target):
        usage = self.usage()
        with contextlib.suppress(OSError):
            (self.folder / 'memory.reclaim').write_text(str(max(0, min(STEP, usage - target))))
        self.try_limit(max(target, self.usage()))


def page_multiple(size):
    page = os.sysconf('SC_PAGE_SIZE')
    return size // page * page


def memory_group():
    """A new control group where this machine has the memory controller."""
    if os.geteuid() != 0:
        raise Lacking('control groups and swap need root: run this as root')
    mounts = [line.split() for line in pathlib.Path('/proc/mounts').read_text().splitlines()]
    for _, mount, kind, options, *_ in mounts:
        if kind == 'cgroup' and 'memory' in options.split(','):
            return GroupV1(mount)
        controllers = pathlib.Path(mount, 'cgroup.controllers')
        if kind == 'cgroup2' and 'memory' in controllers.read_text().split():
            return GroupV2(mount)
    raise Lacking('no memory control group is mounted (cgroup v1 or v2)')


def command(*words):
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise Trouble(f'{" ".join(map(str, words))}: {done.stderr.strip()}')
    return done.stdout.strip()


@contextlib.contextmanager
def swap_in_file(folder, size):
    """Swap in a file; what it holds takes no DRAM."""
    path = pathlib.Path(folder, f'isotherm-swap-{os.getpid()}')
    try:
        command('fallocate', '-l', size, path)
        path.chmod(0o600)
        command('mkswap', path)
        command('swapon', path)
        try:
            yield lambda: 0
        finally:
            command('swapoff', path)
    finally:
        path.unlink(missing_ok=True)


@contextlib.contextmanager
def swap_in_zram(_, size):
    """Swap in compressed memory, which no control group is charged for: it is counted apart."""
    device = command('zramctl', '--find', '--size', size)
    try:
        command('mkswap', device)
        command('swapon', device)
        status = pathlib.Path('/sys/block', pathlib.Path(device).name, 'mm_stat')
        try:
            yield lambda: int(status.read_text().split()[2])
        finally:
            command('swapoff', device)
    finally:
        command('zramctl', '--reset', device)


@contextlib.contextmanager
def no_swap(*_):
    yield lambda: 0


SWAPS = {'file': swap_in_file, 'zram': swap_in_zram, '': no_swap}


class Run:
    """One system under one limit: a server, its phases, and what is seen meanwhile."""

    def __init__(self, options, row, group, zram_bytes, folder):
        self.options, self.row, self.group, self.zram_bytes = options, row, group, zram_bytes
        self.folder = folder
        self.line = servers.Line()
        self.began = time.monotonic()
        self.phase = 'start'
        self.misses, self.seen_at = 0, self.began
        self.server = None
        self.is_lowering = False

    def serve(self):
        system = self.row['system']
        kind = servers.Server
        if system.startswith('redis'):
            words = servers.redis_command(self.folder)
        elif system == 'extstore':
            kind = servers.Memcached
            words = servers.extstore_command(self.folder, self.row['limit_bytes'],
                                             3 * self.row['reference'])
        else:
            flags = ['--threads', 2, '--expected-keys', self.options.records]
            if system == 'on':
                flags += ['--manage', 'on', '--hint', 'pageout', '--cold-backing',
                          f'file:{self.folder}',
                          *(word.replace('{limit}', str(self.row['limit_bytes']))
                            for word in self.options.flags)]
            else:
                flags += ['--manage', 'off']
            words = servers.isotherm_command(self.folder, self.options.tool, flags)
        self.row['command'] = ' '.join(map(str, words))
        return servers.serving(words, self.folder / 'socket', self.group.folder / 'cgroup.procs',
                               kind)

    def now(self):
        return round(time.monotonic() - self.began, 2)

    def each_second(self):
        if not self.server.is_alive():
            return
        if self.is_lowering:
            self.group.lower(self.row['limit_bytes'])
        with contextlib.suppress(OSError, redis.RedisError):  # the server may end at any moment
            faults, processor = self.server.spent()
            misses = faults + self.cold_misses()
            now = time.monotonic()
            sample = {'at': self.now(), 'phase': self.phase, **self.group.sample(),
                      'zram': self.zram_bytes(), 'processor': processor,
                      'misses': round((misses - self.misses) / (now - self.seen_at))}
            self.misses, self.seen_at = misses, now
            self.row['samples'].append(sample)
            self.line.show(f'{self.row["system"]} {self.row["limit"]}%  {self.phase} '
                           f'{sample["at"]:.0f} s  DRAM {sample["dram"] / MIB:.0f} MiB  '
                           f'{sample["misses"]} misses/s')

    def cold_misses(self):
        """Objects that the server has read from COLD since its start."""
        return int(self.server.stats()['cold_misses']) if self.row['system'] == 'on' else 0

    def drive(self, phase, seconds, *more):
        """A phase: a driver with a seed of its own, until it ends or the server does."""
        self.phase = phase
        report = self.folder / 'report.json'
        report.unlink(missing_ok=True)
        options, row = self.options, self.row
        seed = random.SystemRandom().randrange(1, 2**31)
        words = servers.driver_command(options.tool, self.server, report, [
            '--keys', options.records, '--value-size', options.value, '--workload',
            row['workload'], *ycsb.keys_by(options), '--threads',
            row['connections'], '--rate', row['rate'], '--seconds', seconds, '--window', 1,
            '--seed', seed, *more])
        start = self.now()
        allowed = LOAD_SECONDS if phase == 'load' else seconds
        errors = servers.drive([words], self.each_second, allowed)
        found = {'phase': phase, 'seed': seed, 'at': start, 'errors': errors}
        for report in servers.reports([report]):
            found.update(throughput=report['throughput_ops_s'], latency_us=report['latency_us'],
                         load_seconds=report['load_seconds'], missing=report['missing'],
                         operations=report['operations'], miss_bounds=report['miss_bounds'],
                         seconds=servers.seconds_of(report, start))
        row['phases'].append(found)
        self.check_server(bool(errors))

    def check_server(self, is_doubtful):
        """`is_doubtful`: it may be about to end."""
        if is_doubtful:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.server.process.wait(ENDS_WITHIN)
        if self.server.is_alive():
            return
        how = 'out of memory' if self.group.kills() > 0 else self.server.process.returncode
        self.row['ended'] = {'at': self.now(), 'phase': self.phase, 'how': how}
        raise ServerEnded

    def work(self):
        """All phases."""
        first, settle, *limited = self.options.seconds
        if self.options.limit_at == 'start':
            self.group.try_limit(self.row['limit_bytes'])
        with self.serve() as self.server:
            self.row['said'] = self.server.said
            self.drive('load', 0.1, '--rate', 100)
            if self.options.limit_at == 'loaded':
                self.drive('unlimited', first, '--no-load')
                self.lower(settle)
            self.row['limit_holds'] = self.group.holds(self.row['limit_bytes'])
            for number, seconds in enumerate(limited, 1):
                self.drive(f'limited {number}', seconds, '--no-load')
            self.row['limit_holds'] &= self.group.holds(self.row['limit_bytes'])


    def lower(self, seconds):
        """Until the limit holds. A managed server, which has no swap, is told first."""
        def tell(target):
            if self.row['system'] == 'on':
                self.server.client.execute_command('ISOTHERM', 'CONFIG', 'SET', 'memory-target',
                                                   target)
        tell(self.row['limit_bytes'] * 7 // 8)
        self.is_lowering = True
        for _ in range(LOWERINGS):
            self.drive('lowering', seconds, '--no-load')
            if self.group.holds(self.row['limit_bytes']):
                break
        self.is_lowering = False
        tell('none')


class ServerEnded(Exception):
    """The server is no more: the run ends, and its row says how."""


def measure(options, row):
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(tempfile.mkdtemp(prefix='isotherm-limited-', dir=options.dir))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        swap = SWAPS[row['system'].partition(':')[2]]
        zram_bytes = stack.enter_context(swap(options.dir, page_multiple(2 * row['reference'])))
        group = memory_group()
        stack.callback(group.close)
        # The row is kept however the run ends, with what there is.
        stack.callback(lambda: saved.append(options.save, 'limited', **row))
        run = Run(options, row, group, zram_bytes, folder)
        with contextlib.suppress(ServerEnded):
            run.work()
            row['is_whole'] = True
        run.line.show('')


def reference_bytes(options):
    """Returns the memory that Redis takes for the records, without a limit and before the requests
    of a run."""
    if options.reference:
        return options.reference
    if not shutil.which('redis-server'):
        raise Lacking('redis-server is not installed: install it, or give its size (--reference)')
    with tempfile.TemporaryDirectory(prefix='isotherm-limited-', dir=options.dir) as name:
        folder = pathlib.Path(name)
        with servers.serving(servers.redis_command(folder), folder / 'socket') as server:
            errors = servers.drive([servers.driver_command(
                options.tool, server, folder / 'report.json',
                ['--keys', options.records, '--value-size', options.value, '--seconds', 0.1,
                 '--rate', 100])], lambda: None, LOAD_SECONDS)
            if errors:
                raise Trouble(f'Redis could not be loaded: {errors[0]}')
            return server.resident_bytes()


def check_machine(options):
    servers.check_tool(options.tool)
    memory_group().close()
    if len(pathlib.Path('/proc/swaps').read_text().splitlines()) > 1:
        raise Lacking('this machine has swap of its own, which every server would use: swapoff it')
    lacking = {'zram': not shutil.which('zramctl') or not os.path.exists('/sys/class/zram-control'),
               'redis': not shutil.which('redis-server'),
               'extstore': not shutil.which('memcached')}
    for system in list(options.systems):
        for word in lacking:
            if lacking[word] and word in system:
                print(f'limited: no {word} here: goes on without {system}', file=sys.stderr)
                options.systems.remove(system)
                break


def runs_of(options, reference):
    """Rounds are outermost and systems innermost: what else the machine does meets all."""
    for round_number in range(1, options.rounds + 1):
        for workload in options.workloads:
            for connections in options.connections:
                for rate in options.rates:
                    for limit in options.limits:
                        for system in options.systems:
                            yield {
                                'system': system, 'limit': limit, 'workload': workload,
                                'connections': connections, 'rate': rate, 'round': round_number,
                                'records': options.records, 'value': options.value,
                                'distribution': options.distribution,
                                'limit_at': options.limit_at, 'reference': reference,
                                'limit_bytes': page_multiple(reference * limit // 100),
                                'is_whole': False, 'ended': None, 'limit_holds': False,
                                'phases': [], 'samples': []}


def say(row):
    rates = '  '.join(f'{phase["phase"]} {phase["throughput"]:,.0f}/s'
                      for phase in row['phases'][1:] if 'throughput' in phase)
    ended = row['ended']
    how = f'  ended after {ended["at"]:.0f} s ({ended["how"]})' if ended else ''
    print(f'{row["system"]:11}{row["limit"]:>3}%  {row["workload"]}  {row["connections"]:>3} '
          f'connections, {row["rate"] or "closed"}: {rates}{how}', flush=True)


def run(options):
    check_machine(options)
    reference = reference_bytes(options)
    print(f'{saved.here()}; Redis takes {reference / MIB:.0f} MiB for {options.records:,} '
          f'records of {options.value} bytes', flush=True)
    for row in runs_of(options, reference):
        measure(options, row)
        say(row)


def load_rows(path):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for row in saved.rows(path):
        setting = (ycsb.load_name(row['workload'], row.get('distribution')), row['connections'],
                   row['rate'], row['records'], row['value'])
        groups[setting][row['limit'], row['system']].append(row)
    return groups


def title(setting):
    load, connections, rate, records, value = setting
    pace = f'{rate:,}/s' if rate else 'closed loop'
    return f'{load}, {connections} connections, {pace}, {records:,} records of {value} bytes'


def phase_of(row, name):
    return next((phase for phase in row['phases']
                 if phase['phase'] == name and 'throughput' in phase), None)


def middle(values, form=',.0f', scale=1):
    values = [value / scale for value in values if value is not None]
    return f'{statistics.median(values):{form}}' if values else '-'


def ratio(row, name):
    phase, whole = phase_of(row, name), phase_of(row, 'unlimited')
    return phase['throughput'] / whole['throughput'] if phase and whole else None


def last_samples(rows, key):
    """Returns the values of `key` in the samples of the phase that each row's samples end with."""
    return [sample[key] for row in rows for sample in row['samples']
            if sample['phase'] == row['samples'][-1]['phase']]


def cells(rows):
    names = sorted({phase['phase'] for row in rows for phase in row['phases']
                    if phase['phase'].startswith('limited')}) or ['limited 1']
    last = [found for row in rows if (found := phase_of(row, names[-1]))]
    ended = [f'{row["ended"]["how"]}, {row["ended"]["phase"]}' for row in rows if row['ended']]
    slips = sum(not row['limit_holds'] for row in rows if not row['ended'])
    lost = sum(phase.get('missing', 0) for row in rows for phase in row['phases'])
    remarks = ended + ([f'limit did not hold: {slips}'] if slips else [])
    remarks += [f'{lost:,} requests found no record'] if lost else []
    return [
        len(rows),
        middle([found['throughput'] for row in rows if (found := phase_of(row, 'unlimited'))]),
        ', '.join(middle([ratio(row, name) for row in rows], '.2f') for name in names),
        *(middle([found['latency_us'][share] for found in last], scale=1000, form='.2f')
          for share in ('p50', 'p99', 'p999')),
        *(middle(last_samples(rows, key), scale=MIB) for key in ('dram', 'anon', 'file', 'swap',
                                                                'zram')),
        middle(last_samples(rows, 'misses')),
        '; '.join(remarks) or '-']


def table(options):
    columns = ['limit', 'system', 'runs', 'unlimited ops/s', 'limited / unlimited, by phase',
               'p50 ms', 'p99 ms', 'p99.9 ms', 'DRAM MiB', 'anon', 'page cache', 'swap', 'zram',
               'misses/s', 'remarks']
    for setting, systems in load_rows(options.runs).items():
        any_row = next(iter(systems.values()))[0]
        machine = saved.words_of(any_row['origin'])
        print(f'\n### {title(setting)}\n\n{machine}; Redis without a limit: '
              f'{any_row["reference"] / MIB:.0f} MiB\n\n| {" | ".join(columns)} |\n'
              f'|{"---|" * len(columns)}')
        for (limit, system), rows in sorted(systems.items(), key=lambda found: -found[0][0]):
            print(f'| {limit}% | {system} | {" | ".join(str(cell) for cell in cells(rows))} |')
        if options.plot:
            draw(options.plot, setting, systems)


def requests(row, of):
    return [(one['at'], of(one)) for phase in row['phases'] for one in phase.get('seconds', [])]


PANELS = (('requests/s', lambda row: requests(row, lambda one: one['throughput'])),
          ('p99, ms', lambda row: requests(row, lambda one: one['p99'] / 1000)),
          ('DRAM, MiB', lambda row: [(one['at'], (one['dram'] + one['zram']) / MIB)
                                     for one in row['samples']]),
          ('misses/s', lambda row: [(one['at'], one['misses'])
                                          for one in row['samples']]))
COLOURS = dict(zip(SYSTEMS, ('#d55e00', '#e69f00', '#0072b2', '#56b4e9', '#009e73',
                             '#cc79a7')))


def draw(path, setting, systems):
    """A column a limit; seconds from the first request on, all runs of a system in its colour."""
    import matplotlib
    matplotlib.use('Agg')
    from matplotlib import pyplot
    limits = sorted({limit for limit, _ in systems}, reverse=True)
    figure, axes = pyplot.subplots(len(PANELS), len(limits), squeeze=False, sharex='col',
                                   sharey='row', figsize=(2 + 4 * len(limits), 10))
    for (limit, system), rows in systems.items():
        column = axes[:, limits.index(limit)]
        column[1].axhline(rows[0]['limit_bytes'] / MIB, color='black', linewidth=0.5)
        for count, row in enumerate(rows):
            for (name, points), panel in zip(PANELS, column):
                panel.plot(*zip(*points(row)) if points(row) else ((), ()), linewidth=0.9,
                           color=COLOURS[system], label=system if count == 0 else None)
                if row['ended']:
                    panel.axvline(row['ended']['at'], color=COLOURS[system], linestyle=':')
        column[0].set_title(f'{limit}%')
        column[-1].set_xlabel('seconds')
    for (name, _), panel in zip(PANELS, axes[:, 0]):
        panel.set_ylabel(name)
        panel.set_yscale('log' if name.startswith('p99') else 'linear')
    axes[0, -1].legend(fontsize=8, loc='upper right')
    figure.suptitle(f'{title(setting)}\ndotted: the server ended', fontsize=10)
    figure.tight_layout()
    path = pathlib.Path(path)
    name = '-'.join(map(str, setting))
    figure.savefig(path.with_name(f'{path.stem}-{name}{path.suffix}'), dpi=120)
    pyplot.close(figure)


def numbers(text):
    return [float(word) if '.' in word else int(word) for word in text.split(',')]


def phase_seconds(text):
    try:
        found = numbers(text)
    except ValueError:
        found = []
    if len(found) < 3 or min(found) <= 0:
        raise argparse.ArgumentTypeError(f'{text} is not at least three positive numbers, as in '
                                         '30,60,40')
    return found


def words(choices):
    def parse(text):
        for word in text.split(','):
            if word not in choices:
                raise argparse.ArgumentTypeError(f'{word} is none of {", ".join(choices)}')
        return text.split(',')
    return parse


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser('run')
    runs.add_argument('--systems', type=words(SYSTEMS),
                      default=['redis:file', 'redis:zram', 'extstore', 'off:file', 'on'])
    runs.add_argument('--limits', type=numbers, default=[75, 50, 35, 25, 15],
                      help='per cent of what Redis takes')
    runs.add_argument('--workloads', type=words('abcdf'), default=['c', 'b'])
    runs.add_argument('--connections', type=numbers, default=[16, 64])
    runs.add_argument('--rates', type=numbers, default=[0, 20_000],
                      help='requests a second; 0: closed loop')
    ycsb.add_distribution(runs)
    runs.add_argument('--records', type=int, default=2_000_000)
    runs.add_argument('--value', type=int, default=1024, help='bytes')
    runs.add_argument('--seconds', type=phase_seconds, default=[30, 60, 40, 30],
                      help='without a limit, while it is lowered, and in each phase under it')
    runs.add_argument('--limit-at', choices=('loaded', 'start'), default='loaded',
                      help='when the limit is set: start leaves the first two phases out')
    runs.add_argument('--rounds', type=int, default=1)
    runs.add_argument('--reference', type=int, help="Redis' bytes, to measure them once only")
    runs.add_argument('--dir', default='/var/tmp', help='on a disk: for swap and COLD')
    runs.add_argument('--tool', default=tree.TOOL)
    runs.add_argument('--save', default='limited.jsonl', help='appended to')
    runs.add_argument('flags', nargs='*', help='flags of the managed server, after --')
    runs.set_defaults(call=run)
    tables = commands.add_parser('table')
    tables.add_argument('runs')
    tables.add_argument('--plot', help='.svg or .png; the setting is added to the name')
    tables.set_defaults(call=table)
    return parser.parse_args()


def main():
    options = parse_arguments()
    options.call(options)


if __name__ == '__main__':
    servers.run_main('limited', main)
