"""SINLK beside other ways to place a tree's nodes (the paper's figures 13, 14, 21, 22)."""
from isotherm_report import common, drawing, papers
from isotherm_report.experiments.tiers import trees
from isotherm_report.page import Plot, Section

LEAST_PLACEMENTS = 3
# Placements in the order of plots; a placement has one colour in all of them.
ORDER = ('static', 'layered', 'tpp', 'memtis', 'caption', 'sinlk', 'prophet')


COLOURS = dict(zip(ORDER, (drawing.COLOURS[2], drawing.COLOURS[6], drawing.COLOURS[1],
                           drawing.COLOURS[3], drawing.COLOURS[4], drawing.COLOURS[0],
                           drawing.COLOURS[5])))


def by_order(name):
    return ORDER.index(name) if name in ORDER else len(ORDER)


def lists_of(rounds, workloads, figure):
    """placement -> one list of ratios a workload."""
    found = {workload: trees.over_base(
        [runs for runs in rounds if trees.workload_of(runs[0]) == workload], figure)
        for workload in workloads}
    names = sorted({name for ratios in found.values() for name in ratios}, key=by_order)
    return {name: [found[workload].get(name, []) for workload in workloads] for name in names}


def ratio_plot(workloads, ratios, title, says, index=None):
    """With `index`, beside what the paper reports of that tree."""
    made, axes = drawing.figure(height=3.8)
    drawing.bars(axes, workloads, ratios, colours=COLOURS)
    axes.axhline(1, color='#000000', linewidth=0.8)
    shown = []
    for number, workload in enumerate(workloads):
        paper = trees.paper_of(index, workload) if index else None
        if paper:
            drawing.level(axes, paper, number - 0.45, number + 0.45)
            shown.append(paper)
    if index:
        goal = papers.reported('tiers-goal')
        drawing.level(axes, goal)
        shown.append(goal)
    drawing.headroom(axes)
    axes.set_ylabel('over interleave')
    axes.set_title(title)
    drawing.legend(axes)
    return Plot(drawing.svg_of(made), says), list(dict.fromkeys(shown))


def section_of(rounds):
    runs = [run for each in rounds for run in each]
    first = runs[0].data
    workloads = sorted({trees.workload_of(run) for run in runs})
    fast = f'{first["fast_share"] * 100:g}%'
    made = Section(f'Placement of nodes, {first["index"]}, '
                   f'{common.number_text(first["keys"])} records, fast memory {fast}', runs,
                   notes=[trees.words_of(runs),
                          'Each bar is a placement over weighted interleaving in the same round. '
                          'The paper compares SINLK with it on memory of its own; '
                          'docs/tiers.md tells what the emulation leaves out.'])
    plot, made.papers = ratio_plot(
        workloads, lists_of(rounds, workloads, trees.throughput), 'Throughput',
        'Throughput of each placement over that of interleave, by workload; higher is better',
        first['index'])
    made.plots.append(plot)
    plot, _ = ratio_plot(
        workloads, lists_of(rounds, workloads, trees.p99), 'p99 latency',
        'p99 latency of each placement over that of interleave, by workload; lower is better')
    made.plots.append(plot)
    made.commands = trees.commands_of(rounds)
    return made


def sections(results):
    rounds = trees.rounds_of(common.of_kind(results, 'tiers'))
    groups = common.grouped(filter(trees.has_base, rounds),
                            lambda runs: trees.configuration_of(runs[0]))
    return [section_of(group) for group in groups.values()
            if len({trees.placement_of(run) for runs in group for run in runs})
            >= LEAST_PLACEMENTS]
