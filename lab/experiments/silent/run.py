#!/usr/bin/python3
"""A disk of COLD that answers nothing for a while, and what clients are told meanwhile.

    lab/experiments/silent/run.py --save silent.jsonl

Starts isotherm serve with COLD on an emulated disk (disks.py) and loads records, more than its
memory target. Then three clients: one reads one key, one reads cold records, one writes new ones.
After --seconds of that the disk is stopped, for --silence seconds, reads and writes alike; then it
answers again. Prints for each client and phase how many requests had which reply, and how long they
took; and what the server says of itself. Values are checked. Needs root.
"""
import argparse
import collections
import contextlib
import multiprocessing
import pathlib
import random
import signal
import sys
import tempfile
import time

import redis

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import disks  # noqa: E402
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402
from servers import Trouble  # noqa: E402

AT_ONCE = 200  # records of one piece of the load
EVERY = 5  # seconds, between two looks at what the server says
SAYS = ('problem', 'cold_reads', 'cold_reads_under_way', 'cold_reads_unanswered',
        'cold_misses')


def key(i):
    return f'key:{i}'


def value(i, size):
    return f'{i}:'.encode().ljust(size, b'v')


def read_one(client, options):
    return 'right' if client.get('hot') == b'x' else 'wrong'


def read_cold(client, options):
    i = random.randrange(options.records)
    return 'right' if client.get(key(i)) == value(i, options.value) else 'wrong'


def write(client, options):
    client.set(f'new:{random.randrange(10**9)}', b'w' * options.value)
    return 'done'


CLIENTS = {'one key': (read_one, .01), 'cold records': (read_cold, .002), 'writes': (write, .001)}


def run_client(work, pause, path, options, ends, pipe):
    """Sends when each request began, how long it took, and its reply or the first word of its
    error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    client, found = redis.Redis(unix_socket_path=str(path)), []
    while not ends.is_set():
        began = time.monotonic()
        try:
            reply = work(client, options)
        except redis.RedisError as error:
            reply = str(error).split()[0]
        found.append((began, time.monotonic() - began, reply))
        time.sleep(pause)
    pipe.send(found)


def load(client, options):
    for first in range(0, options.records, AT_ONCE):
        while True:
            with client.pipeline(transaction=False) as some:
                for i in range(first, min(first + AT_ONCE, options.records)):
                    some.set(key(i), value(i, options.value))
                try:
                    some.execute()
                    break
                except redis.ResponseError:  # OOM: cold records leave meanwhile
                    time.sleep(.1)
    client.set('hot', 'x')


def watch(server, seconds, phase):
    until = time.monotonic() + seconds
    while True:
        said = server.client.info('isotherm')
        print(f'{phase:7}', {name: said.get(name) for name in SAYS}, flush=True)
        if time.monotonic() >= until:
            return
        time.sleep(min(EVERY, max(0, until - time.monotonic())))


def print_phases(name, found, times, options):
    for phase, (begins, ends) in times.items():
        some = [each for each in found if begins <= each[0] < ends]
        took = sorted(seconds * 1e3 for _, seconds, _ in some) or [0]
        replies = collections.Counter(reply for _, _, reply in some)
        p50, p99, most = took[len(took) // 2], took[int(len(took) * .99)], took[-1]
        print(f'{name:12} {phase:7} p50 {p50:.1f}  p99 {p99:.1f}  slowest {most:.1f} ms  '
              f'{dict(replies)}')
        saved.append(options.save, 'silent', client=name, phase=phase, replies=replies,
                     latency_ms={'p50': p50, 'p99': p99, 'slowest': most}, silence=options.silence,
                     records=options.records, value=options.value, target=options.target)


def measure(options, server, path, disk):
    load(server.client, options)
    time.sleep(options.settle)
    ends = multiprocessing.Event()
    pipes = {}
    with contextlib.ExitStack() as stack:
        for name, (work, pause) in CLIENTS.items():
            pipes[name], mine = multiprocessing.Pipe()
            process = multiprocessing.Process(
                target=run_client, args=(work, pause, path, options, ends, mine), daemon=True)
            process.start()
            mine.close()  # so that its end is seen
            stack.callback(process.terminate)
        times = {}
        for phase, seconds, change in (('before', options.seconds, None),
                                       ('silent', options.silence, disk.fall_silent),
                                       ('after', options.seconds, disk.answer)):
            begins = time.monotonic()
            if change:
                change()
            watch(server, seconds, phase)
            times[phase] = (begins, time.monotonic())
        ends.set()
        for name, pipe in pipes.items():
            try:
                found = pipe.recv()
            except EOFError:
                raise Trouble(f'the client of {name} has ended') from None
            print_phases(name, found, times, options)
            if any(reply == 'wrong' for _, _, reply in found):
                raise Trouble('a wrong value was read')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--silence', type=float, default=30, help='seconds')
    parser.add_argument('--seconds', type=float, default=10, help='before it, and after it')
    parser.add_argument('--settle', type=float, default=8, help='seconds after the load')
    parser.add_argument('--records', type=int, default=150_000)
    parser.add_argument('--value', type=int, default=1024, help='bytes')
    parser.add_argument('--target', default='80mb', help='of DRAM')
    parser.add_argument('--dir', default='/var/tmp', help="where the emulated disk's bytes lie")
    parser.add_argument('--tool', default=tree.TOOL)
    parser.add_argument('--save', help='append a JSON object for each client and phase')
    options = parser.parse_args()
    servers.check_tool(options.tool)
    print(saved.here(), flush=True)
    disk = disks.Emulated(options.dir, options.tool)
    with contextlib.ExitStack() as stack:
        stack.callback(disk.close)
        folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
        command = servers.isotherm_command(folder, options.tool, [
            '--threads', 1, '--window', 2, '--memory-target', options.target,
            '--cold-backing', f'file:{disk.place}'])
        server = stack.enter_context(servers.serving(command, folder / 'socket'))
        stack.callback(disk.answer)
        measure(options, server, folder / 'socket', disk)
        for line in server.said:
            if line.startswith('isotherm: '):
                print(f'the server: {line}')
        if not server.is_alive():
            raise Trouble('the server has ended')


if __name__ == '__main__':
    servers.run_main('silent', main)
