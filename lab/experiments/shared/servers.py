"""A server on a Unix socket, the load driver beside it, and what is seen of both every second."""
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time

import redis

import tree

READY = 'ready to accept connections'
MIB = 1 << 20
PATIENCE = 300  # seconds a driver may take beyond what it was asked for


class Trouble(Exception):
    """One line for the person who measures."""


class Lacking(Trouble):
    """Something that this machine, or its user, does not have: nothing was found out."""




def end(process):
    """Ends a process, by force when it does not go."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def launch(command, **more):
    # In a session of its own: an interrupt from the terminal ends this program first, which then
    # ends the others in their order.
    try:
        return subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL,
                                text=True, start_new_session=True, **more)
    except OSError as error:
        raise Trouble(f'{command[0]}: {error.strerror}') from None


def resident_bytes(process):
    with open(f'/proc/{process.pid}/statm') as file:
        return int(file.read().split()[1]) * os.sysconf('SC_PAGE_SIZE')


def spent(process):
    """Returns the major faults and the processor seconds of a process since its start."""
    with open(f'/proc/{process.pid}/stat') as file:
        fields = file.read().rpartition(')')[2].split()
    ticks = os.sysconf('SC_CLK_TCK')
    return int(fields[9]), (int(fields[11]) + int(fields[12])) / ticks


class Server:
    """One that says when it is ready, and speaks Redis' protocol."""

    def __init__(self, process, path):
        self.process = process
        self.address = f'unix:{path}'
        self.said = []
        self.await_readiness(path)
        # A server that says more must never wait for its reader.
        threading.Thread(target=self.said.extend, args=(process.stdout,), daemon=True).start()
        self.client = redis.Redis(unix_socket_path=str(path), socket_timeout=PATIENCE)

    def await_readiness(self, path):
        for line in self.process.stdout:
            self.said.append(line.strip())
            if READY in line.lower():
                return
        raise Trouble(f'the server did not start: {" / ".join(self.said[-3:])}')

    def is_alive(self):
        return self.process.poll() is None

    def resident_bytes(self):
        return resident_bytes(self.process)

    def stats(self):
        """The texts of ISOTHERM STATS, by name."""
        said = self.client.execute_command('ISOTHERM', 'STATS')
        return {name.decode(): value for name, value in zip(said[::2], said[1::2])}

    def spent(self):
        """Major faults and processor seconds since its start."""
        return spent(self.process)


class Memcached(Server):
    """Says nothing: it is ready when its socket answers."""

    def await_readiness(self, path):
        self.address = f'memcached:unix:{path}'
        while self.is_alive():
            with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
                probe.connect(str(path))
                return
            time.sleep(0.01)
        raise Trouble(f'memcached did not start: {self.process.stdout.read().strip()}')


@contextlib.contextmanager
def serving(command, path, group=None, kind=Server):
    """The server of `command`, which listens on `path`, from its start in the control group that
    the file `group` takes processes for."""
    if group:
        command = ['sh', '-c', 'echo $$ > "$0" && exec "$@"', group, *command]
    process = launch(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        yield kind(process, path)
    finally:
        end(process)


def redis_command(folder):
    return ['redis-server', '--port', 0, '--unixsocket', folder / 'socket', '--save', '',
            '--appendonly', 'no', '--dir', folder]


def extstore_command(folder, limit, size, *flags):
    """memcached with values in a file of `size` bytes, under a limit of memory. Values go to the
    file at once (ext_item_age): with the default a load at full speed is faster than its writer,
    and a third of the records is evicted. The page cache keeps those that are used."""
    return ['memcached', '-u', 'root', '-s', folder / 'socket', '-t', 2, '-m', limit // MIB, '-o',
            f'ext_path={folder / "values"}:{-(-size // (64 * MIB)) * 64}m,ext_item_age=0,'
            'ext_max_sleep=1000', *flags]


def isotherm_command(folder, tool, flags):
    return [tool, 'serve', '--port', -1, '--unixsocket', folder / 'socket', *flags]


def driver_command(tool, server, report, flags):
    return [tool, 'bench', 'ycsb', '--connect', server.address, '--json', report,
            *flags]


def drive(commands, each_second, seconds):
    """Runs drivers side by side until all have ended. The errors of those that failed."""
    with contextlib.ExitStack() as stack:
        drivers = []
        for command in commands:
            drivers.append(launch(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE))
            stack.callback(end, drivers[-1])
        watch(drivers, each_second, time.monotonic() + seconds + PATIENCE)
        return [driver.stderr.read().strip() for driver in drivers if driver.returncode]


def watch(processes, each_second, latest):
    due = time.monotonic()
    for process in processes:
        while process.poll() is None:
            try:
                process.wait(max(0, due - time.monotonic()))
            except subprocess.TimeoutExpired:
                each_second()
                due = max(due + 1, time.monotonic())
            if time.monotonic() > latest:
                process.kill()


def reports(paths):
    """The objects of the drivers that wrote one."""
    return [json.loads(path.read_text()) for path in paths if path.exists()]


def seconds_of(report, start):
    """Returns the throughput and the latencies that the driver saw in each of its windows; `start`:
    the time when it began."""
    return [{'at': round(start + window['at_seconds'], 2),
             'throughput': round(window['operations'] / window['seconds']),
             **{share: window['latency_us'][share] for share in ('p50', 'p90', 'p99', 'p999')}}
            for window in report['windows'] if window['seconds'] > 0 and window['latency_us']]


class Line:
    """Progress on a terminal, nothing elsewhere."""

    def __init__(self):
        self.is_shown = sys.stderr.isatty()

    def show(self, text):
        if self.is_shown:
            print(f'\r\033[K{text}', end='', file=sys.stderr, flush=True)


def end_on_signals():
    """SIGTERM unwinds as SIGINT does, so that nothing is left behind."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))


def check_tool(tool):
    if not os.access(tool, os.X_OK):
        raise Trouble(f'{tool} is not there: build it (make build) or name it (--tool)')


def run_main(name, main):
    """Runs `main` with trouble as one line and the exit status."""
    end_on_signals()
    try:
        main()
    except Lacking as trouble:
        print(f'{name}: {trouble}', file=sys.stderr)
        sys.exit(tree.STATUS_LACKING)
    except (Trouble, redis.RedisError) as trouble:
        sys.exit(f'{name}: {trouble}')
    except KeyboardInterrupt:
        sys.exit(130)
