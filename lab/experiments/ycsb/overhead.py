"""The papers' E3: what management costs where nothing leaves DRAM and the threads never pause."""
from isotherm_report import common, drawing, papers
from isotherm_report.experiments.ycsb import effectiveness
from isotherm_report.page import Plot, Section


def over_off(sides, figure):
    """side -> a list of ratios to management off for each group."""
    off = sides['management off']
    return {side: [[figure(mine) / figure(base) for mine, base in zip(runs, bases)]
                   for runs, bases in zip(lists, off)]
            for side, lists in sides.items() if side != 'management off'}


def ratio_plot(groups, ratios, paper, title):
    made, axes = drawing.figure(height=3.1)
    drawing.bars(axes, groups, ratios)
    drawing.level(axes, paper)
    axes.axhline(1, color='#000000', linewidth=0.8)
    drawing.headroom(axes)
    axes.set_ylabel('over management off')
    axes.set_title(title)
    drawing.legend(axes, 2)
    return Plot(drawing.svg_of(made), f'{title}: each run over the run of its round without '
                'management; 1 is no difference')


def over_one(paper, sign):
    """A loss or gain of the paper as a ratio to 1."""
    return paper.over(*sorted((1 + sign * paper.low, 1 + sign * paper.high)))


def section_of(runs, number):
    several = len(common.distinct(runs, 'index')) > 1
    groups, sides = effectiveness.sides_of(runs, 'index' if several else 'workload')
    if 'management off' not in sides or len(sides) < 2:
        return None
    lost, added = papers.reported('throughput-lost'), papers.reported('p90-added')
    plots = [ratio_plot(groups, over_off(sides, lambda run: run.data['throughput_ops_s']),
                        over_one(lost, -1), 'Throughput'),
             ratio_plot(groups, over_off(sides, lambda run: run.data['latency_us']['p90']),
                        over_one(added, 1), 'p90 latency')]
    title = 'Overhead of management' + (f' ({number})' if number > 1 else '')
    rows = [(side, group, str(len(mine)),
             f'{drawing.spread(common.values_of(mine, "throughput_ops_s"))[0]:,.0f}',
             share_text(mine))
            for side, lists in sides.items() for group, mine in zip(groups, lists) if mine]
    head = ('side', 'index' if several else 'workload', 'runs', 'ops/s', 'collector, processor')
    return Section(title, runs, notes=[effectiveness.words_of(runs[0])], plots=plots,
                   tables=[(head, rows)], papers=[lost, added, papers.reported('collector-cpu')],
                   commands=[effectiveness.command_of(run) for run in runs])


def share_text(runs):
    shares = common.values_of(runs, 'collector_cpu_fraction')
    return f'{drawing.spread(shares)[0]:.1%}' if shares else '-'


def sections(results):
    runs = [run for run in common.of_kind(results, 'ycsb') if not run.data['rate']]
    made = []
    for group in common.grouped(runs, lambda run: (effectiveness.setting_of(run),
                                                   run.data['workload'])).values():
        section = section_of(group, len(made) + 1)
        if section:
            made.append(section)
    return made
