"""The papers' E1: how much of its pages a store uses, and what DRAM it needs, with and without
management."""
from isotherm_report import common, drawing, papers
from isotherm_report.page import Plot, Section

SETTING = ('keys', 'key_size', 'value_size', 'threads', 'distribution', 'theta', 'rate', 'target',
           'window_seconds')
UTILIZATION = {'a': 'utilization-a', 'b': 'utilization-b', 'c': 'utilization-c'}


def command_of(result):
    data = result.data
    around = result.around.get('flags')
    if around:
        manage, _, protocol = result.around.get('side', '').partition(':')
        more = ['--manage', manage, *(['--protocol', protocol] if protocol else [])]
        return common.command_of(result, ['bench', 'ycsb', *around, *more])
    words = ['bench', 'ycsb', '--index', data['index'], '--workload', data['workload']]
    for field in ('distribution', 'keys', 'key_size', 'value_size', 'threads', 'rate', 'manage',
                  'cold_backing', 'hint'):
        if data.get(field) is not None:
            words += [f'--{field.replace("_", "-")}', common.plain(data[field])]
    words += ['--window', common.plain(data['window_seconds']), '--warmup',
              common.plain(data['warmup_seconds']), '--seconds', round(data['seconds'])]
    return common.command_of(result, words)


def setting_of(result):
    return tuple(result.data.get(field) for field in SETTING)


def side_of(result):
    data = result.data
    if data['manage'] != 'on':
        return {'off': 'management off', 'track': 'watched, nothing moved'}.get(
            data['manage'], data['manage'])
    return f'managed ({data["protocol"]}, hint {data["hint"]})'


def words_of(result):
    """The setting in a sentence."""
    data = result.data
    rate = f'{data["rate"]:g} requests a second' if data['rate'] else 'as fast as it goes'
    where = 'in process' if data['target'] == 'in-process' else 'over a socket'
    return (f'{common.number_text(data["keys"])} records of {data["key_size"]} + '
            f'{data["value_size"]} bytes, {data["distribution"]}, {data["threads"]} threads, '
            f'{rate}, {where}, windows of {data["window_seconds"]:g} s.')


def sides_of(runs, group_field):
    """(groups, side -> one list of results a group)."""
    groups = sorted(common.distinct(runs, group_field))
    sides = {}
    for side, mine in sorted(common.grouped(runs, side_of).items(),
                             key=lambda one: one[1][0].data['manage'] != 'off'):
        sides[side] = [[run for run in mine if run.data[group_field] == group] for group in groups]
    return groups, sides


def numbers(sides, field, scale=1.0):
    return {side: [[value * scale for value in common.values_of(runs, field)] for runs in lists]
            for side, lists in sides.items()}


def in_percent(paper):
    return paper.over(100 * paper.low, 100 * paper.high)


def utilization_plot(groups, sides, runs):
    made, axes = drawing.figure()
    drawing.bars(axes, groups, numbers(sides, 'page_utilization', 100), '{:.0f}')
    shown = [papers.reported('utilization-before')]
    drawing.level(axes, in_percent(shown[0]))
    workloads = common.distinct(runs, 'workload')
    for number, group in enumerate(groups):
        name = UTILIZATION.get(group if len(workloads) > 1 else workloads[0])
        if name:
            shown.append(papers.reported(name))
            drawing.level(axes, in_percent(shown[-1]), number - 0.45, number + 0.45)
    axes.set_ylim(0, 108)
    axes.set_ylabel('bytes used, % of pages used')
    axes.set_title('Page utilization')
    drawing.legend(axes, 2)
    return Plot(drawing.svg_of(made), 'Page utilization, in per cent: the bytes of the objects '
                'used in a window over the bytes of the pages that hold them'), shown


def dram_plot(groups, sides, off):
    """DRAM, and what the papers' share of the unmanaged would be."""
    made, axes = drawing.figure()
    drawing.bars(axes, groups, numbers(sides, 'dram_bytes', 2**-20), '{:.0f}')
    saved = papers.reported('dram-saved')
    for number, runs in enumerate(off):
        used = common.values_of(runs, 'dram_bytes')
        if used:
            middle = drawing.spread(used)[0] / 2**20
            left = saved.over(middle * (1 - saved.high), middle * (1 - saved.low))
            drawing.level(axes, left, number - 0.45, number + 0.45)
    drawing.headroom(axes)
    axes.set_ylabel('MiB')
    axes.set_title('DRAM at the end of a run (process, and page cache of its cold file)')
    drawing.legend(axes, 2)
    return Plot(drawing.svg_of(made), 'DRAM in MiB. The band is where the paper\'s saving of 65 to '
                '72% of the resident set would be'), saved


def section_of(runs, title):
    several = len(common.distinct(runs, 'index')) > 1
    groups, sides = sides_of(runs, 'index' if several else 'workload')
    made = Section(title, runs, notes=[words_of(runs[0])])
    plot, shown = utilization_plot(groups, sides, runs)
    made.plots.append(plot)
    made.papers = list(dict.fromkeys(shown))
    if 'management off' in sides:
        plot, paper = dram_plot(groups, sides, sides['management off'])
        made.plots.append(plot)
        made.papers.append(paper)
    made.notes.append('The papers measured 10 million records with 120 s windows, after '
                      'convergence. The rate, the window and the number of records decide how '
                      'much of a page is used, so figures of other settings stand beside theirs, '
                      'not against them.')
    made.commands = [command_of(run) for run in runs]
    return made


def sections(results):
    runs = [run for run in common.of_kind(results, 'ycsb') if run.data['rate']]
    made = []
    for group in common.grouped(runs, setting_of).values():
        if not any(run.data['manage'] == 'on' for run in group):
            continue
        several = len(common.distinct(group, 'index')) > 1
        parts = common.grouped(group, lambda run: run.data['workload']) if several else {'': group}
        for workload, part in parts.items():
            of = f'workload {workload}' if several else f'index {part[0].data["index"]}'
            made.append(section_of(part, f'Pages and DRAM, {of}, {part[0].data["rate"]:g} '
                                         f'requests a second ({len(made) + 1})'))
    return made
