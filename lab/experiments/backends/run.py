#!/usr/bin/python3
"""A store over mechanisms that move its pages: `isotherm bench backends`, and its tables.

    lab/experiments/backends/run.py reclaim --save backends.jsonl
    lab/experiments/backends/run.py consolidate --save consolidated.jsonl
    lab/experiments/backends/run.py table backends.jsonl
    lab/experiments/backends/run.py consolidated consolidated.jsonl

`reclaim` runs Masstree and hash-pugh under each backend, with management off and on (the papers'
figure 8). `consolidate` runs ART with A, hash-chm with C and Masstree with B, each alone and then
side by side in a limit that they exceed (the dissertation's figure 5.13). Flags after -- go to the
tool, and win over the script's. `table` and `consolidated` print Markdown. Needs root, but for the
backends none and log.
"""
import argparse
import collections
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402
import ycsb  # noqa: E402

MIB = 2**20
# A fifth of the records, scattered over all, takes 99 of 100 requests: the papers' used set is a
# third. YCSB's own Zipfian, as fast as it goes, uses most records within a minute.
LOAD = {'--distribution': 'hotspot', '--hotspot-keys': '0.2', '--hotspot-accesses': '0.99',
        '--window': '1', '--min-rest': '1'}
TENANTS = 'art:a', 'hash-chm:c', 'masstree:b'
# The papers' 41 GiB of three stores in a machine of 32 GiB.
CONSOLIDATED = {**LOAD, '--memory': '75'}


def call_tool(options, flags):
    """One call of the tool, which appends a row a run; those that could not be made have a
    problem."""
    given = options.flags
    flags = {name: value for name, value in flags.items() if name not in given}
    words = [word for pair in flags.items() for word in pair]
    command = [options.tool, 'bench', 'backends', *words, *given, '--json', options.save]
    tool = servers.launch(command)
    try:
        status = tool.wait()
    finally:
        servers.end(tool)  # it undoes its changes of the system
    if status not in (0, 1):
        raise servers.Trouble(f'exit status {status}: {" ".join(command)}')
    if status == 1 and not pathlib.Path(options.save).exists():
        raise servers.Lacking('no run could be made')


def reclaim(options):
    call_tool(options, LOAD)


def consolidate(options):
    call_tool(options, {**CONSOLIDATED, '--backend': 'none', '--manage': 'off',
                        '--store': ','.join(TENANTS)})
    call_tool(options, {**CONSOLIDATED, '--backend': 'cgroup', '--store': '+'.join(TENANTS)})
    call_tool(options, {**CONSOLIDATED, '--backend': 'hinted,log', '--manage': 'on',
                        '--store': '+'.join(TENANTS)})


def settings_of(row):
    keys = ycsb.load_name(row['store'].rpartition(':')[2], row['distribution'])
    pace = f'{row["rate"]:,.0f}/s' if row['rate'] else 'closed loop'
    return (f'`{row["store"].rpartition(":")[0]}`, {keys}, {row["keys"]:,} records of '
            f'{row["value_size"]} bytes, {row["record_bytes"] / MIB:.0f} MiB; '
            f'{row["budget_bytes"] / MIB:.0f} MiB for them, {row["threads"]} threads, {pace}')


def middle(rows, value, form):
    return ycsb.median([value(row) for row in rows], form)


def refaults(row):
    return row['group']['refaults'] / row['seconds'] if row['group'] else 0


def cells_of(rows, reference):
    good = [row for row in rows if 'problem' not in row]
    if not good:
        return [rows[0]['problem'], *[''] * 7]
    return [middle(good, lambda row: row['dram_bytes'] / MIB, '.0f'),
            middle(good, lambda row: row['zram_bytes'] / MIB, '.0f'),
            middle(good, lambda row: row['hit_ratio'] * 100, '.2f') + '%',
            middle(good, lambda row: row['misses'] / row['seconds'], ',.0f'),
            middle(good, refaults, ',.0f'),
            middle(good, lambda row: row['throughput_ops_s'], ',.0f'),
            reference and middle(good, lambda row: row['throughput_ops_s'] / reference, '.2f'),
            middle(good, lambda row: row['stalled_percent'] or 0, '.1f') + '%']


def grouped(paths, of):
    groups = collections.OrderedDict()
    for row in saved.rows(*paths):
        groups.setdefault(of(row), []).append(row)
    return groups


def table(options):
    for setting, rows in grouped(options.files, settings_of).items():
        sides = collections.OrderedDict()
        for row in rows:
            sides.setdefault((row['backend'], row['manage']), []).append(row)
        plain = [row['throughput_ops_s'] for row in sides.get(('none', 'off'), [])
                 if 'problem' not in row]
        reference = float(ycsb.median(plain, '.9g')) if plain else ''
        print(f'\n### {setting}\n\n{saved.words_of(rows[0]["origin"])}\n')
        print('| backend | management | DRAM MiB | of it zram | hits | misses/s | refaults/s | '
              'ops/s | over none, off | stalls |\n' + '|---' * 10 + '|')
        for (backend, manage), some in sides.items():
            print(f'| `{backend}` | {manage} | {" | ".join(cells_of(some, reference))} |')


def consolidated(options):
    rows = list(saved.rows(*options.files))
    singles = [row for row in rows
               if (row['backend'], row['manage']) == ('none', 'off') and '+' not in row['store']]
    alone = {row['store']: row['throughput_ops_s'] for row in singles}
    footprint = sum(row['dram_bytes'] for row in singles)
    beside = [row for row in rows if '+' in row['store']]
    limit = f'{beside[0]["budget_bytes"] / MIB:.0f} MiB for all' if beside else ''
    print(f'{saved.words_of(rows[0]["origin"])}; alone they take {footprint / MIB:.0f} MiB, '
          f'{limit}\n')
    names = list(alone)
    print(f'| | DRAM MiB, all | {" | ".join(names)} |\n|---|---{"|---" * len(names)}|')
    print(f'| alone | {footprint / MIB:.0f} | ' +
          ' | '.join(f'{alone[name]:,.0f}/s' for name in names) + ' |')
    for row in beside:
        side = f'`{row["backend"]}`, {row["manage"]}'
        if 'problem' in row:
            print(f'| {side} | {row["problem"]} |{" |" * len(names)}')
            continue
        rates = {f'{store["index"]}:{store["workload"]}': store for store in row['stores']}
        print(f'| {side} | {row["dram_bytes"] / MIB:.0f} | ' +
              ' | '.join(f'{rates[name]["throughput_ops_s"] / alone[name]:.2f}, hits '
                         f'{rates[name]["hit_ratio"]:.1%}' for name in names) + ' |')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    for name, work in (('reclaim', reclaim), ('consolidate', consolidate)):
        running = commands.add_parser(name)
        running.add_argument('--tool', default=tree.TOOL)
        running.add_argument('--save', required=True, help='appended to')
        running.add_argument('flags', nargs='*', help='of isotherm bench backends, after --')
        running.set_defaults(work=work)
    saved.add_readers(commands, table=table, consolidated=consolidated)
    options = parser.parse_args()
    options.work(options)


if __name__ == '__main__':
    servers.run_main('backends', main)
