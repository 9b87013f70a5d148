#!/usr/bin/env python3
"""Records histories and has them checked for linearizability.

    check_histories.py CHECKER RECORDER index          every index, in process
    check_histories.py CHECKER RECORDER broken         defects that must be seen
    check_histories.py CHECKER RECORDER mutant         its one index lacks a step: must be seen
    check_histories.py CHECKER RECORDER resp TOOL NAPPING
                                                       every index behind `TOOL serve`; the library
                                                       NAPPING stops its threads at random
    check_histories.py CHECKER RECORDER out TOOL NAPPING
                                                       the same, with records that leave DRAM, so
                                                       that commands wait for their reads

The seed chooses one of the migration protocols for each index. A last argument, `whole`, has each
index recorded with all of them, and clients that give more commands. ISOTHERM_TEST_SEED repeats a
run.
"""

import itertools
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / 'e2e'))

from serve_process import Raw, start_ours  # noqa: E402

CLIENTS = 4
COMMANDS, COMMANDS_WHOLE = 600, 1000  # of each client
MORE = 10  # times as many at most, where a busy machine has not seen objects move by then
KEYS = 4
# For records to leave DRAM, clients go from one group of keys to the next, and let a window of the
# collector end in between.
GROUPS, BURST = 16, 10  # number of groups, commands
SEARCH_SECONDS = 600  # for defects to show; below ctest's limit (CMakeLists.txt)
TORN = 'a value is not what was written'  # the recorder's own check
MUTANT_SECONDS = 5  # for one history: what is broken may also go in circles


def value_of(number):
    """Returns a value of less than a page up to a little over two, so that values that leave DRAM
    fill pages."""
    return b'%d:%s' % (number, b'.' * (number % 300 * 30))


def id_of(reply):
    """Number of the value in a bulk reply, 0 for null."""
    if reply in (b'$-1\r\n', b'_\r\n'):
        return 0
    value = reply.split(b'\r\n', 1)[1][:-2]
    number = int(value.split(b':')[0])
    assert value == value_of(number), f'a value is not what was written: {value!r}'
    return number


def talk(path, what, commands, client, seed, events, is_enough):
    """One client's commands, and more until is_enough(); what it asked and was answered goes to
    `events`."""
    chance = random.Random(seed + client)
    connection = Raw(path)
    for i in range(MORE * commands):
        if i >= commands:
            if is_enough():
                break
            time.sleep(0.002)  # leaves the processor to the collector
        key = chance.randrange(KEYS)
        if what == 'out':
            key += i // BURST % GROUPS * KEYS
            if i % BURST == 0:
                connection.ask('ISOTHERM', 'COLLECT')
        name, value = b'key:%d' % key, value_of(1 + client + i * CLIENTS)
        operation = chance.choice(['find', 'find', 'insert', 'upsert', 'erase', 'swap', 'take'])
        words = {'find': (b'GET', name), 'insert': (b'SETNX', name, value),
                 'upsert': (b'SET', name, value), 'erase': (b'DEL', name),
                 'swap': (b'SET', name, value, b'GET'), 'take': (b'GETDEL', name)}[operation]
        call = time.monotonic_ns()
        reply = connection.ask(*words)
        end = time.monotonic_ns()
        assert reply[:1] in b':+$_', reply
        seen = id_of(reply) if operation in ('find', 'swap', 'take') else 0
        done = operation == 'swap' or reply in (b':1\r\n', b'+OK\r\n')
        written = 1 + client + i * CLIENTS if value in words else 0
        events.append((client, operation, key, written, int(done), seen, call, end))
        if chance.random() < 0.05:
            os.sched_yield()
    connection.close()


class Watch:
    """Counts the objects that the windows seen so far moved, and the commands that waited for a
    read."""

    def __init__(self, path):
        self.connection, self.windows = Raw(path), {}
        self.moved = self.misses = 0

    def look(self):
        words = self.connection.ask('ISOTHERM', 'STATS').split(b'\r\n')
        of = lambda name: int(words[words.index(name) + 1][1:])
        self.windows[of(b'window')] = of(b'promoted_objects') + of(b'demoted_objects')
        self.moved = sum(self.windows.values())
        self.misses = of(b'cold_misses')


# Without a file nothing is paged out: waiting for a disk, the collector would move less.
PLACES = {'resp': lambda folder: ('--cold-backing', 'anon', '--hint', 'none'),
          'out': lambda folder: ('--cold-backing', f'file:{folder}', '--hint', 'pageout',
                                 '--target-promotion-rate', '1000000')}


def record_resp(tool, napping, what, commands, index, protocol, seed, path):
    # A sanitizer's runtime would refuse to come behind a preloaded library.
    server = start_ours(tool, index, '--port', '-1', '--threads', '2', '--window', '0.001',
                        '--policy', 'published', '--cold-threshold', '1', '--protocol', protocol,
                        *PLACES[what](os.path.dirname(path)),
                        env={**os.environ, 'LD_PRELOAD': napping, 'ISOTHERM_TEST_SEED': str(seed),
                             'ASAN_OPTIONS': 'verify_asan_link_order=0'})
    events = [[] for _ in range(CLIENTS)]
    failures = []
    watch = Watch(server.path)

    def is_enough():
        return watch.moved > 0 and (what != 'out' or watch.misses > 0) or failures

    def run(client):
        try:
            talk(server.path, what, commands, client, seed, events[client], is_enough)
        except Exception as error:  # pylint: disable=broad-except
            failures.append(repr(error))

    threads = [threading.Thread(target=run, args=(c,)) for c in range(CLIENTS)]
    for thread in threads:
        thread.start()
    while any(thread.is_alive() for thread in threads):
        watch.look()
        threads[0].join(0.01)
    for thread in threads:
        thread.join()
    watch.connection.close()
    status, said, _ = server.stop()
    if failures or status != 0:
        sys.exit(f'{index} {protocol}: {failures} status {status}\n{said}')
    print(f'{index} {protocol} seed {seed}: {watch.moved} objects moved in {len(watch.windows)} '
          f'windows seen, {watch.misses} reads waited for')
    if watch.moved == 0:
        sys.exit(f'{index} {protocol}: no object moved beside the commands')
    if what == 'out' and watch.misses == 0:
        sys.exit(f'{index} {protocol}: no command waited for a read')
    with open(path, 'w', encoding='ascii') as file:
        for event in sum(events, []):
            print(*event, file=file)


class Histories:
    def __init__(self, checker, recorder, folder):
        self.checker, self.recorder, self.folder = checker, recorder, folder
        self.names = {}
        for line in subprocess.check_output([recorder, '--list'], text=True).splitlines():
            kind, name = line.split()
            self.names.setdefault(kind, []).append(name)

    def path(self, *words):
        return os.path.join(self.folder, '-'.join(words))

    def record(self, index, protocol, broken, seed):
        path = self.path(index, protocol, broken)
        subprocess.run([self.recorder, index, protocol, broken, str(seed), path], check=True)
        return path

    def record_mutant(self, seed):
        """Path of a history; None when the recorder had to be stopped before it was saved; TORN
        when it stopped itself at a value that nobody wrote."""
        index, protocols = self.names['index'][0], self.names['protocol']
        path = self.path('mutant', str(seed))
        words = [self.recorder, index, protocols[seed % len(protocols)], 'sound', str(seed), path]
        try:
            ended = subprocess.run(words, check=False, timeout=MUTANT_SECONDS, text=True,
                                   stderr=subprocess.PIPE)
            if ended.returncode != 0 and TORN in ended.stderr:
                return TORN
        except subprocess.TimeoutExpired:
            pass
        return path if os.path.exists(path) else None

    def check(self, paths):
        """The checker's exit status."""
        return subprocess.run([self.checker, *paths], check=False).returncode

    def pairs(self, is_whole, seed):
        """Each index with each protocol, or with one: of two indexes side by side with either."""
        protocols = self.names['protocol']
        return [(index, protocol) for number, index in enumerate(self.names['index'], seed)
                for which, protocol in enumerate(protocols)
                if is_whole or which == number % len(protocols)]


def is_seen_in_time(seconds, attempts):
    """Whether one of the `attempts` shows a defect: two operations have to meet for it. On a busy
    machine they seldom do, so that time is the bound, not a number of attempts."""
    deadline = time.monotonic() + seconds
    return any(itertools.takewhile(lambda seen: seen or time.monotonic() < deadline, attempts))


def is_seen(histories, broken, seed):
    path = histories.record('skiplist-coarse', 'veto', broken, seed)
    return histories.check([path]) == 1


def is_mutant_seen(histories, seed):
    path = histories.record_mutant(seed)
    return path == TORN or (path is not None and histories.check([path]) == 1)


def main():
    checker, recorder, what, *rest = sys.argv[1:]
    is_whole = rest[-1:] == ['whole']
    commands = COMMANDS_WHOLE if is_whole else COMMANDS
    seed = int(os.environ.get('ISOTHERM_TEST_SEED', random.randrange(2**48)))
    print(f'seed: ISOTHERM_TEST_SEED={seed}', flush=True)
    with tempfile.TemporaryDirectory() as folder:
        histories = Histories(checker, recorder, folder)
        if what == 'broken':
            defects = histories.names['broken']
            unseen = [each for each in defects if not is_seen_in_time(
                SEARCH_SECONDS / len(defects),
                (is_seen(histories, each, one) for one in itertools.count(seed)))]
            sys.exit(f'not seen: {unseen}' if unseen else 0)
        if what == 'mutant':
            attempts = (is_mutant_seen(histories, one) for one in itertools.count(seed))
            sys.exit(0 if is_seen_in_time(SEARCH_SECONDS, attempts) else 'not seen')
        paths = []
        if what == 'index':  # of trees whose nodes move too; their guides need this protocol
            paths = [histories.record(tree, 'veto', 'sound', seed - number)
                     for number, tree in enumerate(histories.names.get('placed', []), 1)]
        for number, (index, protocol) in enumerate(histories.pairs(is_whole, seed)):
            if what == 'index':
                paths.append(histories.record(index, protocol, 'sound', seed + 100 * number))
            else:
                paths.append(histories.path(index, protocol, what))
                record_resp(*rest[:2], what, commands, index, protocol, seed + 100 * number,
                            paths[-1])
        sys.exit(histories.check(paths))


if __name__ == '__main__':
    main()
