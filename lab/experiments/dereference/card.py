"""The cost of a guide over a raw pointer: google-benchmark's JSON of dereference_bench."""
from isotherm_report import common, drawing, papers
from isotherm_report.kinds import Kind
from isotherm_report.page import Plot, Section

PLACE = 20
LOADS = 16  # dereferences in an iteration of the benchmark
WAYS = {'chase': 'one after the other', 'sum': 'independent'}
SIDES = {'raw': 'raw pointer', 'guide': 'guide', 'guide_in_epoch': 'guide in a migration epoch'}
NANOSECONDS = {'ns': 1.0, 'us': 1e3, 'ms': 1e6}

KINDS = (
    Kind(
        'google-benchmark',
        known_by={'context', 'benchmarks'},
        needs=('benchmarks[].run_name', 'benchmarks[].real_time', 'benchmarks[].time_unit'),
        example={'context': {}, 'benchmarks': [
            {'run_name': f'chase/{side}/bytes:16384', 'name': '', 'run_type': 'iteration',
             'real_time': time, 'time_unit': 'ns'}
            for side, time in (('raw', 32.0), ('guide', 48.0))]}),
)


def times_of(results):
    """(way, bytes, side) -> nanoseconds a dereference."""
    found = {}
    for result in results:
        for each in result.data['benchmarks']:
            way, _, rest = each['run_name'].partition('/')
            side, _, size = rest.partition('/bytes:')
            if way not in WAYS or side not in SIDES:
                continue
            if each.get('run_type') == 'aggregate':
                continue
            ns = each['real_time'] * NANOSECONDS[each['time_unit']] / LOADS
            found.setdefault((way, int(size.split('/')[0]), side), []).append(ns)
    return found


def plot_of(way, times):
    sizes = sorted({size for its_way, size, _ in times if its_way == way})
    made, axes = drawing.figure()
    drawing.bars(axes, [common.number_text(size) + 'B' for size in sizes],
                 {label: [times.get((way, size, side), []) for size in sizes]
                  for side, label in SIDES.items()})
    axes.set_yscale('log')
    axes.set_ylabel('ns a dereference (log)')
    axes.set_xlabel('bytes of all objects')
    axes.set_title(f'Dereferences, {WAYS[way]}')
    drawing.legend(axes)
    return Plot(drawing.svg_of(made), f'Nanoseconds a dereference, {WAYS[way]}, of a raw pointer, '
                'of a guide and of one in a migration epoch, by the bytes of all objects')


def sections(results):
    mine = [result for result in common.of_kind(results, 'google-benchmark')
            if times_of([result])]
    if not mine:
        return []
    times = times_of(mine)
    middle = {key: drawing.spread(values)[0] for key, values in times.items()}
    rows = [(WAYS[way], common.number_text(size) + 'B',
             f'{middle[way, size, "guide"] - middle[way, size, "raw"]:+.2f} ns')
            for way, size, side in middle if side == 'raw' and (way, size, 'guide') in middle]
    ways = dict.fromkeys(way for way, _, _ in times)
    return [Section('Cost of a dereference', mine, plots=[plot_of(way, times) for way in ways],
                    tables=[(('dereferences', 'objects', 'a guide adds'), rows)],
                    papers=[papers.reported('dereference')],
                    commands=['dereference_bench --benchmark_repetitions=5 --benchmark_format=json'
                              ' --benchmark_out=dereference.json'])]
