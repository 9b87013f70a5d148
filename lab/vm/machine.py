#!/usr/bin/env python3
"""A virtual machine with memory nodes: boots a kernel, runs a command, brings back its files.

    lab/vm/machine.py 'cat /sys/devices/virtual/memory_tiering/*/nodelist'
    lab/vm/machine.py --program build/release/bin/isotherm --bring out \\
        'isotherm bench ycsb --keys 10000 --seconds 5 --json $OUT/ycsb.json'

The command is a shell script (busybox) in an empty /tmp. Its output is printed as it comes; files
that it leaves in $OUT come back to the folder --bring; its exit status is this program's. The
machine has a node of memory for each size of --memory. Processors belong to the first; the others
are slower tiers, as its firmware says (HMAT).

QEMU emulates a processor where the hardware does not virtualize one: counters and placement are
the kernel's own then, but times mean nothing. Nothing is left behind, however this program ends:
all its files are unlinked from their start, and the kernel ends QEMU with it.
"""
import argparse
import dataclasses
import io
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

from initrd import Initrd, Missing, busybox

MIB = 1 << 20
UNITS = {'K': 1 << 10, 'M': MIB, 'G': 1 << 30}
FOLDER = pathlib.Path(__file__).resolve().parent
# `scripts/bootstrap lab` unpacks the distribution's kernel there.
STOCK = pathlib.Path(os.environ.get('XDG_CACHE_HOME', '~/.cache')).expanduser() / 'isotherm/vm'
LATENCY_NS = (80, 250)  # of the first node, of each other
BANDWIDTH = ('100G', '30G')
PATIENCE = 900  # seconds; an emulated boot takes minutes where the processors are busy
LOOK_SECONDS = 0.1
COMPLAINT = re.compile('BUG:|Oops|Kernel panic|WARNING:')


class Trouble(Exception):
    """The machine did not do as it was asked to: a line, and lines of its console below."""

    def __init__(self, text, console):
        super().__init__(text)
        self.console = console  # all that it has said


@dataclasses.dataclass(frozen=True)
class Machine:
    """The hardware and the kernel. `modules` are loaded in their order, and stand below the folder
    `module_folder`. Disks are empty (virtio: /dev/vda, ...), sizes in bytes."""
    memory: tuple = (256 * MIB, 1024 * MIB)
    processors: int = 2
    kernel: pathlib.Path | None = None  # a bzImage; None: the stock one
    modules: tuple = ()
    module_folder: pathlib.Path = STOCK / 'lib/modules'
    disks: tuple = ()
    arguments: str = ''                 # more words of the kernel's command line


@dataclasses.dataclass(frozen=True)
class Ended:
    """The exit status of the command, its output, the files of $OUT by name, and all that the
    kernel has said."""
    status: int
    output: str
    files: dict
    console: str


def stock_kernel():
    """Returns the newest kernel that was unpacked for the lab."""
    found = sorted((STOCK / 'boot').glob('vmlinuz-*'))
    if not found:
        raise Missing(f'no kernel in {STOCK}/boot: make lab fetches one')
    return found[-1]


def accelerator():
    """Returns the words that choose between the hardware's virtualization and emulation.

    A /dev/kvm alone does not tell: nested hypervisors offer one that cannot run a stock kernel,
    and hide the processor's flag."""
    flags = pathlib.Path('/proc/cpuinfo').read_text(encoding='utf-8').split()
    if os.access('/dev/kvm', os.R_OK | os.W_OK) and {'vmx', 'svm'} & set(flags):
        return ['-accel', 'kvm', '-cpu', 'host']
    return ['-accel', 'tcg,thread=multi', '-cpu', 'max']


def node_words(machine):
    """Returns QEMU's words for nodes of memory and for the table that makes tiers of them."""
    # A package each: SeaBIOS lists one processor of a package for kernels without ACPI.
    words = ['-m', f'{sum(machine.memory) // MIB}M',
             '-smp', f'{machine.processors},sockets={machine.processors}']
    for node, size in enumerate(machine.memory):
        kind = f'cpus=0-{machine.processors - 1}' if node == 0 else 'initiator=0'
        words += ['-object', f'memory-backend-ram,id=m{node},size={size}',
                  '-numa', f'node,nodeid={node},memdev=m{node},{kind}']
    for node in range(len(machine.memory)):
        table = f'hmat-lb,initiator=0,target={node},hierarchy=memory,data-type=access'
        words += ['-numa', f'{table}-latency,latency={LATENCY_NS[node > 0]}',
                  '-numa', f'{table}-bandwidth,bandwidth={BANDWIDTH[node > 0]}']
    return words


def make_initrd(machine, script, programs, files):
    """Returns an unlinked file with all that the machine starts with."""
    initrd = Initrd()
    initrd.add_program(busybox(), '/bin/busybox')
    initrd.add('/init', (FOLDER / 'init.sh').read_bytes(), 0o755)
    initrd.add('/command', script.encode())
    order = [initrd.add_module(machine.module_folder, name) for name in machine.modules]
    initrd.add('/modules/order', ''.join(f'{path}\n' for path in order).encode())
    for program in programs:
        initrd.add_program(program, f'/bin/{pathlib.Path(program).name}')
    for name, content in files.items():
        initrd.add(name, content, 0o755)
    file = tempfile.TemporaryFile()
    initrd.write(file)
    return file


class Running:
    """QEMU, and the unlinked files that it shares with this program."""

    def __init__(self, machine, initrd):
        kernel = machine.kernel or stock_kernel()
        self.lines = [tempfile.TemporaryFile() for _ in range(3)]
        self.disks = [tempfile.TemporaryFile(dir='/var/tmp') for _ in machine.disks]
        for disk, size in zip(self.disks, machine.disks):
            disk.truncate(size)
        arguments = f'console=ttyS0 quiet panic=-1 psi=1 {machine.arguments}'
        command = [*accelerator(), '-machine', 'q35,hmat=on', *node_words(machine),
                   '-kernel', kernel, '-initrd', path_of(initrd), '-append', arguments,
                   '-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot']
        for line in self.lines:
            command += ['-serial', f'file:{path_of(line)}']
        for disk in self.disks:
            command += ['-drive', f'file={path_of(disk)},format=raw,if=virtio,cache=unsafe,'
                                  'file.locking=off']
        self.process = start(command, [initrd, *self.lines, *self.disks])

    def read(self, line, begin=0):
        """Returns the bytes that a serial line has carried since its byte `begin`."""
        number = self.lines[line].fileno()
        return os.pread(number, os.fstat(number).st_size - begin, begin)

    def end(self):
        self.process.kill()
        self.process.wait()


def path_of(file):
    return f'/proc/self/fd/{file.fileno()}'


def start(command, files):
    """Starts QEMU at low priority, apart from the terminal's signals; it ends with this thread."""
    program = shutil.which('qemu-system-x86_64')
    if not program:
        raise Missing('no qemu-system-x86_64 here: apt-get install qemu-system-x86 (make lab does)')
    words = ['setpriv', '--pdeathsig', 'KILL', 'nice', '-n', '10', program, *command]
    return subprocess.Popen([str(word) for word in words], stdin=subprocess.DEVNULL,
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                            start_new_session=True, pass_fds=[file.fileno() for file in files])


def await_end(running, timeout, watch):
    """Passes the command's output on as it comes, until QEMU ends; False if it took too long."""
    latest, passed = time.monotonic() + timeout, 0
    while True:
        has_ended = running.process.poll() is not None
        more = running.read(1, passed)
        passed += len(more)
        if more:
            watch(more)
        if has_ended or time.monotonic() > latest:
            return has_ended
        time.sleep(LOOK_SECONDS)


def files_of(running):
    """Returns the files of $OUT by name, or None where the archive did not come whole."""
    try:
        with tarfile.open(fileobj=io.BytesIO(running.read(2)), mode='r:gz') as archive:
            return {member.name.removeprefix('./'): archive.extractfile(member).read()
                    for member in archive if member.isfile()}
    except (tarfile.TarError, EOFError, OSError):
        return None


def lines_of(text, count=12):
    """Returns the last lines, or those from a kernel's first complaint on."""
    lines = text.strip().splitlines()
    begins = (number for number, line in enumerate(lines) if COMPLAINT.search(line))
    first = next(begins, max(0, len(lines) - count))
    return '\n'.join(lines[first:first + count])


def run(machine, script, *, programs=(), files=None, timeout=PATIENCE, watch=lambda data: None):
    """Boots `machine`, runs the shell script `script` in it, and returns how that ended.

    `programs` are paths of executables, found by their names in the machine; `files` are contents
    by absolute name. `watch` is called with bytes of the command's output. Requires: the calling
    thread lives until the call returns. Raises Missing, and Trouble where the machine stopped
    before the command did, or ran for more than `timeout` seconds."""
    running = Running(machine, make_initrd(machine, script, programs, files or {}))
    try:
        has_ended = await_end(running, timeout, watch)
    finally:
        running.end()
    output, console = (running.read(line).decode(errors='replace') for line in (1, 0))
    console += running.process.stderr.read().decode(errors='replace')
    if not has_ended:
        raise Trouble(f'not ended after {timeout:.0f} seconds; its last output:\n' +
                      lines_of(output or console), console)
    brought = files_of(running)
    if brought is None:
        raise Trouble('the machine stopped before the command had ended:\n' + lines_of(console),
                      console)
    return Ended(int(brought.pop('.status')), output, brought, console)


def bytes_of(text):
    """Returns the bytes that a size of the command line means: 256M, 1G."""
    digits, unit = (text[:-1], UNITS[text[-1]]) if text[-1:] in UNITS else (text, 1)
    if not digits.isdecimal() or int(digits) == 0:
        raise argparse.ArgumentTypeError(f'{text} is no size: write 256M or 1G')
    return int(digits) * unit


def sizes(text):
    return tuple(bytes_of(part) for part in text.split(','))


def parse(words):
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--memory', type=sizes, default=Machine.memory, metavar='SIZE,SIZE',
                        help='nodes of memory, the first with the processors (256M,1G)')
    parser.add_argument('--processors', type=int, default=Machine.processors)
    parser.add_argument('--kernel', type=pathlib.Path, help='a bzImage (the stock one)')
    parser.add_argument('--module', action='append', default=[], metavar='NAME',
                        help='a module of the stock kernel to load, in this order')
    parser.add_argument('--disk', action='append', default=[], type=bytes_of, metavar='SIZE',
                        help='an empty disk')
    parser.add_argument('--arguments', default='', help='more words for the kernel')
    parser.add_argument('--program', action='append', default=[], type=pathlib.Path,
                        help='a program to bring in, with its libraries')
    parser.add_argument('--bring', type=pathlib.Path, metavar='FOLDER',
                        help='where files of $OUT are written')
    parser.add_argument('--console', type=pathlib.Path, metavar='FILE',
                        help='where all that the kernel says is written')
    parser.add_argument('--timeout', type=float, default=PATIENCE, metavar='SECONDS')
    parser.add_argument('command', help='a shell script')
    options = parser.parse_args(words)
    for path in [*options.program, *([options.kernel] if options.kernel else [])]:
        if not path.is_file():
            parser.error(f'{path} is not there')
    return options


def pass_on(data):
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def save_console(options, text):
    if options.console:
        options.console.write_text(text, encoding='utf-8')


def main():
    options = parse(sys.argv[1:])
    machine = Machine(options.memory, options.processors, options.kernel, tuple(options.module),
                      disks=tuple(options.disk), arguments=options.arguments)
    try:
        ended = run(machine, options.command, programs=options.program, timeout=options.timeout,
                    watch=pass_on)
    except Trouble as trouble:
        save_console(options, trouble.console)
        raise
    save_console(options, ended.console)
    if options.bring:
        for name, content in ended.files.items():
            path = options.bring / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
    return ended.status


if __name__ == '__main__':
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sys.exit(main())
    except (Missing, Trouble, OSError) as trouble:
        sys.exit(f'machine: {trouble}')
    except KeyboardInterrupt:
        sys.exit(130)
