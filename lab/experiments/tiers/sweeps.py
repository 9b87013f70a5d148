"""SINLK over interleaving by size of fast memory, records, keys, values and threads, by its
workers' intervals, and second by second (the paper's figures 15, 16, 18 and 20, and its table
2)."""
import dataclasses

from isotherm_report import common, drawing, papers
from isotherm_report.experiments.tiers import trees
from isotherm_report.page import Plot, Section

LEAST_SECONDS = 10


@dataclasses.dataclass(frozen=True)
class Sweep:
    field: str
    title: str
    scale: str   # of the x axis
    factor: float
    paper: str


SWEEPS = (Sweep('fast_share', 'fast memory, % of the nodes', 'linear', 100, 'tiers-fast'),
          Sweep('keys', 'records', 'log', 1, 'tiers-keys'),
          Sweep('key_size', 'bytes of a key', 'log', 1, 'tiers-key-size'),
          Sweep('value_size', 'bytes of a value', 'log', 1, 'tiers-value-size'),
          Sweep('threads', 'threads', 'linear', 1, 'tiers-threads'))


def others_of(run, sweep):
    """All settings but the one that varies."""
    return (trees.workload_of(run), *trees.times_of(run),
            *(run.data[field] for field in trees.CONFIGURATION if field != sweep.field))


def line_of(rounds, sweep, figure):
    """placement -> [(value, ratios)], ascending."""
    found = {}
    for value, group in sorted(common.grouped(
            rounds, lambda runs: runs[0].data[sweep.field]).items()):
        for name, ratios in trees.over_base(group, figure).items():
            found.setdefault(name, []).append((value * sweep.factor, ratios))
    return {name: points for name, points in found.items() if len(points) > 1}


def draw_lines(axes, lines):
    for number, (name, points) in enumerate(lines.items()):
        spreads = [drawing.spread(ratios) for _, ratios in points]
        axes.errorbar([value for value, _ in points], [middle for middle, _, _ in spreads],
                      yerr=[[below for _, below, _ in spreads], [above for _, _, above in spreads]],
                      label=name, marker='o', markersize=4, capsize=2,
                      color=drawing.COLOURS[number % len(drawing.COLOURS)])
    axes.axhline(1, color='#000000', linewidth=0.8)


def sweep_section(rounds, sweep):
    throughput, tail = (line_of(rounds, sweep, figure) for figure in (trees.throughput, trees.p99))
    if not throughput:
        return None
    runs = [run for each in rounds for run in each]
    made, axes = drawing.figure(1, 2)
    paper = papers.reported(sweep.paper)
    for panel, lines, title in zip(axes, (throughput, tail), ('Throughput', 'p99 latency')):
        draw_lines(panel, lines)
        panel.set_xscale(sweep.scale)
        values = sorted({value for points in lines.values() for value, _ in points})
        panel.set_xticks(values, [common.number_text(value) for value in values])
        panel.minorticks_off()
        panel.set_xlabel(sweep.title)
        panel.set_ylabel('over interleave')
        panel.set_title(title)
        if panel is axes[0] and paper.low is not None:
            drawing.level(panel, paper)
        panel.set_ylim(bottom=0)
        drawing.legend(panel, 2)
    workload = trees.workload_of(runs[0])
    section = Section(f'{runs[0].data["index"]}, {workload}, by {sweep.title}', runs,
                      notes=[trees.words_of(runs)], papers=[paper],
                      commands=trees.commands_of(rounds))
    section.plots.append(Plot(drawing.svg_of(made), 'Throughput (higher is better) and p99 latency '
                              f'(lower is better) over interleave, {workload}, by {sweep.title}'))
    return section


def interval_sections(results):
    """SINLK by how often its workers wake up, over the mean of all intervals."""
    runs = [run for run in results if run.data['placement'] == 'sinlk'
            and None not in trees.intervals_of(run)]
    made = []
    for group in common.grouped(runs, lambda run: (
            trees.workload_of(run), *trees.times_of(run),
            *(run.data[field] for field in trees.CONFIGURATION))).values():
        by_interval = dict(sorted(common.grouped(group, trees.intervals_of).items()))
        if len(by_interval) < 2:
            continue
        medians = [drawing.spread([trees.throughput(run) for run in each])[0]
                   for each in by_interval.values()]
        mean = sum(medians) / len(medians)
        made.append(interval_section(by_interval, mean, group))
    return made


def interval_section(by_interval, mean, runs):
    figure, axes = drawing.figure(1, 1)
    spreads = [drawing.spread([trees.throughput(run) / mean for run in each])
               for each in by_interval.values()]
    places = range(len(spreads))
    axes.errorbar(places, [middle for middle, _, _ in spreads],
                  yerr=[[below for _, below, _ in spreads], [above for _, _, above in spreads]],
                  marker='o', markersize=4, capsize=2, color=drawing.COLOURS[0], label='sinlk')
    axes.set_xticks(places, [f'{trigger:,} / {cooling:,}' for trigger, cooling in by_interval])
    axes.set_xlabel('ms between turns of the trigger / between halvings of the counts')
    axes.set_ylabel('throughput over the mean')
    axes.margins(x=0.05)
    paper = papers.reported('tiers-intervals')
    drawing.level(axes, paper)
    axes.set_ylim(bottom=0)
    drawing.legend(axes, 2)
    workload = trees.workload_of(runs[0])
    return Section(
        f'{runs[0].data["index"]}, {workload}, by the intervals of SINLK\'s workers', runs,
        notes=[trees.words_of(runs)], papers=[paper],
        plots=[Plot(drawing.svg_of(figure),
                    f'Throughput of sinlk, {workload}, over the mean of all intervals')],
        commands=trees.commands_of(trees.rounds_of(runs)))


def seconds_plot(runs):
    made, (above, below) = drawing.figure(2, 1, height=2.3, sharex=True)
    for number, run in enumerate(runs):
        each = run.data['each_second']
        colour = drawing.COLOURS[number % len(drawing.COLOURS)]
        label = f'{trees.placement_of(run)}, {trees.workload_of(run)}'
        times = range(1, len(each) + 1)
        above.plot(times, [one['throughput_ops_s'] / 1e6 for one in each], label=label,
                   color=colour)
        below.plot(times, [100 * one['fast_usage'] for one in each], label=label, color=colour)
    above.set_ylim(bottom=0)
    above.set_ylabel('M requests/s')
    below.margins(x=0.02)
    marks = papers.reported('tiers-watermarks')
    begin, end = below.get_xlim()
    below.fill_between([begin, end], 100 * marks.low, 100 * marks.high, facecolor='none',
                       hatch='////', edgecolor=drawing.PAPER_COLOUR, alpha=0.6, label=marks.label)
    below.set_xlim(begin, end)
    below.set_ylabel('fast memory used, %')
    below.set_xlabel('seconds measured')
    drawing.whole_numbers(below)
    drawing.legend(below, 2)
    return Plot(drawing.svg_of(made), 'Throughput, and how much of fast memory is used, second by '
                'second')


def seconds_sections(results):
    """A section a set of runs that differ in placement or workload only."""
    long_runs = [run for run in results if len(run.data['each_second']) >= LEAST_SECONDS]
    made = []
    for runs in common.grouped(long_runs, trees.configuration_of).values():
        first = runs[0].data
        made.append(Section(
            f'{first["index"]}, second by second ({len(made) + 1})', runs,
            notes=[trees.words_of(runs)], plots=[seconds_plot(runs)],
            papers=[papers.reported('tiers-shift'), papers.reported('tiers-watermarks')],
            commands=trees.commands_of(trees.rounds_of(runs))))
    return made


WORKERS = ('trigger_seconds', 'promotion_seconds', 'demotion_seconds', 'watermark_seconds')


def worker_sections(results):
    """Returns a section with the share of all processor time that SINLK's workers take, in the
    runs that tell how long they warmed up; no section without such runs."""
    runs = [run for run in results if run.data['placement'] == 'sinlk'
            and run.data.get('warmup_seconds') is not None
            and all(name in run.data['details'] for name in WORKERS)]
    if not runs:
        return []
    rows = []
    for run in runs:
        data = run.data
        whole = (data['seconds'] + data['warmup_seconds']) * data['threads']
        shares = [1000 * data['details'][name] / whole for name in WORKERS]
        rows.append((data['index'], trees.workload_of(run), common.number_text(data['keys']),
                     *(f'{share:.2f}' for share in (*shares, sum(shares)))))
    head = ('index', 'workload', 'records', *(name.removesuffix('_seconds') for name in WORKERS),
            'all, per mille')
    return [Section('What SINLK\'s workers take', runs, tables=[(head, rows)],
                    notes=['Processor time of each worker over that of the driving threads, per '
                           'mille.'],
                    papers=[papers.reported('tiers-workers')],
                    commands=trees.commands_of(trees.rounds_of(runs)))]


def sections(results):
    runs = common.of_kind(results, 'tiers')
    made = []
    for sweep in SWEEPS:
        for group in common.grouped(filter(trees.has_base, trees.rounds_of(runs)),
                                    lambda each, by=sweep: others_of(each[0], by)).values():
            if len({each[0].data[sweep.field] for each in group}) > 1:
                section = sweep_section(group, sweep)
                made += [section] if section else []
    return made + interval_sections(runs) + seconds_sections(runs) + worker_sections(runs)
