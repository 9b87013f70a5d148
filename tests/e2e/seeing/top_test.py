#!/usr/bin/env python3
"""isotherm top on a pseudo-terminal, as on ssh: draws, resizes, quits, and says what is wrong.

    top_test.py ISOTHERM
"""

import fcntl
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from serve_process import PATIENCE, Raw, start_ours, start_redis  # noqa: E402

TOOL = sys.argv.pop(1)
ENTERED, LEFT = '\033[?1049h', '\033[?1049l'


def environment(**more):
    kept = {name: value for name, value in os.environ.items()
            if name not in ('NO_COLOR', 'REDISCLI_AUTH', 'LC_ALL')}
    return {**kept, 'TERM': 'xterm-256color', 'LC_ALL': 'C.UTF-8', **more}


def try_once(*words, **more):
    return subprocess.run([TOOL, 'top', '--once', *map(str, words)], capture_output=True, text=True,
                          timeout=PATIENCE, check=False, env=environment(**more))


def once(*words, **more):
    """Tries again where the server of a busy machine takes longer than the tool waits for it."""
    for _ in range(20):
        said = try_once(*words, **more)
        if 'did not answer' not in said.stderr:
            break
    return said


class Screen:
    """A program on a terminal of its own, and all that it wrote there."""

    def __init__(self, *words, columns=100, rows=30, **more):
        self.primary, self.terminal = pty.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.terminal)
        self.process = subprocess.Popen([TOOL, 'top', *map(str, words)], stdin=self.terminal,
                                        stdout=self.terminal, stderr=subprocess.PIPE,
                                        env=environment(**more), start_new_session=True)
        self.text = ''

    def resize(self, columns, rows):
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))

    def read_until(self, found):
        """Until found(text since the last call) holds; the text."""
        deadline = time.monotonic() + PATIENCE
        begin = len(self.text)
        while not found(self.text[begin:]):
            if time.monotonic() > deadline or self.process.poll() is not None:
                raise AssertionError('never seen: ' + repr(self.text[begin:][-3000:]))
            self.read_some()
        return self.text[begin:]

    def read_some(self):
        if select.select([self.primary], [], [], 0.1)[0]:
            self.text += os.read(self.primary, 65536).decode('utf-8', 'replace')

    def type(self, keys):
        os.write(self.primary, keys.encode())

    def end(self):
        """(exit status, what standard error got); the rest of the screen is read."""
        # A terminal whose buffer is full would hold the program up.
        deadline = time.monotonic() + PATIENCE
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read_some()
        error = self.process.stderr.read().decode()
        self.process.stderr.close()
        while select.select([self.primary], [], [], 0)[0]:
            self.read_some()
        return self.process.returncode, error

    def is_restored(self):
        """The modes are those of before, and the first screen is shown again."""
        return (termios.tcgetattr(self.terminal) == self.before
                and self.text.rfind(LEFT) > self.text.rfind(ENTERED))

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        os.close(self.primary)
        os.close(self.terminal)


def frames_in(text):
    """Whole frames: each begins at the upper left corner, and is whole when the next one begins."""
    return re.findall(r'\033\[H(.*?)(?=\033\[H)', text, re.DOTALL)


def lines_of(frame):
    # The terminal puts a carriage return of its own before each end of a line.
    return re.split('\r+\n', re.sub(r'\033\[[0-9;?]*[a-zA-Z]', '', frame))


class Top(unittest.TestCase):
    def setUp(self):
        self.server = start_ours(TOOL, 'hash-pugh', '--window', '0.1')
        self.addCleanup(self.server.stop)

    def screen(self, *words, **more):
        made = Screen(*words, '--interval', 0.05, **more)
        self.addCleanup(made.close)
        return made

    def test_draws_what_the_server_says(self):
        client = Raw(self.server.path)
        for number in range(200):
            client.ask('SET', f'key{number}', 'x' * 1000)
        screen = self.screen(self.server.path)
        text = screen.read_until(lambda t: len(frames_in(t)) > 2 and ' 200 keys' in t)
        lines = lines_of(frames_in(text)[-1])
        self.assertIn('hash-pugh  manage on', lines[0])
        for label in ('DRAM', 'throughput', 'replies', 'utilization', 'promotion', 'kept',
                      'misses'):
            self.assertTrue(any(line.startswith(label) for line in lines), label)
        for heap in ('NEW', 'HOT', 'COLD', 'NODE'):
            self.assertIn(heap, '\n'.join(lines))
        self.assertIn('▀', text)
        self.assertIn('\033[38;5;', text)
        client.close()

    def test_follows_the_size_of_the_window(self):
        screen = self.screen(self.server.path, columns=100, rows=30)
        screen.read_until(frames_in)
        for columns, rows in ((60, 20), (140, 40), (20, 5)):
            screen.resize(columns, rows)
            os.killpg(screen.process.pid, signal.SIGWINCH)

            def fits(text, columns=columns, rows=rows):
                frames = [lines_of(frame) for frame in frames_in(text)]
                full = rows if columns > 40 else 1
                return frames and len(frames[-1]) == full and max(map(len, frames[-1])) <= columns
            screen.read_until(fits)

    def test_quits_and_restores_the_terminal(self):
        for how in ('q', '\x03', signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with self.subTest(how=how):
                screen = self.screen(self.server.path)
                screen.read_until(frames_in)
                if isinstance(how, str):
                    screen.type(how)
                else:
                    screen.process.send_signal(how)
                self.assertEqual(screen.end(), (0, ''))
                self.assertTrue(screen.is_restored())

    def test_keys_that_send_sequences_are_no_letters(self):
        screen = self.screen(self.server.path)
        for keys in ('\033OQ', '\033[13~', '\033q', '\033', '\033['):
            screen.type(keys)
            screen.read_until(lambda text: len(frames_in(text)) > 1)
        screen.type('\033[Aq')
        self.assertEqual(screen.end(), (0, ''))

    def test_clears_no_line_that_it_has_written(self):
        text = self.screen(self.server.path).read_until(lambda seen: len(frames_in(seen)) > 1)
        self.assertIn('\033[K', text)
        # In a line as wide as the window the last character would go.
        self.assertNotRegex(text, r'[^\nH]\033\[[KJ]')

    def test_tells_that_the_server_went_away(self):
        screen = self.screen(self.server.path)
        screen.read_until(frames_in)
        self.server.stop()
        status, error = screen.end()
        self.assertEqual(status, 1)
        self.assertRegex(error, r'\Aisotherm: .*connection.*\n\Z')
        self.assertTrue(screen.is_restored())

    def test_colours_and_blocks_are_the_terminals_choice(self):
        screen = self.screen(self.server.path, NO_COLOR='1')
        text = screen.read_until(frames_in)
        self.assertNotIn('38;5;', text)
        self.assertIn('·', text + screen.read_until(lambda t: '█' in t or '▀' in t or '▁' in t))
        dumb = self.screen(self.server.path, TERM='dumb')
        frame = frames_in(dumb.read_until(frames_in))[-1]
        self.assertTrue(''.join(lines_of(frame)).isascii())
        plain = once(self.server.path, LC_ALL='C')
        self.assertTrue(plain.stdout.isascii())

    def test_prints_one_frame_into_a_pipe(self):
        said = once(self.server.path, COLUMNS='70', LINES='20')
        self.assertEqual((said.returncode, said.stderr), (0, ''))
        self.assertNotIn('\033', said.stdout)
        lines = said.stdout.splitlines()
        self.assertEqual(len(lines), 20)
        self.assertLessEqual(max(map(len, lines)), 70)
        by_port = once(f'127.0.0.1:{self.server.port()}')
        self.assertEqual(by_port.returncode, 0, by_port.stderr)

    def test_needs_a_terminal_or_once(self):
        said = subprocess.run([TOOL, 'top', self.server.path], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(said.returncode, 1)
        self.assertIn('--once', said.stderr)


class Trouble(unittest.TestCase):
    def refused(self, *words, ask=once, **more):
        """The one line that says why."""
        said = ask(*words, **more)
        self.assertNotEqual(said.returncode, 0)
        self.assertEqual(said.stdout, '')
        self.assertEqual(said.stderr.count('\n'), 1, said.stderr)
        return said.stderr

    def test_no_server(self):
        self.assertIn('is the server running?', self.refused('/nowhere/socket'))
        self.assertIn('neither', self.refused('host:port'))

    def test_passwords(self):
        server = start_ours(TOOL, 'hash-pugh', '--requirepass', 'a word, 100%s')
        self.addCleanup(server.stop)
        self.assertIn('REDISCLI_AUTH', self.refused(server.path))
        self.assertIn('refuses the password', self.refused(server.path, REDISCLI_AUTH='other'))
        self.assertIn('REDISCLI_AUTH', self.refused(server.path, '--user', 'default'))
        good = {'REDISCLI_AUTH': 'a word, 100%s'}
        for words in ((), ('--user', 'default')):
            said = once(server.path, *words, **good)
            self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn('refuses', self.refused(server.path, '--user', 'nobody', **good))

    def test_a_server_that_hangs(self):
        server = start_ours(TOOL, 'hash-pugh')
        self.addCleanup(server.stop)
        server.process.send_signal(signal.SIGSTOP)
        try:
            self.assertIn('did not answer', self.refused(server.path, ask=try_once))
        finally:
            server.process.send_signal(signal.SIGCONT)

    def test_a_server_of_another_kind(self):
        redis = start_redis()
        self.addCleanup(redis.stop)
        self.assertIn('none of isotherm serve', self.refused(redis.path))

    def test_without_management(self):
        server = start_ours(TOOL, 'hash-pugh', '--manage', 'off')
        self.addCleanup(server.stop)
        said = once(server.path)
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn('--manage off', said.stdout)


if __name__ == '__main__':
    unittest.main(verbosity=1)
