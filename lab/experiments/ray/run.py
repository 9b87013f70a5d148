#!/usr/bin/env python3
"""isotherm.ray beside Ray Data's own sort, by turns, on one machine; and what a cluster would do.

    lab/experiments/ray/run.py run --packages DIR --megabytes 1000 --rounds 3 --save ray.jsonl
    lab/experiments/ray/run.py run --side isotherm --megabytes 10000 --memory 1000
    lab/experiments/ray/run.py pieces --save ray.jsonl
    lab/experiments/ray/run.py scale ray.jsonl --save ray.jsonl
    lab/experiments/ray/run.py table ray.jsonl

Records of the sort benchmark, of 100 bytes: isotherm sorts their files, Ray Data the same records
in Parquet files that are not compressed. Each sort has a cluster of --workers processes of its own,
in a control group that counts the processors' time of all of them and the peak of memory, page
cache and object store included. `valsort` and pyarrow check the outputs.

`pieces` sorts next to nothing in many pieces: the seconds that Ray takes for one. `scale` computes
what a cluster would take, with that, from the numbers of an emulated device and the prediction of
`isotherm sort --explain` for one part: no cluster is measured.

Needs the release build of the package, and Ray as scripts/bootstrap fetches it. Ray Data needs
pandas and fsspec, from the folder --packages; without them it is left out:

    /usr/bin/python3 -m pip install --target DIR pandas==3.1.1 fsspec==2026.9.0
"""
import argparse
import collections
import contextlib
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile

SHARED = pathlib.Path(__file__).resolve().parents[1] / 'shared'
sys.path.insert(0, str(SHARED))
import files  # noqa: E402
import saved  # noqa: E402
import scaling  # noqa: E402
import tree  # noqa: E402
from python_packages import FETCHED, OURS  # noqa: E402

CONTROLLERS = ('cpuacct', 'memory')
RECORD = 100
MB = 1_000_000


def lacks(what):
    print(f'ray: {what}', file=sys.stderr)
    sys.exit(tree.STATUS_LACKING)


@contextlib.contextmanager
def group():
    """A control group, of the first version. Yields its folder of memory, and how a process enters
    it."""
    folders = [pathlib.Path('/sys/fs/cgroup', each, f'isotherm-ray-{os.getpid()}')
               for each in CONTROLLERS]
    made = []
    try:
        for folder in folders:
            folder.mkdir()
            made.append(folder)
    except OSError as error:
        for folder in made:
            folder.rmdir()
        lacks(f'cannot make the control group {folder}: {error.strerror}')
    try:
        yield folders[-1], lambda: [(folder / 'cgroup.procs').write_text(str(os.getpid()))
                                    for folder in folders]
    finally:
        end_all(folders[0])
        for folder in folders:
            folder.rmdir()


def end_all(folder):
    """Ends the processes of a control group, which may start others meanwhile."""
    while left := (folder / 'cgroup.procs').read_text().split():
        for process in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(process), 9)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def run_side(options, side, sources, parts=None):
    """Sorts by one side in a folder that is removed again. Returns its figures, checked."""
    packages = [OURS, FETCHED, *([options.packages] if options.packages else [])]
    environment = {**os.environ, 'PYTHONPATH': os.pathsep.join(map(str, packages))}
    with tempfile.TemporaryDirectory(dir=options.dir, prefix='ray.') as here, \
            group() as (memory, enter):
        target = f'{here}/out'
        words = [sys.executable, '-B', pathlib.Path(__file__).with_name('sides.py'), side, sources,
                 target, options.workers, options.memory * MB, options.store * MB,
                 *([parts] if parts else [])]
        done = subprocess.run(list(map(str, words)), env=environment, capture_output=True,
                              text=True, check=False, preexec_fn=enter)
        if done.returncode:
            sys.exit(f'ray: {side} failed:\n{done.stderr}')
        took = json.loads(done.stdout.splitlines()[-1])
        took['peak_bytes'] = int((memory / 'memory.max_usage_in_bytes').read_text())
        end_all(memory)
        took['records'] = check(options, side, pathlib.Path(target), took['records'])
    return took


def check(options, side, target, records):
    """Returns the records of the output, of which the side may have told the number. Ends the
    experiment if they are not in order."""
    if side == 'isotherm':
        summaries = b''
        for part in sorted(target.glob('part-*')):
            one = target / 'summary'
            subprocess.run([options.tool, 'valsort', '-q', '-o', one, part], check=True)
            summaries += one.read_bytes()
        (target / 'summary').write_bytes(summaries)
        subprocess.run([options.tool, 'valsort', '-q', '--summaries', target / 'summary'],
                       check=True)
        return records
    import pyarrow.compute
    import pyarrow.parquet
    last, count = b'', 0
    for part in sorted(target.glob('*.parquet')):
        keys = pyarrow.parquet.read_table(part, columns=['key'])['key'].to_pylist()
        if keys and (keys[0] < last or any(a > b for a, b in zip(keys, keys[1:]))):
            sys.exit(f'ray: {side}: {part} is not in order')
        last, count = (keys or [last])[-1], count + len(keys)
    return count


def make_inputs(options, folder, megabytes, number):
    """Files of records, and the same in Parquet."""
    plain, rows = folder / 'plain', folder / 'rows'
    plain.mkdir(parents=True)
    each = max(1, megabytes * MB // RECORD // number)
    for at in range(number):
        subprocess.run([options.tool, 'gensort', '-b', str(at * each), str(each),
                        plain / f'{at:04}'], check=True)
    if 'ray data' in options.sides:
        rows.mkdir()
        for path in sorted(plain.iterdir()):
            to_parquet(path, rows / f'{path.name}.parquet')
    return {'isotherm': plain, 'ray data': rows}


def to_parquet(source, target):
    import numpy
    import pyarrow
    import pyarrow.parquet
    records = numpy.fromfile(source, dtype=[('key', 'S10'), ('value', 'S90')])
    raw = records.view(numpy.uint8).reshape(-1, RECORD)

    def column(part):
        width = part.shape[1]
        return pyarrow.Array.from_buffers(
            pyarrow.binary(width), len(part),
            [None, pyarrow.py_buffer(numpy.ascontiguousarray(part))]).cast(pyarrow.binary())
    pyarrow.parquet.write_table(
        pyarrow.table({'key': column(raw[:, :10]), 'value': column(raw[:, 10:])}), target,
        compression='none', use_dictionary=False)


def measure(options):
    with tempfile.TemporaryDirectory(dir=options.dir, prefix='ray.in.') as folder:
        inputs = make_inputs(options, pathlib.Path(folder), options.megabytes, options.inputs)
        total = sum(path.stat().st_size for path in inputs['isotherm'].iterdir())
        for _ in range(options.rounds):
            for side in random.sample(options.sides, len(options.sides)):
                files.touch_memory(options.dir, options.touch)
                took = run_side(options, side, inputs[side])
                moved = took['records'] * RECORD
                if moved != total:
                    sys.exit(f'ray: {side}: {moved} bytes of {total} are in the output')
                saved.append(options.save, 'ray', side=side, bytes=moved, workers=options.workers,
                             memory_bytes=options.memory * MB, **took)
                print(f'{side:9} {moved / MB:,.0f} MB {took["seconds"]:7.2f} s '
                      f'{took["cpu_seconds"]:7.2f} s of processors, '
                      f'{moved / MB / took["cpu_seconds"]:6.1f} MB a second of them, '
                      f'{took["peak_bytes"] >> 20} MiB, {took["others_busy"]:.2f} processors of '
                      'others', flush=True)


def measure_pieces(options):
    """Nearly empty inputs, divided into few pieces and into many, by as many tasks: two for each
    input and one for each part."""
    tasks = options.tasks
    for inputs, parts in ((tasks // 2 - 1, 2), (tasks // 4, tasks // 2)):
        with tempfile.TemporaryDirectory(dir=options.dir, prefix='ray.in.') as folder:
            sources = make_inputs(options, pathlib.Path(folder), 1, inputs)['isotherm']
            for _ in range(options.rounds):
                took = run_side(options, 'isotherm', sources, parts)
                saved.append(options.save, 'ray pieces', inputs=inputs, parts=parts,
                             pieces=inputs * parts, workers=options.workers, **took)
                print(f'{inputs} inputs, {parts} parts: {took["seconds"]:.2f} s, '
                      f'{took["cpu_seconds"]:.2f} s of processors', flush=True)


def table(paths):
    groups = collections.defaultdict(lambda: collections.defaultdict(list))
    for one in saved.rows(*paths):
        if one['experiment'] == 'ray':
            groups[one['bytes'], one['workers'], one['memory_bytes']][one['side']].append(one)
    for (size, workers, memory), sides in groups.items():
        print(f'\n{size / MB:,.0f} MB, {workers} workers of {memory / MB:,.0f} MB\n'
              '| side | runs | seconds (spread) | processors\' seconds | MB a second of them '
              '(spread) | peak MiB |\n|---|---|---|---|---|---|')
        for side, runs in sorted(sides.items()):
            seconds = sorted(one['seconds'] for one in runs)
            used = [one['cpu_seconds'] for one in runs]
            rates = sorted(size / MB / each for each in used)
            print(f'| {side} | {len(runs)} | {statistics.median(seconds):.1f} ({seconds[0]:.1f} .. '
                  f'{seconds[-1]:.1f}) | {statistics.median(used):.1f} | '
                  f'{statistics.median(rates):.1f} ({rates[0]:.1f} .. {rates[-1]:.1f}) | '
                  f'{max(one["peak_bytes"] for one in runs) >> 20:,} |')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tool', type=pathlib.Path, default=tree.TOOL)
    modes = parser.add_subparsers(dest='mode', required=True)
    for name in ('run', 'pieces'):
        mode = modes.add_parser(name)
        mode.add_argument('--dir', default='/var/tmp')
        mode.add_argument('--workers', type=int, default=2)
        mode.add_argument('--memory', type=int, default=500, help='megabytes of a task')
        mode.add_argument('--store', type=int, default=500, help='megabytes of the object store')
        mode.add_argument('--rounds', type=int, default=3)
        mode.add_argument('--packages', type=pathlib.Path, help='folder with pandas and fsspec')
        mode.add_argument('--save')
        if name == 'run':
            mode.add_argument('--megabytes', type=int, default=1000)
            mode.add_argument('--inputs', type=int, default=8)
            mode.add_argument('--touch', type=int, default=2000, help='megabytes, before each run')
            mode.add_argument('--side', dest='sides', action='append',
                              choices=('isotherm', 'ray data'))
        else:
            mode.add_argument('--tasks', type=int, default=80)
    scale = modes.add_parser('scale')
    scaling.add_arguments(scale)
    modes.add_parser('table').add_argument('files', nargs='+')
    return parser.parse_args()


def main():
    options = arguments()
    if options.mode == 'table':
        return table(options.files)
    if options.mode == 'scale':
        return scaling.scale(options)
    if not pathlib.Path(OURS, 'isotherm').exists() or not pathlib.Path(FETCHED, 'ray').exists():
        lacks('the package is not built, or Ray is not there: run scripts/bootstrap and make build')
    sys.path.insert(0, str(FETCHED))
    both = options.packages is not None and (options.packages / 'pandas').exists()
    options.sides = getattr(options, 'sides', None) or ['isotherm', *(['ray data'] if both else [])]
    return measure(options) if options.mode == 'run' else measure_pieces(options)


if __name__ == '__main__':
    main()
