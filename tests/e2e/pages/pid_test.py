"""isotherm pages --pid as a user runs it: a process of known touched pages, and processes that
cannot be observed.

    pid_test.py ISOTHERM
"""
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
PAGE = 4096
# Holds 64 MiB in pages of 4 KiB, says so, and uses half of the pages again and again: more than a
# TLB holds, since the bits of pages that stay in it are not set again.
KNOWN = """
import mmap
held = mmap.mmap(-1, 64 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
held.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, len(held), 4096): held[at] = 1
used = range(0, len(held), 2 * 4096)
for at in used: held[at]
print('ready', flush=True)
while True:
    for at in used: held[at]
"""


def pages(*words, **more):
    return subprocess.run([TOOL, 'pages', *map(str, words)], capture_output=True, text=True,
                          timeout=120, check=False, **more)


def wait_until_opened(tool):
    """The tool catches signals before it opens the process that it observes."""
    def opened():
        folder = f'/proc/{tool.pid}/fd'
        try:
            return any('pidfd' in os.readlink(f'{folder}/{each}') for each in os.listdir(folder))
        except OSError:  # a descriptor that was closed meanwhile
            return False
    while tool.poll() is None and not opened():
        pass


class KnownProgram:
    def __enter__(self):
        self.process = subprocess.Popen([sys.executable, '-c', KNOWN], stdout=subprocess.PIPE)
        assert self.process.stdout.readline() == b'ready\n'
        return self.process

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Observed(unittest.TestCase):
    def test_a_process_of_known_pages(self):
        with KnownProgram() as process, tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, 'found.json')
            # Each window has to see a whole pass over the pages, on a busy machine too.
            run = pages('--pid', process.pid, '--window', '10s', '--windows', 2, '--json', file)
            self.assertEqual((run.returncode, run.stderr), (0, ''))
            self.assertIn('whole pages', run.stdout)
            self.assertIn('Clearing the marks', run.stdout)
            self.assertIsNone(process.poll(), 'the process goes on')
            found = json.loads(file.read_text(encoding='utf-8'))
        self.assertEqual((found['grain'], len(found['windows'])), ('page', 2))
        for window in found['windows']:
            self.assertTrue(window['knows_resident'])
            self.assertIsNone(window['pages_of_2_mib'])
            of_all = window['all']
            # The interpreter uses some MiB beside them, in every page of which it may write.
            self.assertGreaterEqual(of_all['touched_bytes'], 8192 * PAGE)
            self.assertGreaterEqual(of_all['could_leave_bytes'], 8192 * PAGE)
            self.assertEqual(of_all['resident_bytes'],
                             of_all['untouched_bytes'] + of_all['touched_bytes'])

    def test_ctrl_c_reports_the_window_until_then(self):
        with KnownProgram() as process:
            tool = subprocess.Popen([TOOL, 'pages', '--pid', str(process.pid), '--json', '-'],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            wait_until_opened(tool)
            tool.send_signal(signal.SIGINT)
            out, _ = tool.communicate(timeout=60)
            self.assertEqual(tool.returncode, 0)
            self.assertEqual(len(json.loads(out)['windows']), 1)


class Refused(unittest.TestCase):
    def one_line(self, run, status, named):
        self.assertEqual((run.returncode, run.stdout), (status, ''))
        self.assertEqual(run.stderr.count('\n'), 1, run.stderr)
        self.assertIn(named, run.stderr)

    def test_processes_that_cannot_be_observed(self):
        ended = subprocess.Popen(['true'])
        ended.wait()
        self.one_line(pages('--pid', ended.pid), 1, f'there is no process {ended.pid}')
        zombie = subprocess.Popen(['true'])
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        self.one_line(pages('--pid', zombie.pid), 1, f'process {zombie.pid}')
        zombie.wait()
        for words in (('--pid', 0), ('--pid', -1), ('--pid', 'x'), ('--pid', 2**31)):
            self.one_line(pages(*words), 2, '--pid')
        self.one_line(pages('--pid', os.getpid(), '--trace', 'x'), 2, 'name one of')
        for picture in ('--picture', '--heat-map'):
            run = pages('--pid', os.getpid(), picture, 'never.svg')
            self.one_line(run, 2, '--pid sees whole pages')
            self.assertFalse(pathlib.Path('never.svg').exists())
        self.one_line(pages('--pid', os.getpid(), '--window', 100), 1, 'does not count accesses')

    def test_a_thread_of_the_kernel(self):
        if pathlib.Path('/proc/2/comm').read_text(encoding='ascii') != 'kthreadd\n':
            return  # a container does not see it
        self.one_line(pages('--pid', 2), 1, 'thread of the kernel')

    def test_a_process_of_another_user(self):
        if os.getuid() != 0:
            self.one_line(pages('--pid', 1), 1, 'may not be observed')
            return
        with KnownProgram() as process:
            def nobody():
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)
            with tempfile.TemporaryDirectory() as folder:
                os.chmod(folder, 0o755)
                tool = pathlib.Path(folder, 'isotherm')
                tool.write_bytes(pathlib.Path(TOOL).read_bytes())
                tool.chmod(0o755)
                run = subprocess.run([tool, 'pages', '--pid', str(process.pid)],
                                     capture_output=True, text=True, timeout=60, check=False,
                                     preexec_fn=nobody, cwd='/')
            self.one_line(run, 1, 'may not be observed')

    def test_one_that_ends_meanwhile(self):
        with KnownProgram() as process:
            tool = subprocess.Popen([TOOL, 'pages', '--pid', str(process.pid)],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            wait_until_opened(tool)
            process.kill()
            out, said = tool.communicate(timeout=60)
            self.assertEqual((tool.returncode, out), (1, ''))
            self.assertEqual(said.count('\n'), 1, said)


if __name__ == '__main__':
    unittest.main(verbosity=1)
