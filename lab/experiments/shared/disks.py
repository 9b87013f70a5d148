"""Disks whose reads take as long as they are told."""
import contextlib
import os
import pathlib
import signal
import subprocess
import tempfile
import time

from servers import Lacking, Trouble, launch

STARTS_WITHIN = 10  # seconds
IMAGE_BYTES = 4 << 30


class Throttled:
    """A control group of either version that reads the disk of a folder so many times a second, for
    a server whose COLD lies there."""

    def __init__(self, folder):
        self.place = folder
        number = os.stat(folder).st_dev
        self.device = f'{os.major(number)}:{os.minor(number)}'
        for mount, name, text in self.candidates():
            self.folder = mount / f'isotherm-misses-{os.getpid()}'
            self.name, self.text = name, text
            with contextlib.suppress(OSError):
                self.folder.mkdir()
                if (self.folder / name).exists():
                    return
                self.folder.rmdir()
        raise Lacking('no control group throttles reads here (blkio or io.max), or not for you: '
                      'it needs root')

    @staticmethod
    def candidates():
        for line in pathlib.Path('/proc/mounts').read_text().splitlines():
            _, mount, kind, options, *_ = line.split()
            mount = pathlib.Path(mount)
            if kind == 'cgroup' and 'blkio' in options.split(','):
                yield mount, 'blkio.throttle.read_iops_device', '{device} {rate}'
            if kind == 'cgroup2':
                with contextlib.suppress(OSError):
                    (mount / 'cgroup.subtree_control').write_text('+io')
                yield mount, 'io.max', '{device} riops={rate}'

    @property
    def processes(self):
        return self.folder / 'cgroup.procs'

    def let_a_read_take(self, milliseconds):
        rate = round(1000 / milliseconds) if milliseconds else 0
        if self.name == 'io.max':
            rate = rate or 'max'
        text = self.text.format(device=self.device, rate=rate)
        try:
            (self.folder / self.name).write_text(text)
        except OSError as error:
            raise Trouble(f'{self.folder / self.name}: {error.strerror} for "{text}": --dir must '
                          'lie on a disk, not on a partition of one') from None

    def close(self):
        self.folder.rmdir()


def run(*words):
    command = [str(word) for word in words]
    try:
        done = subprocess.run(command, check=False, text=True, capture_output=True)
    except OSError as error:
        raise Lacking(f'{command[0]}: {error.strerror}') from None
    if done.returncode != 0:
        raise Lacking(f'{" ".join(command)}: {done.stderr.strip() or "failed"}')
    return done.stdout.strip()


class Emulated:
    """An ext4 file system on a disk whose reads each take so long, however many are under way
    (lab/experiments/shared/emulated_disk.cpp). Its bytes lie in a file of `folder`."""
    processes = None  # a server may run where it likes

    def __init__(self, folder, tool):
        program = pathlib.Path(tool).with_name('emulated_disk')
        if os.geteuid() != 0:
            raise Lacking('an emulated disk is for root: it is mounted')
        with contextlib.ExitStack() as stack:
            base = pathlib.Path(stack.enter_context(
                tempfile.TemporaryDirectory(prefix='isotherm-disk-', dir=folder)))
            image, self.below, self.place = base / 'image', base / 'below', base / 'files'
            self.below.mkdir()
            self.place.mkdir()
            with open(image, 'wb') as file:
                file.truncate(IMAGE_BYTES)
            self.process = launch([program, image, self.below], stderr=subprocess.PIPE)
            stack.callback(self.end)
            self.await_start()
            device = run('losetup', '--find', '--show', '--direct-io=on', self.below / 'disk')
            stack.callback(run, 'losetup', '--detach', device)
            run('mkfs.ext4', '-q', device)
            run('mount', device, self.place)
            stack.callback(run, 'umount', self.place)
            stack.callback(self.answer)  # first: what has been stopped cannot be undone
            self.stack = stack.pop_all()

    def await_start(self):
        patience = time.monotonic() + STARTS_WITHIN
        while not (self.below / 'disk').exists():
            if self.process.poll() is not None or time.monotonic() > patience:
                self.process.kill()
                raise Lacking('the emulated disk did not start: ' +
                              (self.process.stderr.read().strip() or 'no message'))
            time.sleep(0.01)

    def let_a_read_take(self, milliseconds):
        (self.below / 'read_us').write_text(str(round(milliseconds * 1000)))

    def fall_silent(self):
        os.kill(self.process.pid, signal.SIGSTOP)

    def answer(self):
        os.kill(self.process.pid, signal.SIGCONT)

    def end(self):
        if self.process.poll() is None:
            self.process.terminate()  # it undoes its mount
        self.process.wait()

    def close(self):
        self.stack.close()
