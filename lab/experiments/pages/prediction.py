"""The memory that a server would hold if its objects were ordered by temperature, as isotherm
pages --objects predicts it, against the memory that isotherm serve holds when it moves them: the
same load and requests.

Only the memory of the records counts, on both sides. The collector moves keys and values and
leaves nodes and tables of the index where they are; the prediction is made for the same rule.
"""
import contextlib
import pathlib
import tempfile
import time

import saved
import servers
import tree
from servers import MIB, Trouble

LEAST_TABLE = MIB  # bytes of an object that is taken for the index's table

# By one window's use alone: an object that a window did not use goes to COLD.
MANAGED = ['--manage', 'on', '--policy', 'published', '--cold-threshold', '1', '--window', '600000',
           '--hint', 'pageout']


def sites_of_records(objects, keys):
    """The allocation sites of a record's objects: as good as all of them are made there."""
    by_size = {}
    for site in objects['by_site']:
        if site['objects'] >= keys / 100:
            functions = tuple(frame['name'] for frame in site['functions'][:2])
            by_size.setdefault((functions, round(site['bytes'] / site['objects'])), []).append(site)
    kinds = [{'functions': functions, 'size': size,
              **{name: sum(site[name] for site in sites)
                 for name in ('objects', 'bytes', 'touched_objects', 'touched_bytes')}}
             for (functions, size), sites in by_size.items()]
    return [kind for kind in kinds if kind['objects'] > keys * .9]


def is_node(server, kind, kinds):
    """Redis makes its nodes in dictAddRaw; of the store a record's smallest object is its node."""
    if server == 'redis':
        return any('dictAddRaw' in name for name in kind['functions'])
    return kind['size'] == min(other['size'] for other in kinds)


def predict(server, window, keys):
    """Bytes of keys and values that a window touched, and of all nodes and tables."""
    objects = window['objects']
    kinds = sites_of_records(objects, keys)
    nodes = [kind for kind in kinds if is_node(server, kind, kinds)]
    moved = [kind for kind in kinds if kind not in nodes]
    if not nodes or not moved:
        raise Trouble(f'no allocation sites of {server} are known for records and nodes')
    tables = sum(row['touched_bytes'] for row in objects['by_size']
                 if row['largest_bytes'] > LEAST_TABLE)
    return {'predicted_objects_bytes': sum(kind['touched_bytes'] for kind in moved),
            'predicted_nodes_bytes': sum(kind['bytes'] for kind in nodes) + tables,
            'record_bytes': sum(kind['bytes'] for kind in moved),
            'touched_as_it_lies_bytes': window['all']['touched_bytes'],
            'held_bytes': window['all']['resident_bytes'],
            'predicted_resident_bytes': objects['predicted_resident_bytes']}


def by_name(answer):
    """A reply of ISOTHERM's: names and values by turns."""
    return {name.decode(): by_name(value) if isinstance(value, list) else value
            for name, value in zip(answer[::2], answer[1::2])}


def heaps_when_still(client):
    """The heaps when HOT and NEW have not changed for some seconds: COLD is written by then."""
    before = None
    for _ in range(100):
        heaps = by_name(client.execute_command('ISOTHERM', 'HEAPS'))
        now = [heaps[name]['bytes'] for name in ('new', 'hot')]
        if now == before:
            return heaps
        before = now
        time.sleep(3)
    raise Trouble('the managed store does not come to rest')


def manage(options, drive):
    """Yields the memory that the managed store holds after each window of requests: bytes by heap,
    and bytes of DRAM."""
    with contextlib.ExitStack() as stack:
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.dir)))
        command = servers.isotherm_command(
            folder, tree.TOOL, [*MANAGED, '--cold-backing', f'file:{folder}'])
        server = stack.enter_context(servers.serving(command, folder / 'socket'))
        server.client.execute_command('ISOTHERM', 'CONFIG', 'SET', 'adaptive-threshold', 'no')
        drive(server.address, options, '--seconds', '0.1', '--rate', '10')
        # Loading counts as a use, which the first window forgets.
        server.client.execute_command('ISOTHERM', 'COLLECT')
        for requests in options.requests:
            drive(server.address, options, '--no-load', '--seconds', str(requests / options.rate),
                  '--rate', str(options.rate))
            server.client.execute_command('ISOTHERM', 'COLLECT')
            yield {'heaps': heaps_when_still(server.client),
                   'dram_bytes': int(server.stats()['dram_bytes'])}


def row_of(predicted, managed):
    heaps = managed['heaps']
    return {**predicted, 'dram_bytes': managed['dram_bytes'],
            'moved_objects_bytes': heaps['hot']['bytes'] + heaps['new']['bytes'],
            'nodes_bytes': heaps['node']['bytes'], 'heaps': heaps}


def report(name, requests, row):
    predicted = row['predicted_objects_bytes'] + row['predicted_nodes_bytes']
    found = row['moved_objects_bytes'] + row['nodes_bytes']
    print(f'{name:<10} {requests:>8}  held {row["held_bytes"] / MIB:6.1f} MiB  touched '
          f'{row["touched_as_it_lies_bytes"] / MIB:6.1f}  whole program predicted '
          f'{row["predicted_resident_bytes"] / MIB:6.1f}  records and index predicted '
          f'{row["predicted_objects_bytes"] / MIB:6.2f} + {row["predicted_nodes_bytes"] / MIB:6.2f}'
          f'  isotherm serve then {row["moved_objects_bytes"] / MIB:6.2f} + '
          f'{row["nodes_bytes"] / MIB:6.2f}: prediction {predicted / found - 1:+.1%}', flush=True)


def run(options, drive, observe):
    """`observe(name)` returns the windows of a server, of which the first two are of loading."""
    managed = list(manage(options, drive))
    for name in options.servers.split(','):
        for requests, window, held in zip(options.requests, observe(name)[2:], managed):
            row = row_of(predict(name, window, options.keys), held)
            report(name, requests, row)
            saved.append(options.save, 'pages prediction', server=name, requests=requests,
                         keys=options.keys, value_size=options.value_size,
                         distribution=options.distribution, rate=options.rate, **row)
