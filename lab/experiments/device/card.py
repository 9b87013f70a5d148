"""Profiles of devices: bandwidth by threads, and the BRAID letters beside the paper's PMEM."""
from isotherm_report import common, drawing, papers
from isotherm_report.kinds import Kind
from isotherm_report.page import Plot, Section

PLACE = 180


def points(*rates):
    return [{'streams': n, 'bytes_per_s': rate, 'spread': 0} for n, rate in enumerate(rates, 1)]


KINDS = (
    Kind(
        'device',
        known_by={'isotherm_profile', 'sequential_read', 'random_read', 'write', 'braid'},
        needs=('path', 'device', 'sequential_read[+].streams', 'sequential_read[+].bytes_per_s',
               'write[+].streams', 'write[+].bytes_per_s', 'random_read[].access_bytes',
               'random_read[].bandwidth[+].streams', 'random_read[].bandwidth[+].bytes_per_s',
               'braid[].letter', 'braid[].holds', 'braid[].why'),
        example={
            'isotherm_profile': 3, 'path': '/mnt', 'device': '',
            'sequential_read': points(1e9, 2e9), 'write': points(1e9, 5e8),
            'random_read': [{'access_bytes': 256, 'bandwidth': points(1e8, 1e9)}],
            'braid': [{'letter': 'B', 'holds': 'yes', 'why': 'reads of 10 B'}]}),
)


def best(curve):
    return max(point['bytes_per_s'] for point in curve)


def draw_curve(axes, curve, label, number):
    axes.plot([point['streams'] for point in curve],
              [point['bytes_per_s'] / 1e9 for point in curve], marker='o', markersize=3.5,
              label=label, color=drawing.COLOURS[number % len(drawing.COLOURS)])


def plot_of(profile):
    made, axes = drawing.figure()
    curves = [('sequential read', profile['sequential_read']), ('write', profile['write'])]
    curves += [(f'random read of {each["access_bytes"]} B', each['bandwidth'])
               for each in profile['random_read']]
    for number, (label, curve) in enumerate(curves):
        draw_curve(axes, curve, label, number)
    axes.set_ylim(bottom=0)
    axes.set_xlabel('threads')
    drawing.whole_numbers(axes)
    axes.set_ylabel('GB/s')
    axes.set_title('Bandwidth')
    drawing.legend(axes, 4)
    return Plot(drawing.svg_of(made), 'Bandwidth of reads and writes by number of threads')


def comparisons(profile):
    """(what, here, the paper's figure)."""
    read, write = best(profile['sequential_read']), profile['write']
    rows = []
    small = next((each for each in profile['random_read'] if each['access_bytes'] == 256), None)
    if small:
        rows.append(('random reads of 256 B over sequential', best(small['bandwidth']) / read,
                     papers.reported('device-random')))
    rows.append(('reads over writes', read / best(write), papers.reported('device-asymmetry')))
    rows.append(('best writes over those of most threads', best(write) / write[-1]['bytes_per_s'],
                 papers.reported('device-writers')))
    return rows


def section_of(result):
    profile = result.data
    rows = comparisons(profile)
    where = f'{profile["path"]}, emulated as {profile["device"]}' if result.is_emulated \
        else profile['path']
    command = ['device', 'probe', profile['path'], '--output', 'device.json']
    if result.is_emulated:
        command += ['--device', profile['device']]
    return Section(f'Device {where}', [result], plots=[plot_of(profile)],
                   tables=[(('ratio', 'here', 'the paper\'s PMEM'),
                            [(name, f'{here:.2f}', f'{paper.low:g}')
                             for name, here, paper in rows]),
                           (('letter', 'holds', 'why'),
                            [(each['letter'], each['holds'], each['why'])
                             for each in profile['braid']])],
                   papers=[paper for _, _, paper in rows],
                   commands=[common.command_of(result, command)])


def sections(results):
    return [section_of(result) for result in common.of_kind(results, 'device')]
