"""Plots: matplotlib's, as SVG that can stand several times in one page."""
import io
import itertools
import re

import matplotlib

matplotlib.use('svg')
from matplotlib import pyplot, ticker  # noqa: E402  (the backend is chosen first)

# Okabe and Ito's colours, which colour-blind people tell apart.
COLOURS = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#f0e442', '#000000']
GREY = '#767676'
PAPER_COLOUR = '#444444'
STYLE = {
    'font.family': 'sans-serif', 'font.size': 9.5, 'svg.fonttype': 'none',
    'axes.spines.top': False, 'axes.spines.right': False, 'axes.grid': True,
    'axes.grid.axis': 'y', 'grid.color': '#dddddd', 'grid.linewidth': 0.6,
    'axes.axisbelow': True, 'legend.frameon': False, 'legend.fontsize': 8.5,
    'axes.titlesize': 10, 'axes.titlelocation': 'left', 'figure.dpi': 100, 'hatch.linewidth': 0.6,
    'svg.hashsalt': 'isotherm',
}
pyplot.rcParams.update(STYLE)
_numbers = itertools.count(1)


def figure(rows=1, columns=1, height=3.4, **more):
    """(figure, axes) in the report's style; `height` is a row's, in inches."""
    return pyplot.subplots(rows, columns, figsize=(9.6, height * rows), layout='constrained',
                           **more)


def svg_of(made):
    """The figure as an <svg> element. Its identifiers are its own, as a page holds many."""
    text = io.StringIO()
    made.savefig(text, format='svg', metadata={'Date': None, 'Creator': None, 'Format': None,
                                               'Type': None})
    pyplot.close(made)
    prefix = f'plot{next(_numbers)}-'
    svg = text.getvalue()
    svg = svg[svg.index('<svg'):]
    svg = re.sub(r'<metadata>.*?</metadata>', '', svg, flags=re.DOTALL)
    svg = re.sub(r'\bid="', f'id="{prefix}', svg)
    svg = re.sub(r'(href="#|url\(#)', rf'\g<1>{prefix}', svg)
    return re.sub(r'(<svg[^>]*?) width="[^"]*pt"', r'\1', re.sub(
        r'(<svg[^>]*?) height="[^"]*pt"', r'\1', svg, count=1), count=1)


def legend(axes, columns=4, lines=1):
    """Below the axes, so that it hides nothing; entries of one name stand once. `lines`: of the
    labels of the x axis."""
    handles = dict(zip(*reversed(axes.get_legend_handles_labels())))
    if handles:
        inches = axes.get_position().height * axes.figure.get_figheight()
        below = (0.55 if axes.get_xlabel() else 0.4) + 0.16 * (lines - 1)
        axes.legend(handles.values(), handles.keys(), ncols=columns, loc='upper left',
                    bbox_to_anchor=(0, -below / inches))


def spread(values):
    """(median, below, above): the middle and how far the values reach."""
    ordered = sorted(values)
    half = len(ordered) // 2
    middle = ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2
    return middle, middle - ordered[0], ordered[-1] - middle


def bars(axes, groups, series, form='{:.2f}', colours=None):
    """Groups of bars with the range of each. `series`: name -> one list of values a group, empty
    where nothing was measured; `colours`: name -> colour, of those that have one of their own. The
    number above a bar is its median."""
    width = min(0.82 / max(len(series), 1), 0.2)
    for number, (name, lists) in enumerate(series.items()):
        colour = (colours or {}).get(name, COLOURS[number % len(COLOURS)])
        for group, values in enumerate(lists):
            if not values:
                continue
            middle, below, above = spread(values)
            at = group + (number - (len(series) - 1) / 2) * width
            axes.bar(at, middle, width * 0.92, color=colour, label=name,
                     yerr=[[below], [above]] if len(values) > 1 else None, capsize=2,
                     error_kw={'elinewidth': 0.9, 'ecolor': '#222222'})
            if len(series) * len(groups) <= 28:
                axes.text(at, middle + above, form.format(middle), ha='center', va='bottom',
                          fontsize=7.5)
    axes.set_xticks(range(len(groups)), groups)
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.grid(axis='x', visible=False)


def level(axes, paper, begin=None, end=None):
    """The paper's figure as a hatched band, or a line where it is one number; between two places on
    the x axis, or over all of it."""
    left, right = axes.get_xlim() if begin is None else (begin, end)
    if paper.low != paper.high:
        axes.fill_between([left, right], paper.low, paper.high, facecolor='none', hatch='////',
                          edgecolor=PAPER_COLOUR, linewidth=0.8, alpha=0.75, label=paper.label)
    else:
        style = ':' if paper.is_goal else '--'
        axes.plot([left, right], [paper.low] * 2, color=PAPER_COLOUR, linestyle=style,
                  linewidth=1.4, label=paper.label)
    if begin is None:
        axes.set_xlim(left, right)


def whole_numbers(axes):
    """On the x axis: threads and seconds are counted."""
    axes.xaxis.set_major_locator(ticker.MaxNLocator(integer=True))


def headroom(axes):
    """Room for the numbers above the bars, and bars that begin at 0."""
    axes.set_ylim(0, axes.get_ylim()[1] * 1.08)
