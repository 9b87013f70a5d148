#!/usr/bin/python3
"""The cost of the live page to a server, while it is open and while it is not.

    lab/experiments/page_cost/run.py --rounds 10 --save page.jsonl -- --memory-target 141mb

Starts two servers with the same records, one of them with --http, and loads them by turns with the
same number of connections in a closed loop: the one without the page, the one with it closed, and
the same with it open. Open is a reader that asks for what a browser does that shows the page: the
stream of events, and after each the map of all heaps and of one from its parts. The browser's own
drawing is no part of it. Keys are permuted, Zipfian over the records themselves: of YCSB's
own, two in five requests would go to the disk under a memory target. FLAGS after -- are both
servers'.

Prints throughput and the server's processor time of a request over those of the server without the
page, and what of a processor the thread takes that serves the page: medians and ranges. --save
appends a JSON object a round and side.
"""
import argparse
import contextlib
import http.client
import json
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import servers  # noqa: E402
import tree  # noqa: E402

SIDES = ('none', 'closed', 'open')


class Page:
    """Reads what the page of a browser reads, until it is left."""

    def __init__(self, port):
        self.port = port
        self.events = 0
        self.has_begun, self.is_over = threading.Event(), threading.Event()
        self.failure = None
        self.thread = threading.Thread(target=self.read)

    def __enter__(self):
        self.thread.start()
        self.has_begun.wait(servers.PATIENCE)  # on a busy machine the first event may come late
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()

    def ask(self, path):
        connection = http.client.HTTPConnection('127.0.0.1', self.port,
                                                timeout=servers.PATIENCE)
        connection.request('GET', path)
        answer = connection.getresponse()
        data = answer.read()
        connection.close()
        if answer.status not in (200, 202):
            raise servers.Trouble(f'{path}: {answer.status}')
        return json.loads(data)

    def read(self):
        try:
            self.ask('/api/tables')
            stream = http.client.HTTPConnection('127.0.0.1', self.port,
                                                timeout=servers.PATIENCE)
            stream.request('GET', '/events')
            answer = stream.getresponse()
            while not self.is_over.is_set():
                if not answer.readline().startswith(b'data:'):
                    continue
                self.events += 1
                self.has_begun.set()
                self.ask('/api/map')
                self.ask('/api/map?heap=hot&from=0&count=64')
            stream.close()
        except (OSError, http.client.HTTPException, servers.Trouble) as failure:
            self.failure = failure
        finally:
            self.has_begun.set()


def free_port():
    with socket.socket() as probe:
        probe.bind(('127.0.0.1', 0))
        return probe.getsockname()[1]


def drive(options, server, *more):
    command = [options.tool, 'bench', 'ycsb', '--connect', server.address, '--keys', options.keys,
               '--workload', 'c', '--distribution', 'permuted', '--threads', options.threads,
               '--json', '-', *more]
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        raise servers.Trouble(done.stderr.strip() or 'the driver failed')
    return json.loads(done.stdout)


def page_seconds(server):
    """Processor time of the thread that serves the page; 0 where there is none."""
    for task in pathlib.Path(f'/proc/{server.process.pid}/task').iterdir():
        if (task / 'comm').read_text().strip() == 'iso-http':
            return int((task / 'schedstat').read_text().split()[0]) / 1e9
    return 0


def phase(options, server, port=None):
    """Throughput, the server's processor time a request (microseconds), the share of a processor
    that the page's thread takes, and events read."""
    with Page(port) if port else contextlib.nullcontext() as page:
        _, before = server.spent()
        page_before = page_seconds(server)
        seen = drive(options, server, '--no-load', '--seconds', options.seconds)
        _, after = server.spent()
        page_after = page_seconds(server)
    if page and (page.failure or page.events < options.seconds / 2):
        raise servers.Trouble(f'the page was not read: {page.failure or page.events}')
    if seen['throughput_ops_s'] == 0:
        raise servers.Trouble('no request was served: give more --seconds')
    return {'ops': seen['throughput_ops_s'],
            'us': (after - before) / (seen['throughput_ops_s'] * options.seconds) * 1e6,
            'page_share': (page_after - page_before) / options.seconds,
            'events': page.events if page else 0}


def measure(options, without, paged, port, number):
    sides = {'none': lambda: phase(options, without), 'closed': lambda: phase(options, paged),
             'open': lambda: phase(options, paged, port)}
    # Each side is measured first as often as the other two.
    order = [SIDES[(number + i) % len(SIDES)] for i in range(len(SIDES))]
    found = {side: sides[side]() for side in order}
    none = found['none']
    for side, one in found.items():
        # A short phase may take less processor time than the kernel counts by.
        one |= {f'{name}_over_none': one[name] / none[name] for name in ('ops', 'us')
                if none[name] > 0}
        if side != 'none':
            saved.append(options.save, 'page cost', side=side, flags=' '.join(options.flags),
                         keys=options.keys, threads=options.threads, **one)
    return found


def report(rounds):
    for side in SIDES:
        for name, title in (('ops', 'throughput'), ('us', 'processor time of a request')):
            ratios = [one[side][f'{name}_over_none'] for one in rounds if one['none'][name] > 0]
            if not ratios:
                continue
            value = statistics.median(one[side][name] for one in rounds)
            print(f'{side}: {title} {value:.4g}, over none {statistics.median(ratios):.4f} '
                  f'({min(ratios):.3f} .. {max(ratios):.3f})')
        shares = [one[side]['page_share'] for one in rounds]
        print(f"{side}: the page's thread takes {statistics.median(shares):.3%} of a processor "
              f'({min(shares):.3%} .. {max(shares):.3%})')


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--tool', default=tree.TOOL)
    parser.add_argument('--keys', type=int, default=300000)
    parser.add_argument('--threads', type=int, default=16, help='connections')
    parser.add_argument('--seconds', type=float, default=5, help='of a phase')
    parser.add_argument('--rounds', type=int, default=10)
    parser.add_argument('--save', help='append a JSON object for each round and side')
    parser.add_argument('flags', nargs='*', help='of isotherm serve, after --')
    options = parser.parse_args()
    port = free_port()
    with contextlib.ExitStack() as stack:
        pair = []
        for more in ([], ['--http', f'127.0.0.1:{port}']):
            folder = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory()))
            command = servers.isotherm_command(folder, options.tool, [*more, *options.flags])
            pair.append(stack.enter_context(servers.serving(command, folder / 'socket')))
            drive(options, pair[-1], '--seconds', 30)
        print(saved.here())
        report([measure(options, *pair, port, number) for number in range(options.rounds)])


if __name__ == '__main__':
    servers.run_main('page_cost', main)
