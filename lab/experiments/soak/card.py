"""A server under load for long, second by second (lab/experiments/soak/run.py)."""
from isotherm_report import drawing, papers
from isotherm_report.kinds import Kind
from isotherm_report.page import Plot, Section

PLACE = 30
MIB = 2**20
LEAST_PHASES = 3  # of which each is marked

KINDS = (
    Kind(
        'soak-run',
        known_by={'run', 'phase', 'records', 'values'},
        example={'run': 'on, YCSB-C', 'phase': 'start', 'records': 1000, 'values': [100]}),
    Kind(
        'soak-second',
        known_by={'run', 'phase', 'at', 'stats', 'misses'},
        needs=('stats.dram_bytes',),
        example={'run': 'on, YCSB-C', 'phase': 'soak', 'at': 1.0, 'stats': {'dram_bytes': 2**22},
                 'misses': 3}),
    Kind(
        'soak-requests',
        known_by={'run', 'phase', 'value', 'requests'},
        needs=('requests[].at', 'requests[].throughput', 'requests[].p99'),
        example={'run': 'on, YCSB-C', 'phase': 'soak', 'value': 100,
                 'requests': [{'at': 1.1, 'throughput': 50, 'p99': 4000.0}]}),
)
NAMES = {kind.name for kind in KINDS}


def runs_of(results):
    """Lists of results. A line of kind soak-run begins a run; others follow in their file."""
    runs, current = [], {}
    for result in results:
        if result.kind not in NAMES:
            continue
        which = result.path, result.data['run']
        if result.kind == 'soak-run' or which not in current:
            current[which] = []
            runs.append(current[which])
        current[which].append(result)
    return runs


def seconds_of(run):
    return [result.data for result in run if result.kind == 'soak-second']


def requests_of(run):
    """(at, requests a second, p99 in ms) of all sizes of values together: rates add up, of p99 the
    slowest counts."""
    found = {}
    for result in run:
        for each in result.data.get('requests', []):
            rate, p99 = found.get(round(each['at']), (0, 0))
            found[round(each['at'])] = rate + each['throughput'], max(p99, each['p99'] / 1000)
    return [(at, *each) for at, each in sorted(found.items())]


PANELS = (('DRAM, MiB', 'linear',
           lambda run: [(each['at'], each['stats']['dram_bytes'] / MIB)
                        for each in seconds_of(run)]),
          ('requests/s', 'linear', lambda run: [(at, rate) for at, rate, _ in requests_of(run)]),
          ('p99, ms', 'log', lambda run: [(at, p99) for at, _, p99 in requests_of(run)]),
          ('misses/s', 'linear',
           lambda run: [(each['at'], each['misses']) for each in seconds_of(run)]))


def mark_phases(run, all_axes, colour):
    begins = {}
    for each in seconds_of(run):
        begins.setdefault(each['phase'], each['at'])
    if len(begins) < LEAST_PHASES:
        return
    for phase, at in begins.items():
        for axes in all_axes:
            axes.axvline(at, color=colour, linestyle=':', linewidth=0.7)
        all_axes[0].text(at, 0, f' {phase}', rotation=90, va='bottom', fontsize=7, color=colour)


def plot_of(runs):
    made, all_axes = drawing.figure(len(PANELS), 1, height=1.9, sharex=True)
    for number, run in enumerate(runs):
        colour = drawing.COLOURS[number % len(drawing.COLOURS)]
        for axes, (name, scale, points) in zip(all_axes, PANELS):
            found = points(run)
            axes.plot([at for at, _ in found], [value for _, value in found], color=colour,
                      linewidth=1, label=run[0].data['run'])
            axes.set_ylabel(name)
            axes.set_yscale(scale)
        mark_phases(run, all_axes, colour)
    for axes, (_, scale, _) in zip(all_axes, PANELS):
        if scale == 'linear':
            axes.set_ylim(bottom=0)
    all_axes[-1].set_xlabel('seconds since the start')
    drawing.legend(all_axes[-1], 2)
    return Plot(drawing.svg_of(made), f'{", ".join(name for name, _, _ in PANELS)}, second by '
                'second; dotted lines are where a phase begins')


def row_of(run):
    dram = [each['stats']['dram_bytes'] / MIB for each in seconds_of(run)]
    requests = requests_of(run)
    return (run[0].data['run'], f'{seconds_of(run)[-1]["at"]:.0f}', f'{max(dram):,.0f}',
            f'{dram[-1]:,.0f}', f'{1 - dram[-1] / max(dram):.0%}',
            *((f'{drawing.spread([each[i] for each in requests])[0]:{form}}' if requests else '-')
              for i, form in ((1, ',.0f'), (2, '.2f'))))


def command_of(run):
    told = run[0].data.get('origin', {}).get('command')
    return told or f'lab/experiments/soak/run.py run  # {run[0].data["run"]}'


def sections(results):
    runs = [run for run in runs_of(results) if seconds_of(run)]
    if not runs:
        return []
    head = ('run', 'seconds', 'DRAM at most, MiB', 'at the end', 'less by', 'requests/s (median)',
            'p99, ms (median)')
    return [Section('Under load for long', [result for run in runs for result in run],
                    plots=[plot_of(runs)], tables=[(head, [row_of(run) for run in runs])],
                    papers=[papers.reported('dram-saved')],
                    commands=[command_of(run) for run in runs])]
