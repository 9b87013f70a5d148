"""Where the time of sorts goes, and WiscSort's ratios (lab/experiments/sort_papers/run.py)."""
from isotherm_report import common, drawing, papers
from isotherm_report.kinds import Kind
from isotherm_report.page import Plot, Section

PLACE = 170
STAGES = {'RUN read': '#0072b2', 'RUN sort': '#e69f00', 'RUN other': '#a6761d',
          'RECORD read': '#56b4e9', 'RUN write': '#d55e00', 'MERGE read': '#004c6d',
          'MERGE other': '#cc79a7', 'MERGE write': '#8c2d04', 'COPY': '#009e73',
          'CHECK': '#999999', 'SYNC': '#f0e442'}
MOST_BARS = 16
GIGA = 1e9

# experiment -> (slower side, faster side, name of what the paper reports).
PAIRS = {
    'sortbenchmark': [('ems', 'onepass', 'sort-onepass'), ('ems', 'mergepass', 'sort-mergepass'),
                      ('ems', 'samplesort', 'sort-samplesort')],
    'concurrency': [
        ('ems no-sync', 'ems no-io-overlap', 'sort-no-sync'),
        ('pmsort+ no-sync', 'pmsort+ io-overlap', 'sort-pmsort-plus'),
        ('pmsort no-io-overlap', 'mergepass no-io-overlap', 'sort-pmsort'),
        ('pmsort no-io-overlap', 'onepass no-io-overlap', 'sort-pmsort-onepass')],
    'values': [('ems 50', 'onepass 50', 'sort-medium-values'),
               ('ems 246', 'onepass 246', 'sort-large-values'),
               ('ems 502', 'onepass 502', 'sort-large-values'),
               ('ems 246', 'mergepass 246', 'sort-large-values-mergepass'),
               ('ems 502', 'mergepass 502', 'sort-large-values-mergepass')],
    'background': [('onepass readers=8', 'onepass alone', 'sort-readers-onepass'),
                   ('ems readers=8', 'ems alone', 'sort-readers-ems'),
                   ('onepass writers=8', 'onepass alone', 'sort-writers'),
                   ('ems writers=8', 'ems alone', 'sort-writers'),
                   ('ems writers=8', 'onepass writers=8', 'sort-writers-ratio')],
    'devices': [('ems bard', 'onepass bard', 'sort-bard')],
    'sizes': [(f'ems {share}', f'{ours} {share}', paper) for share in ('0.25', '0.5', '1', '2')
              for ours, paper in (('onepass', 'sort-onepass'), ('mergepass', 'sort-mergepass'))],
}

KINDS = (
    Kind(
        'sort',
        known_by={'algorithm', 'concurrency', 'seconds', 'stages', 'device'},
        needs=('memory_limit_bytes', 'stages[].stage', 'stages[].seconds'),
        example={'algorithm': 'ems', 'concurrency': 'no-io-overlap', 'device': 'emu:pmem@1/8',
                 'emulated': True, 'seconds': 3.0, 'memory_limit_bytes': 2**26,
                 'stages': [{'stage': 'RUN read', 'seconds': 1.0}]}),
)


def name_of(result):
    data = result.data
    device = f'\n{data["device"]}' if data['device'] else ''
    return data.get('side') or f'{data["algorithm"]}, {data["concurrency"]}{device}'


def median_run(runs):
    return sorted(runs, key=lambda run: run.data['seconds'])[len(runs) // 2]


def stages_plot(runs):
    """A stacked bar a sort. Stages that overlap add up to more than the whole, which the black
    mark shows."""
    made, axes = drawing.figure(height=1.2 + 0.5 * len(runs))
    for row, run in enumerate(runs):
        begin = 0.0
        for stage in run.data['stages']:
            axes.barh(row, stage['seconds'], left=begin, height=0.62, label=stage['stage'],
                      color=STAGES.get(stage['stage'], '#000000'))
            begin += stage['seconds']
        axes.plot([run.data['seconds']] * 2, [row - 0.38, row + 0.38], color='#000000',
                  linewidth=2)
        axes.annotate(f'{run.data["seconds"]:.2f} s', (max(begin, run.data['seconds']), row),
                      (5, 0), textcoords='offset points', va='center', fontsize=8.5)
    axes.set_yticks(range(len(runs)), [name_of(run) for run in runs])
    axes.invert_yaxis()
    axes.grid(axis='y', visible=False)
    axes.margins(x=0.1)
    axes.set_xlabel('seconds; black mark: the whole')
    handles, labels = axes.get_legend_handles_labels()
    unique = dict(zip(labels, handles))
    axes.legend(unique.values(), unique.keys(), ncols=6, loc='lower left',
                bbox_to_anchor=(0, 1.0), fontsize=8.5, frameon=False)
    return Plot(drawing.svg_of(made), 'Time of the stages of each sort; the median run of a side')


def usage_plot(run):
    """Bandwidth and processors over the time of a run (figures 5 and 6)."""
    taken = run.data['samples']
    at = [one['at'] for one in taken]
    made, (bytes_, busy) = drawing.figure(rows=2, height=2.2, sharex=True)
    for name, field in (('reads', 'read_bytes_s'), ('writes', 'write_bytes_s')):
        bytes_.plot(at, [one[field] / GIGA for one in taken], label=name)
    busy.plot(at, [one['processors'] for one in taken], color='#000000')
    bytes_.set_ylabel('GB/s')
    bytes_.set_title(name_of(run))
    bytes_.legend(ncols=2)
    busy.set_ylabel('processors busy')
    busy.set_xlabel('seconds')
    return Plot(drawing.svg_of(made),
                'Bytes read and written in a second, each stage at its mean, and processors busy')


def ratio_plot(name, sides):
    """The paper's pairs of an experiment, where both sides were run."""
    rows = [(slow, fast, papers.reported(paper)) for slow, fast, paper in PAIRS.get(name, [])
            if slow in sides and fast in sides]
    if not rows:
        return None, []
    ours = [common.ratios(sides[slow], sides[fast], 'seconds') for slow, fast, _ in rows]
    made, axes = drawing.figure()
    labels = [f'{slow}\nover {fast}' for slow, fast, _ in rows]
    drawing.bars(axes, labels, {'time, here': ours,
                                'the paper': [[paper.low] for _, _, paper in rows]})
    axes.axhline(1, color='#000000', linewidth=0.8)
    drawing.headroom(axes)
    axes.set_ylabel('ratio of times')
    axes.set_title('Ratios beside the paper\'s')
    drawing.legend(axes)
    return (Plot(drawing.svg_of(made), 'How many times as long the first of two sorts takes, here '
                 'and in the paper'), list(dict.fromkeys(paper for _, _, paper in rows)))


def command_of(result):
    data = result.data
    if 'experiment' in data:
        return f'lab/experiments/sort_papers/run.py run --only {data["experiment"]}'
    words = ['sort', 'IN', '-o', 'OUT', '--algorithm', data['algorithm'], '--concurrency',
             data['concurrency'], '--memory', data['memory_limit_bytes']]
    return common.command_of(result, words + (['--device', data['device']] if data['device']
                                              else []))


def section_of(name, runs):
    sides = common.grouped(runs, name_of)
    title = f'Sorting: {name}' if name else 'Sorts'
    made = Section(title, runs, commands=[command_of(run) for run in runs])
    plot, made.papers = ratio_plot(name, sides)
    if plot:
        made.plots.append(plot)
    shown = [median_run(group) for group in sides.values()]
    for begin in range(0, len(shown), MOST_BARS):
        made.plots.append(stages_plot(shown[begin:begin + MOST_BARS]))
    made.plots += [usage_plot(run) for run in shown if run.data.get('samples')]
    if made.is_emulated:
        devices = ', '.join(sorted(set(common.values_of(runs, 'device'))))
        made.notes.append(f'Emulated devices: {devices}. On one of a part of the bandwidth, work '
                          'of a single thread counts for less than it does on the real device.')
    return made


def sections(results):
    runs = common.of_kind(results, 'sort')
    return [section_of(name, group) for name, group in
            common.grouped(runs, lambda run: run.data.get('experiment', '')).items()]
