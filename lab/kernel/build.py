#!/usr/bin/env python3
"""Builds a Linux kernel of Debian's source with the patches of series/.

    lab/kernel/build.py             build/kernel/release/bzImage, for measuring
    lab/kernel/build.py --debug     build/kernel/debug/bzImage, with lockdep and KASAN

Fetches the source with apt-get (150 MB) and unpacks it below --folder (2 GB); needs no privileges.
A build takes minutes on two processors, and what is there already is not built again.
"""
import argparse
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

LAB = pathlib.Path(__file__).resolve().parent
FOLDER = LAB.parents[1] / 'build/kernel'
PACKAGE = 'linux-source-6.12'
CONFIGS = {'release': ['config'], 'debug': ['config', 'debug.config']}
TOOLS = {'apt-get': 'apt', 'dpkg-deb': 'dpkg', 'tar': 'tar', 'xz': 'xz-utils', 'patch': 'patch',
         'make': 'make', 'gcc': 'gcc', 'flex': 'flex', 'bison': 'bison', 'bc': 'bc'}


class Trouble(Exception):
    """One line that says what failed and what to do."""


def require_tools():
    absent = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if not pathlib.Path('/usr/include/libelf.h').exists():
        absent.append('libelf-dev')
    if absent:
        raise Trouble(f'install first: apt-get install {" ".join(absent)}')


def call(*command, folder=None, environment=None):
    done = subprocess.run([str(word) for word in command], cwd=folder, check=False,
                          env={**os.environ, **(environment or {})})
    if done.returncode:
        raise Trouble(f'failed, see above: {" ".join(str(word) for word in command)}')


def series():
    """Returns the paths of the patches, in the order in which they apply."""
    return sorted((LAB / 'series').glob('*.patch'))


def fetch(folder):
    """Unpacks the kernel's source below `folder`, and returns where it stands."""
    packed = folder / 'package'
    shutil.rmtree(packed, ignore_errors=True)
    packed.mkdir(parents=True)
    call('apt-get', '-q', 'download', PACKAGE, folder=packed)
    call('dpkg-deb', '-x', next(packed.glob('*.deb')), packed)
    call('tar', '-C', folder, '-xf', packed / f'usr/src/{PACKAGE}.tar.xz')
    shutil.rmtree(packed)
    return folder / PACKAGE


def patched_source(folder):
    """Returns the source with the whole series applied; fetches it anew if the series changed."""
    digest = hashlib.sha256(b''.join(path.read_bytes() for path in series())).hexdigest()
    mark = folder / 'applied'
    if mark.exists() and mark.read_text(encoding='utf-8') == digest:
        return folder / PACKAGE
    mark.unlink(missing_ok=True)
    shutil.rmtree(folder / PACKAGE, ignore_errors=True)
    source = fetch(folder)
    for path in series():
        call('patch', '-p1', '-F0', '--silent', '--no-backup-if-mismatch', '-i', path,
             folder=source)
    mark.write_text(digest, encoding='utf-8')
    return source


def wanted(kind):
    """Returns the settings of a configuration by symbol; later files win."""
    lines = [line for name in CONFIGS[kind]
             for line in (LAB / name).read_text(encoding='utf-8').splitlines()
             if line.startswith('CONFIG_')]
    return dict(line.split('=', 1) for line in lines)


def configure(source, kind, output):
    """Writes output/.config; an option whose dependencies are not met is an error."""
    output.mkdir(parents=True, exist_ok=True)
    settings = wanted(kind)
    (output / 'wanted').write_text(''.join(f'{name}={value}\n' for name, value in settings.items()),
                                   encoding='utf-8')
    call('make', '-s', f'O={output}', 'allnoconfig', folder=source,
         environment={'KCONFIG_ALLCONFIG': str(output / 'wanted')})
    given = set((output / '.config').read_text(encoding='utf-8').splitlines())
    absent = [name for name, value in settings.items()
              if value == 'y' and f'{name}=y' not in given]
    if absent:
        raise Trouble(f'the kernel does not take these options: {" ".join(absent)}')


def build(folder, kind, jobs):
    """Returns the path of the kernel's image."""
    require_tools()
    source = patched_source(folder)
    output = folder / f'objects-{kind}'
    configure(source, kind, output)
    call('make', '-s', f'O={output}', f'-j{jobs}', 'bzImage', folder=source)
    image = folder / kind / 'bzImage'
    image.parent.mkdir(exist_ok=True)
    shutil.copyfile(output / 'arch/x86/boot/bzImage', image)
    return image


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n', maxsplit=1)[0])
    parser.add_argument('--debug', action='store_const', dest='kind', const='debug',
                        default='release', help='with lockdep and KASAN')
    parser.add_argument('--folder', type=pathlib.Path, default=FOLDER,
                        help='where sources, objects and images go (build/kernel)')
    parser.add_argument('--jobs', type=int, default=os.cpu_count())
    options = parser.parse_args()
    print(build(options.folder.resolve(), options.kind, options.jobs))


if __name__ == '__main__':
    try:
        main()
    except Trouble as trouble:
        sys.exit(f'build: {trouble}')
    except KeyboardInterrupt:
        sys.exit(130)
