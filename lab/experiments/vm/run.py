#!/usr/bin/python3
"""Stores under the kernel's ways to move pages, in a virtual machine with two tiers of memory.

    lab/experiments/vm/run.py run --save vm.jsonl
    lab/experiments/vm/run.py run --save vm.jsonl --backend tpp,memtis --memory 64M,512M -- \\
        --distribution zipfian
    lab/experiments/vm/run.py table vm.jsonl

`run` boots the machine of lab/vm anew for each backend, with management off and on, and runs
`isotherm bench backends` in it; words after -- are more flags of that. Under a backend with tiers
all pages begin on the slow node. `table` prints placement and counters, never times: the machine
is emulated where the processor cannot virtualize, and its two tiers are equally fast in any case.
"""
import argparse
import collections
import json
import pathlib
import shlex
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / 'lab/experiments/shared'), str(ROOT / 'lab/vm')]
import machine  # noqa: E402
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402

MIB = 1 << 20
TIERED = ['autonuma', 'tpp', 'memtis', 'damon-tiers']
SWAPPING = ['cgroup', 'kswapd', 'tmo', 'damon']
MODULES = ('lz4_compress', 'lz4hc_compress', 'zsmalloc', 'zram')
GENERATIONS = {'mglru': 'y', 'lru': 'n'}  # of /sys/kernel/mm/lru_gen/enabled
# The rate is what emulated processors serve beside the kernel's own work. A tenth of
# the records takes 95% of them.
LOAD = {'--store': 'masstree:b', '--keys': '40000', '--rate': '4000', '--swap': 'zram',
        '--memory': '35', '--distribution': 'hotspot', '--hotspot-keys': '0.1',
        '--hotspot-accesses': '0.95', '--window': '2', '--settle': '15', '--adapt': '30',
        '--seconds': '8', '--seed': '1'}

SCRIPT = '''
echo {generations} >/sys/kernel/mm/lru_gen/enabled
isotherm bench backends --backend {backend} --manage {manage} --json $OUT/row {flags}
'''


def run_one(options, backend, manage):
    """Boots, runs one store, and saves its row."""
    flags = [word for pair in LOAD.items() if pair[0] not in options.flags for word in pair]
    flags += options.flags
    if backend == 'kswapd':
        flags.append('--whole-machine')
    script = SCRIPT.format(generations=GENERATIONS[options.lru], backend=backend, manage=manage,
                           flags=shlex.join(flags))
    booted = machine.Machine(memory=options.memory, modules=MODULES)
    ended = machine.run(booted, script, programs=[options.tool], timeout=options.timeout,
                        watch=machine.pass_on)
    if ended.status != 0 or 'row' not in ended.files:
        raise machine.Trouble(f'{backend}, management {manage}: {ended.output.strip()}',
                              ended.console)
    row = json.loads(ended.files['row'])
    kernel = row.pop('origin')['system']
    saved.append(options.save, 'vm', backend=backend, manage=manage, lru=options.lru,
                 memory=list(options.memory), kernel=kernel, flags=flags,
                 accelerator=machine.accelerator()[1], result=row)


def run(options):
    servers.check_tool(options.tool)
    for backend in options.backend:
        for manage in options.manage:
            print(f'== {backend}, management {manage}, {options.lru}', file=sys.stderr)
            run_one(options, backend, manage)


def share(part, whole):
    return f'{part / whole:.0%}' if whole else '-'


def moved_of(result):
    """The pages that the kernel or an agent promoted and demoted, or swapped."""
    counters, details = result['counters'], result['details']
    if 'demoted_pages' in details:
        return (f'{details["promoted_pages"]:,} up by the agent, '
                f'{details["demoted_pages"]:,} down')
    if 'promoted_bytes' in details:
        up, down = (sum(details[name]) // 4096 for name in ('promoted_bytes', 'demoted_bytes'))
        return f'{up:,} up, {down:,} down'
    if result['backend'] == 'autonuma':  # its mode counts no promotions
        return f'{counters["pgmigrate_success"]:,}'
    if 'pgpromote_success' in counters:
        demoted = counters['pgdemote_kswapd'] + counters['pgdemote_direct']
        return f'{counters["pgpromote_success"]:,} up, {demoted:,} down'
    return f'{result["group"]["swapped_bytes"] // 4096:,} out'


def cells_of(result):
    """Cells of the table: what a run found, without any time."""
    reads = [store['reads_by_node'] for store in result['stores'] if store['reads_by_node']]
    fast = (share(sum(each['fast'] for each in reads), sum(each['seen'] for each in reads))
            if reads else '-')
    requests = result['operations']
    return [fast, f'{result["dram_bytes"] / MIB:.0f}', moved_of(result),
            f'{result["misses"]:,}', f'{requests:,}']


def table(options):
    print(f'{saved.here()}; a virtual machine whose tiers are emulated: no time means anything')
    print('| backend | lists | management | reads on the fast node | MiB there, or in DRAM | '
          'pages moved | major faults | requests |')
    print('|' + '---|' * 8)
    groups = collections.OrderedDict()
    for row in saved.rows(*options.files):
        groups.setdefault((row['backend'], row['lru'], row['manage']), []).append(row['result'])
    for key, results in groups.items():
        for result in results:
            print(f'| {" | ".join([f"`{key[0]}`", *key[1:], *cells_of(result)])} |')


def words(known):
    def parse(text):
        chosen = text.split(',')
        odd = [word for word in chosen if word not in known]
        if odd:
            raise argparse.ArgumentTypeError(f'{odd[0]} is none of {", ".join(known)}')
        return chosen
    return parse


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser('run')
    known = [*TIERED, *SWAPPING, 'none', 'hinted', 'zram', 'log']
    running.add_argument('--backend', type=words(known), default=[*TIERED, *SWAPPING])
    running.add_argument('--manage', type=words(['off', 'on']), default=['off', 'on'])
    running.add_argument('--lru', choices=GENERATIONS, default='mglru',
                         help='lists of pages: multi-generational, or active and inactive')
    running.add_argument('--memory', type=machine.sizes, default=machine.sizes('60M,256M'),
                         metavar='FAST,SLOW')
    running.add_argument('--timeout', type=float, default=400, metavar='SECONDS')
    running.add_argument('--tool', default=tree.TOOL)
    running.add_argument('--save', required=True, help='appended to')
    running.add_argument('flags', nargs='*', help='of isotherm bench backends, after --')
    running.set_defaults(work=run)
    saved.add_readers(commands, table=table)
    options = parser.parse_args()
    try:
        options.work(options)
    except (machine.Missing, machine.Trouble) as trouble:
        raise servers.Trouble(trouble) from None


if __name__ == '__main__':
    servers.run_main('vm', main)
