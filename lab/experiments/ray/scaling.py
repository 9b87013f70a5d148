"""The time that a cluster would take, computed: no cluster is measured.

A node reads its inputs and writes the parts of each (divide), puts these into the object store,
which spills them, sends all but its own to others and gets as many, writes the pieces of each of
its parts one behind the other, sorts the part, and reads the output again for its sums. Its device
has the numbers of an emulated one; the sort of a part is what `isotherm sort --explain` predicts on
a share of that device. The driver of Ray keeps an account of each piece, of which there are as many
as inputs times parts; the seconds for one are those of all processes in the rows of `pieces`. No
step is taken to go on beside another, and the page cache to hold nothing.
"""
import collections
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import saved

RECORD = 100
GB = 1e9
SPREAD = .07  # standard deviation of a part's size, of 200 records sampled of each


def add_arguments(parser):
    parser.add_argument('rows', help='file with rows of `pieces`')
    parser.add_argument('--nodes', type=int, nargs='+', default=[1, 2, 10, 100])
    parser.add_argument('--device', default='emu:cmm-h', help='of a node, with cmm-h or a scale')
    parser.add_argument('--workers', type=int, default=16, help='of a node')
    parser.add_argument('--gigabytes', type=float, default=100, help='of a node')
    parser.add_argument('--memory', type=float, default=8, help='gigabytes of a task')
    parser.add_argument('--input', type=float, default=10, help='gigabytes of an input')
    parser.add_argument('--network', type=float, default=3.1, help='gigabytes a second, each way')
    parser.add_argument('--sample', type=float, default=.2, help='gigabytes of the part predicted')
    parser.add_argument('--save')


def seconds_of_piece(path):
    """The slope between the medians of the rows of few pieces and of those of many."""
    found = collections.defaultdict(list)
    for one in saved.rows(path):
        if one['experiment'] == 'ray pieces':
            found[one['pieces']].append(one['cpu_seconds'])
    if len(found) != 2:
        sys.exit(f'ray: {path} has not the rows of one call of `pieces`: save them first')
    few, many = sorted(found)
    slope = (statistics.median(found[many]) - statistics.median(found[few])) / (many - few)
    return max(0, slope)


def bandwidths(tool, device, folder):
    """Reads and writes of an emulated device, in bytes a second, with as many threads as each
    wants; as a probe finds them."""
    profile = pathlib.Path(folder, 'profile.json')
    subprocess.run([tool, 'device', 'probe', folder, '--quick', '--device', device, '-o', profile],
                   check=True, stdout=subprocess.DEVNULL)
    found = json.loads(profile.read_text())
    return [max(point['bytes_per_s'] for point in found[kind])
            for kind in ('sequential_read', 'write')]


def predicted_part(options, folder):
    """Seconds a byte that a task takes to sort a part that fits in its memory, on its share of the
    device."""
    records = max(1, int(options.sample * GB / RECORD))
    part = pathlib.Path(folder, 'part')
    subprocess.run([options.tool, 'gensort', str(records), part], check=True)
    told = subprocess.run(
        [options.tool, 'sort', '--record', str(RECORD), part, '-o', part.with_name('out'),
         '--memory', f'{max(64, int(options.sample * 2 * 1000))}mb', '--device',
         f'{options.device}@1/{options.workers}', '--explain'],
        check=True, capture_output=True, text=True).stdout
    return float(re.search(r'^auto +([\d.]+) s', told, re.MULTILINE)[1]) / (records * RECORD)


def scale(options):
    piece = seconds_of_piece(options.rows)
    with tempfile.TemporaryDirectory(dir='/var/tmp') as folder:
        share = f'{options.device}@1/{options.workers}'  # a worker's
        read, write = (options.workers * each for each in bandwidths(options.tool, share, folder))
        sort = predicted_part(options, folder)
    held = options.gigabytes * GB
    # Divide, put and sums read; divide, spill and the part write; what was spilled is read.
    moved = held * (4 / read + 3 / write)
    sorting = held / options.workers * sort
    print(f'Computed, not measured: nodes of {options.workers} workers, {options.gigabytes:g} GB '
          f'each, {options.device}, a network of {options.network:g} GB/s; a piece takes the '
          f'driver {piece * 1000:.2f} ms\n'
          '| nodes | parts | pieces | largest part over the mean | moved, s | sorted, s | '
          'network, s | driver, s | MB/s a node | of one node |\n'
          '|---|---|---|---|---|---|---|---|---|---|')
    alone = None
    for nodes in options.nodes:
        parts = math.ceil(nodes * held * 2 / (options.memory * GB))
        pieces = parts * math.ceil(nodes * options.gigabytes / options.input)
        network = held * (nodes - 1) / nodes / (options.network * GB)
        driver = pieces * piece
        seconds = moved + sorting + network + driver
        alone = alone or seconds
        largest = 1 + SPREAD * math.sqrt(2 * math.log(max(1, parts)))
        saved.append(options.save, 'ray scale', nodes=nodes, parts=parts, pieces=pieces,
                     computed=True, device=options.device, moved_seconds=moved,
                     sorted_seconds=sorting, network_seconds=network, driver_seconds=driver,
                     seconds=seconds)
        print(f'| {nodes} | {parts:,} | {pieces:,} | {largest:.2f} | {moved:.0f} | {sorting:.0f} | '
              f'{network:.0f} | {driver:.0f} | {held / 1e6 / seconds:.0f} | '
              f'{alone / seconds:.0%} |')
