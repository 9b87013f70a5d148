"""One sort on a cluster of Ray, in a process of its own.

    sides.py SIDE SOURCES TARGET WORKERS MEMORY STORE [PARTS]

SOURCES is a folder; MEMORY the bytes that a task takes, STORE those of the object store. Prints
what it took, with the records of the output if the side tells them. The clock starts when the
workers have loaded what the side needs. The cluster has a folder of its own, in which it spills.
"""
import json
import os
import pathlib
import secrets
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import processors  # noqa: E402

NANOSECONDS = 1e-9
CPU = pathlib.Path('/sys/fs/cgroup/cpuacct')


def cpu_seconds():
    """Returns the processor time of the control group that this process, and all that it has
    started, is in; 0: it is in no group that counts processor time (cpuacct)."""
    for line in pathlib.Path('/proc/self/cgroup').read_text().splitlines():
        _, controllers, path = line.split(':', 2)
        if 'cpuacct' in controllers.split(','):
            return int((CPU / path.lstrip('/') / 'cpuacct.usage').read_text()) * NANOSECONDS
    return 0.0


def isotherm(sources, target, memory, parts):
    import isotherm.ray
    return isotherm.ray.sort(sorted(sources.iterdir()), target, record=100, memory=memory,
                             parts=parts)['records']


def ray_data(sources, target, _, parts):
    """Ray Data has no files of such records: it sorts them as the rows of Parquet files."""
    import ray
    rows = ray.data.read_parquet(str(sources), override_num_blocks=parts).sort('key')
    rows.write_parquet(str(target), compression='none', use_dictionary=False)


SIDES = {'isotherm': isotherm, 'ray data': ray_data}


def start_cluster(workers, store, folder):
    import ray
    os.environ['PYTHONPATH'] = os.pathsep.join(sys.path)  # of the workers
    os.environ['RAY_AUTH_TOKEN'] = secrets.token_hex(32)  # without it Ray keeps one at home
    ray.init(num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level='error',
             object_store_memory=store, _temp_dir=folder)


def warm(side, workers):
    """Starts the workers, which load what the side needs."""
    import ray
    if side == 'ray data':
        ray.data.range(100 * workers, override_num_blocks=2 * workers).sort('id').materialize()
        return

    def load():
        import isotherm.ray
        return isotherm.ray.__name__
    ray.get([ray.remote(load).remote() for _ in range(workers)])


def main():
    side, sources, target, workers, memory, store, *parts = sys.argv[1:]
    os.makedirs(target)
    folder = f'{os.path.dirname(os.path.abspath(target))}/cluster'
    start_cluster(int(workers), int(store), folder)
    warm(side, int(workers))
    used, busy, start = cpu_seconds(), processors.busy_seconds(), time.monotonic()
    records = SIDES[side](pathlib.Path(sources), pathlib.Path(target), int(memory),
                          int(parts[0]) if parts else None)
    seconds, used = time.monotonic() - start, cpu_seconds() - used
    others = max(0, processors.busy_seconds() - busy - used) / max(seconds, .01)
    print(json.dumps({'seconds': seconds, 'cpu_seconds': used, 'records': records,
                      'others_busy': others}), flush=True)


if __name__ == '__main__':
    main()
