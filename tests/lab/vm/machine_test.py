#!/usr/bin/env python3
"""lab/vm/machine.py boots a kernel, brings back what its command leaves, and leaves nothing behind.

    machine_test.py ROOT quick     what needs no machine
    machine_test.py ROOT nightly   boots the kernel of `make lab`, which has to be there
"""
import os
import pathlib
import select
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT, PART = sys.argv[1:]
MACHINE = [sys.executable, '-B', f'{ROOT}/lab/vm/machine.py']
SMALL = ['--memory', '96M,96M']
PATIENCE = 900  # seconds; a boot takes 5 to 60, and minutes where the processors are busy

sys.path.insert(0, f'{ROOT}/lab/vm')
sys.dont_write_bytecode = True
import initrd  # noqa: E402
import machine  # noqa: E402


def run(*words, **more):
    return subprocess.run([*MACHINE, *map(str, words)], capture_output=True, text=True,
                          timeout=PATIENCE, check=False, **more)


def children_of(process):
    return {int(path.name) for path in pathlib.Path('/proc').iterdir()
            if path.name.isdecimal() and parent_of(path) == process}


def parent_of(folder):
    try:
        return int((folder / 'stat').read_text().rpartition(')')[2].split()[1])
    except OSError:
        return None


class Quick(unittest.TestCase):
    def test_files_and_folders_are_in_the_archive(self):
        made = initrd.Initrd()
        made.add('/a/b/file', b'content', 0o755)
        made.add('/a/odd', b'x' * 4097)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, 'archive')
            with open(path, 'wb') as file:
                made.write(file)
            with open(path, 'rb') as file:
                subprocess.run([initrd.busybox(), 'cpio', '-id'], stdin=file, cwd=folder,
                               check=True, capture_output=True)
            self.assertEqual(pathlib.Path(folder, 'a/b/file').read_bytes(), b'content')
            self.assertTrue(os.access(pathlib.Path(folder, 'a/b/file'), os.X_OK))
            self.assertEqual(pathlib.Path(folder, 'a/odd').read_bytes(), b'x' * 4097)

    def test_a_program_brings_its_libraries(self):
        made = initrd.Initrd()
        made.add_program(sys.executable, '/bin/python')
        self.assertTrue(any('libc.so' in name for name in made.entries), made.entries.keys())

    def test_a_module_that_is_not_there_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(initrd.Missing, f'no module zram below {folder}'):
                initrd.Initrd().add_module(folder, 'zram')

    def test_nodes_share_the_memory(self):
        words = machine.node_words(machine.Machine(memory=(64 << 20, 128 << 20), processors=3))
        self.assertIn('192M', words)
        self.assertIn('node,nodeid=0,memdev=m0,cpus=0-2', words)
        self.assertIn('node,nodeid=1,memdev=m1,initiator=0', words)

    def test_bad_words_are_refused_in_a_line(self):
        for words, message in (
                (['--memory', '0,1G', 'true'], '0 is no size'),
                (['--memory', '1T', 'true'], '1T is no size'),
                (['--program', '/none', 'true'], '/none is not there'),
                (['--kernel', '/none', 'true'], '/none is not there'),
                ([], 'required: command')):
            done = run(*words)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(message, done.stderr.splitlines()[-1])

    def test_without_a_kernel_it_says_how_to_get_one(self):
        done = run('true', env={**os.environ, 'XDG_CACHE_HOME': '/none'})
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (1, '', 'machine: no kernel in /none/isotherm/vm/boot: '
                          'make lab fetches one\n'))


class Nightly(unittest.TestCase):
    def test_output_files_and_status_come_back(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run('--bring', folder, '--disk', '64M', '--module', 'virtio_blk',
                       f'cat {ROOT}/none 2>&1; cat /sys/devices/virtual/memory_tiering/*/nodelist;'
                       'ls /dev/vda; mkdir $OUT/in; seq 100000 >$OUT/in/numbers; exit 7')
            self.assertEqual(done.returncode, 7, done)
            self.assertEqual(done.stdout.splitlines()[1:], ['0', '1', '/dev/vda'])
            self.assertEqual(pathlib.Path(folder, 'in/numbers').read_text().split(),
                             [str(number) for number in range(1, 100001)])

    def test_a_panic_is_told_with_the_end_of_the_console(self):
        with tempfile.TemporaryDirectory() as folder:
            console = pathlib.Path(folder, 'console')
            done = run(*SMALL, '--console', console, 'echo c >/proc/sysrq-trigger')
            self.assertEqual(done.returncode, 1, done)
            self.assertIn('machine: the machine stopped before the command had ended', done.stderr)
            self.assertIn('sysrq', done.stderr)
            self.assertIn('Kernel panic', console.read_text())

    def test_a_command_that_takes_too_long_is_ended(self):
        done = run(*SMALL, '--timeout', 1, 'sleep 1000')
        self.assertEqual(done.returncode, 1)
        self.assertIn('machine: not ended after 1 seconds', done.stderr)

    def test_nothing_outlives_a_killed_program(self):
        for how in (signal.SIGINT, signal.SIGKILL):
            with tempfile.TemporaryDirectory() as folder:
                program = subprocess.Popen([*MACHINE, *SMALL, 'echo up; sleep 1000'],
                                           stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                                           env={**os.environ, 'TMPDIR': folder})
                self.assertEqual(program.stdout.readline(), b'up\n')
                children = children_of(program.pid)
                self.assertEqual(len(children), 1)
                emulator = os.pidfd_open(children.pop())
                program.send_signal(how)
                program.wait(PATIENCE)
                program.stdout.close()
                # The descriptor of a process is readable when that has ended.
                self.assertTrue(wait_readable(emulator))
                os.close(emulator)
                self.assertEqual(os.listdir(folder), [])


def wait_readable(descriptor):
    return bool(select.select([descriptor], [], [], PATIENCE)[0])


if __name__ == '__main__':
    unittest.main(argv=[sys.argv[0]],
                  defaultTest={'quick': 'Quick', 'nightly': 'Nightly'}[PART])
