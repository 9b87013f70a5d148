"""The first file system of a virtual machine, a cpio archive in the format "newc"."""
import lzma
import os
import pathlib
import re
import shutil
import stat
import subprocess


class Missing(Exception):
    """One line that names something which has to be there and is not, and how to get it."""


def libraries(program):
    """Returns the paths of the shared libraries that `program` loads; none if it is static."""
    done = subprocess.run(['ldd', program], capture_output=True, text=True, check=False)
    absent = re.search(r'(\S+) => not found', done.stdout)
    if absent:
        raise Missing(f'{program}: its library {absent[1]} is not installed')
    return re.findall(r'(/\S+) \(0x', done.stdout)


def busybox():
    """Returns the path of a static busybox: the shell and the tools of the machine."""
    found = shutil.which('busybox')
    if not found or libraries(found):
        raise Missing('no static busybox here: apt-get install busybox-static (make lab does)')
    return found


class Initrd:
    """Files by name, written in the order in which they were added.

    Files take the machine's memory for as long as it runs: large ones leave less to measure in."""

    def __init__(self):
        self.entries = {}  # name -> mode, bytes

    def add_folders(self, name):
        for folder in reversed(pathlib.PurePosixPath(name).parents[:-1]):
            self.entries.setdefault(str(folder), (stat.S_IFDIR | 0o755, b''))

    def add(self, name, content, mode=0o644):
        """Adds a file at the absolute path `name`, and the folders above it."""
        name = name.lstrip('/')
        self.add_folders(name)
        self.entries[name] = stat.S_IFREG | mode, content

    def add_program(self, path, name):
        """Adds a program and its shared libraries."""
        for library in libraries(path):
            self.add(library, pathlib.Path(library).read_bytes(), 0o755)
        self.add(name, pathlib.Path(path).read_bytes(), 0o755)

    def add_module(self, modules, name):
        """Adds the module `name` that stands below the folder `modules`; returns its path there."""
        found = next(iter(sorted(pathlib.Path(modules).rglob(f'{name}.ko*'))), None)
        if not found:
            raise Missing(f'no module {name} below {modules}')
        content = found.read_bytes()
        self.add(f'/modules/{name}.ko', lzma.decompress(content) if found.suffix == '.xz'
                 else content)
        return f'/modules/{name}.ko'

    def write(self, file):
        """Writes the archive to a binary file."""
        for number, (name, (mode, content)) in enumerate(self.entries.items(), 1):
            write_entry(file, number, name, mode, content)
        write_entry(file, 0, 'TRAILER!!!', 0, b'')
        file.flush()


def write_entry(file, number, name, mode, content):
    encoded = os.fsencode(name) + b'\0'
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(encoded), 0)
    header = b'070701' + b''.join(b'%08x' % field for field in fields)
    for part in (header + encoded, content):
        file.write(part + bytes(-len(part) % 4))
