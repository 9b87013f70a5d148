"""Managed runs window by window: DRAM against its target, the controller, and misses."""
from isotherm_report import common, drawing, papers
from isotherm_report.experiments.ycsb import effectiveness
from isotherm_report.page import Plot, Section

LEAST_WINDOWS = 4
MOST_RUNS = 6


def series(run, field):
    """(times, values) of the windows that have the field."""
    points = [(window['at_seconds'], window[field]) for window in run.data['windows']
              if window.get(field) is not None]
    return [at for at, _ in points], [value for _, value in points]


def from_zero(axes, least=0.0, factor=1.1):
    """The axis begins at zero, and ends above the highest line, which its edge would hide."""
    values = [value for line in axes.get_lines() for value in line.get_ydata()]
    axes.set_ylim(0, max([factor * max(values, default=0), least]) or 1)


def dram_panel(axes, run):
    times, values = series(run, 'dram_bytes')
    axes.plot(times, [value / 2**20 for value in values], color=drawing.COLOURS[0], marker='.',
              label='DRAM')
    times, values = series(run, 'memory_target_bytes')
    if any(values):
        axes.plot(times, [value / 2**20 for value in values], color='#000000', linestyle='--',
                  label='its target')
    from_zero(axes)
    axes.set_ylabel('MiB')


def rate_panel(axes, run):
    times, values = series(run, 'promotion_rate')
    axes.plot(times, [100 * value for value in values], color=drawing.COLOURS[1], marker='.',
              label='promotion rate, % a minute')
    target = papers.reported('promotion-rate')
    axes.axhline(100 * target.low, color=drawing.PAPER_COLOUR, linestyle='--', linewidth=1.2,
                 label=target.label)
    axes.set_ylabel('% a minute')
    axes.set_yscale('symlog', linthresh=1)
    from_zero(axes, factor=3)


def worth_panel(axes, run):
    times, values = series(run, 'kept_rate')
    axes.step(times, values, where='post', color=drawing.COLOURS[3],
              label='least use that stays')
    axes.margins(x=0.02)
    from_zero(axes)
    axes.set_ylabel('uses')


def threshold_panel(axes, run):
    times, values = series(run, 'cold_threshold')
    if not any(values):  # of a policy that has none
        return worth_panel(axes, run)
    axes.step(times, values, where='post', color=drawing.COLOURS[3], label='cold threshold')
    axes.margins(x=0.02)
    drawing.level(axes, papers.reported('threshold'))
    axes.set_ylim(0, 32)
    axes.set_ylabel('windows')


def miss_panel(axes, run):
    for field, label, colour, dashes in (
            ('miss_ratio', 'requests that waited for a disk', 5, '-'),
            ('object_lru_miss_ratio', 'an LRU cache of the same size', 4, '--'),
            ('best_static_miss_ratio', 'the best fixed choice', 2, ':')):
        times, values = series(run, field)
        if values:
            axes.plot(times, [100 * value for value in values], marker='.', label=label,
                      color=drawing.COLOURS[colour], linestyle=dashes)
    from_zero(axes)
    axes.set_ylabel('% of requests')


def plot_of(run):
    panels = [dram_panel, rate_panel, threshold_panel]
    if any(window.get('miss_ratio') is not None for window in run.data['windows']):
        panels.append(miss_panel)
    made, all_axes = drawing.figure(len(panels), 1, height=1.9, sharex=True)
    for panel, axes in zip(panels, all_axes):
        panel(axes, run)
        axes.legend(fontsize=8, loc='center left', bbox_to_anchor=(1.0, 0.5), frameon=False)
    all_axes[-1].set_xlabel('seconds since the load; the measured part follows the warm-up')
    warmup = run.data['warmup_seconds']
    if warmup:
        for axes in all_axes:
            axes.axvline(warmup, color=drawing.GREY, linewidth=0.8)
    return Plot(drawing.svg_of(made), f'{run.data["index"]}, workload {run.data["workload"]}: '
                'DRAM, promotion rate, what is cold (a threshold in windows without use, or the '
                'uses a window and page from which an object stays) and misses, window by '
                'window; the vertical line is the end of the warm-up')


def sections(results):
    runs = [run for run in common.of_kind(results, 'ycsb') if run.data['manage'] == 'on'
            and len(run.data['windows']) >= LEAST_WINDOWS]
    if not runs:
        return []
    # Runs with a rate tell of the controller; those without fill in.
    shown = sorted(runs, key=lambda run: not run.data['rate'])[:MOST_RUNS]
    made = Section('Managed runs over time', shown, plots=[plot_of(run) for run in shown],
                   papers=[papers.reported('threshold'), papers.reported('promotion-rate')])
    made.notes = [f'{run.data["index"]}, workload {run.data["workload"]}: '
                  + effectiveness.words_of(run) for run in shown]
    made.notes.append('For the promotion rate and the threshold the paper ran a trace of a cache '
                      'for 2.3 hours; its controller is --policy published here.')
    if len(runs) > len(shown):
        made.notes.append(f'{len(runs) - len(shown)} more managed runs are not drawn here.')
    made.commands = [effectiveness.command_of(run) for run in shown]
    return [made]
