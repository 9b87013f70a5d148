"""Two counts of the same windows: isotherm pages of the heaps of isotherm serve from outside, and
its collector from inside."""
import subprocess
import time

import redis

import tree
from servers import PATIENCE, Trouble

HEAPS = ('isotherm-new', 'isotherm-hot', 'isotherm-cold')
PAGE = 4096


FIELDS = (b'window', b'accessed_bytes', b'accessed_pages')


def statistics_of(client):
    said = client.execute_command('ISOTHERM', 'STATS')
    found = dict(zip(said[::2], said[1::2]))
    return {name.decode(): float(found[name]) for name in FIELDS}


def await_window(client, driver):
    """Waits until the collector has ended a window in which requests came; returns its statistics.
    A window that counted nothing (the driver may start late) is left out: the observation's window
    spans it as well, and gains nothing by it."""
    before = statistics_of(client)['window']
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if driver.poll() is not None:
            said = driver.stderr.read().decode().strip()
            raise Trouble('the driver ended: ' + (said.splitlines() or ['it said nothing'])[-1])
        now = statistics_of(client)
        if now['window'] != before and now['accessed_bytes'] > 0:
            return now
        time.sleep(.02)
    raise Trouble('the collector of the observed server ends no window that counts requests')


def compare(window, counted):
    """A row of both counts."""
    heaps = [window['kinds'][name] for name in HEAPS]
    return {'collector_bytes': counted['accessed_bytes'],
            'collector_page_bytes': counted['accessed_pages'] * PAGE,
            'tool_bytes': sum(heap['used_bytes'] for heap in heaps),
            'tool_page_bytes': sum(heap['touched_bytes'] for heap in heaps)}


def count_windows(options, address, path, end_window):
    """The collector's statistics of as many of its windows as asked for, while a driver runs.
    end_window() ends a window of the observation: one ends with each of them."""
    client = redis.Redis(unix_socket_path=str(path), socket_timeout=PATIENCE)
    # Windows may take far longer than they ask for: the driver goes on until it is terminated.
    seconds = PATIENCE * (options.agreement + 2)
    driver = subprocess.Popen(
        [tree.TOOL, 'bench', 'ycsb', '--connect', address, '--workload', 'c', '--keys',
         str(options.keys), '--value-size', str(options.value_size), '--distribution',
         options.distribution, '--threads', '4', '--no-load', '--seconds', str(seconds), '--rate',
         str(options.rate)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        await_window(client, driver)
        end_window()
        counted = []
        for _ in range(options.agreement):
            counted.append(await_window(client, driver))
            end_window()
        return counted
    finally:
        driver.terminate()
        driver.communicate()


def rows_of(windows, counted):
    """Both counts of each window. The observation's last window is of its end."""
    return [compare(*pair) for pair in zip(windows[-len(counted) - 1:], counted)]
