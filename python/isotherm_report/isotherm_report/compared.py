"""Results of one kind beside each other: bars in groups, and a table of the same numbers."""
import dataclasses
import math
import re
import textwrap
import typing

from matplotlib import ticker

from isotherm_report import common, drawing, papers
from isotherm_report.page import Plot, Section

LABEL_LETTERS = 100  # that fit below the axes
MOST_PLOTS = 2  # of a section; what else is measured stands in its table


@dataclasses.dataclass(frozen=True)
class Figure:
    """A figure that is shown of each result."""
    name: str
    values: typing.Callable  # data -> numbers; none where a result does not tell
    form: str = '{:.2f}'
    scale: str = 'linear'
    papers: typing.Callable = lambda data: ()  # data -> names of what stands beside its group


@dataclasses.dataclass(frozen=True)
class Comparison:
    """Results of a title make a section, those of a group stand together, sides beside each
    other: functions of a result's data. Where there is one side only, it is called ''."""
    kind: str
    title: typing.Callable
    group: typing.Callable
    side: typing.Callable
    figures: tuple
    command: str  # of a result that does not tell: a format over its data
    note: str
    remark: typing.Callable = lambda data: ''


def lists_of(runs, groups, comparison, figure):
    """side -> one list of numbers a group."""
    sides = common.grouped(runs, lambda run: comparison.side(run.data))
    found = {side: [[value for run in mine if comparison.group(run.data) == group
                     for value in figure.values(run.data)] for group in groups]
             for side, mine in sides.items()}
    return {side: lists for side, lists in found.items() if any(lists)}


def log_axis(axes, values):
    """The y axis, from a power of ten below all values on."""
    axes.set_yscale('log')
    axes.set_ylim(bottom=10 ** math.floor(math.log10(min(values) / 2)) if min(values) > 0 else None)
    axes.yaxis.set_major_formatter(ticker.StrMethodFormatter('{x:,g}'))
    axes.yaxis.set_minor_formatter(ticker.NullFormatter())
    axes.set_ylabel('log scale')


def plot_of(groups, series, figure, beside):
    """`beside`: for each group, what the papers report."""
    made, axes = drawing.figure()
    labels = [textwrap.fill(group, max(8, LABEL_LETTERS // len(groups))) for group in groups]
    drawing.bars(axes, labels, series, figure.form)
    for number, reported in enumerate(beside):
        for paper in reported:
            drawing.level(axes, paper, number - 0.45, number + 0.45)
    if figure.scale == 'log':
        log_axis(axes, [value for lists in series.values() for values in lists for value in values])
    else:
        drawing.headroom(axes)
    if '%' in figure.form:
        axes.yaxis.set_major_formatter(ticker.PercentFormatter(1))
    axes.set_title(figure.name)
    drawing.legend(axes, 2 if any(beside) else 4, max(label.count('\n') + 1 for label in labels))
    sides = ', '.join(filter(None, series))
    return Plot(drawing.svg_of(made), f'{figure.name}' + (f': {sides}' if sides else ''))


def text_of(values, form):
    """Median and range."""
    if not values:
        return '-'
    middle, below, above = drawing.spread(values)
    text = form.format(middle)
    if len(values) > 1:
        text += f' ({form.format(middle - below)} .. {form.format(middle + above)})'
    return text


def table_of(runs, comparison):
    """A row for each side of each group; a column for each figure of which there is a number."""
    rows, remarks = [], []
    figures = [figure for figure in comparison.figures
               if any(figure.values(run.data) for run in runs)]
    for group, mine in common.grouped(runs, lambda run: comparison.group(run.data)).items():
        for side, some in common.grouped(mine, lambda run: comparison.side(run.data)).items():
            cells = [text_of([value for run in some for value in figure.values(run.data)],
                             figure.form) for figure in figures]
            rows.append([group, *([side] if side else []), str(len(some)), *cells])
            remarks.append('; '.join(dict.fromkeys(
                remark for run in some if (remark := comparison.remark(run.data)))))
    names = [figure.name for figure in figures]
    head = ['', *(['side'] if comparison.side(runs[0].data) else []), 'results', *names]
    if any(remarks):
        head.append('remarks')
        rows = [[*row, remark] for row, remark in zip(rows, remarks)]
    return head, rows


def size_of_today(value):
    """Rows of old have sizes as 141M, of 1024 * 1024 bytes each, which is 141mb now."""
    is_old = isinstance(value, str) and re.fullmatch(r'\d+[KMG]', value)
    return value.lower() + 'b' if is_old else value


def command_of(run, comparison):
    told = run.data.get('origin', {}).get('command')
    settings = {name: size_of_today(value) for name, value in run.data.items()}
    return told or comparison.command.format(**settings)


def section_of(title, runs, comparison):
    made = Section(title, runs, notes=[comparison.note], tables=[table_of(runs, comparison)],
                   commands=[command_of(run, comparison) for run in runs])
    groups = common.grouped(runs, lambda run: comparison.group(run.data))
    for figure in comparison.figures[:MOST_PLOTS]:
        series = lists_of(runs, list(groups), comparison, figure)
        beside = [[papers.reported(name) for name in figure.papers(mine[0].data)]
                  for mine in groups.values()]
        if series:
            made.plots.append(plot_of(list(groups), series, figure, beside))
            made.papers += [paper for some in beside for paper in some]
    made.papers = list(dict.fromkeys(made.papers))
    return made


def sections_of(results, comparisons):
    made = []
    for comparison in comparisons:
        titles = common.grouped(common.of_kind(results, comparison.kind),
                                lambda run, by=comparison: by.title(run.data))
        made += [section_of(title, runs, comparison) for title, runs in titles.items()]
    return made
