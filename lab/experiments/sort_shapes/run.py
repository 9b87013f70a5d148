#!/usr/bin/env python3
"""isotherm sort beside what people use instead, on inputs of other shapes than 100-byte records.

    lab/experiments/sort_shapes/run.py --dir /var/tmp --rounds 5 --python PYTHON
    lab/experiments/sort_shapes/run.py --dir /var/tmp --only urls

URLs (lines that begin alike), lines of 20,000 kinds with and without --unique, lines that differ at
once, 8-byte integers, klv records of 1 to 100 KB. Lines beside GNU sort (LC_ALL=C, --parallel as
many as there are processors, the same memory), integers beside numpy (of --python: fromfile, sort,
tofile), klv beside ten lines of Python. In turn, from the page cache; nobody waits for the disk.
--save appends a JSON object a run.
"""
import argparse
import os
import pathlib
import random
import statistics
import struct
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import tree  # noqa: E402

NUMPY = "import numpy; a = numpy.fromfile('{source}', '>u8'); a.sort(); a.tofile('{target}')"
KLV = '''
data = open('{source}', 'rb').read()
records = []
at = 0
while at < len(data):
    end = at + 14 + int.from_bytes(data[at + 10:at + 14], 'little')
    records.append(data[at:end])
    at = end
records.sort(key=lambda r: r[:10])
open('{target}', 'wb').writelines(records)
'''


def url(r):
    return (f'https://www.example.com/{r.choice(("news", "shop", "blog", "wiki"))}/'
            f'{r.getrandbits(20):06x}/{r.randrange(10000)}/{r.getrandbits(32):08x}.html\n')


def repeated(r):
    i = r.randrange(20000)
    return f'user-{i:05d}-{"x" * (i % 13)}\n'


def early(r):
    return f'{r.getrandbits(64):016x} {"v" * r.randrange(5, 60)}\n'


def make(kind, path, total):
    r = random.Random(1)
    with open(path, 'wb') as file:
        if kind == 'integers':
            file.write(r.randbytes(total // 8 * 8))
        while file.tell() < total // 8 * 8:
            if kind == 'klv':
                value = r.randrange(1000, 100000)
                file.write(r.randbytes(10) + struct.pack('<I', value) + r.randbytes(value))
            else:
                line = {'urls': url, 'repeated': repeated, 'early': early}[kind]
                file.write(''.join(line(r) for _ in range(10000)).encode())


# Name, input, megabytes, memory, our flags, GNU sort's flags.
CASES = [
    ('URLs', 'urls', 250, '', [], []),
    ('URLs in 32M', 'urls', 250, '32M', [], []),
    ('repeated lines', 'repeated', 200, '', [], []),
    ('repeated lines, unique', 'repeated', 200, '', ['--unique'], ['-u']),
    ('repeated lines, unique, in 32M', 'repeated', 200, '32M', ['--unique'], ['-u']),
    ('lines', 'early', 250, '', [], []),
    ('lines in 32M', 'early', 250, '32M', [], []),
    ('integers', 'integers', 160, '', ['--record', '8', '--key-size', '8'], None),
    ('klv', 'klv', 500, '', ['--klv'], None),
]

PEERS = {'integers': 'numpy', 'klv': 'Python'}  # beside whom, if not GNU sort


def commands(options, kind, memory, ours, gnu, source, target):
    lines = gnu is not None
    tool = [tree.TOOL, 'sort', source, '-o', target, '--no-fsync', *ours,
            *(['--memory', memory + 'b'] if memory else [])]  # 32Mb to ours is 32M to GNU sort
    if lines:
        peer = ['sort', f'--parallel={os.cpu_count()}', '-S', memory or '4G', '-T', options.dir,
                *gnu, '-o', target, source]
    else:
        code = (NUMPY if kind == 'integers' else KLV).format(source=source, target=target)
        peer = [options.python, '-c', code]
    return tool, peer


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    parser.add_argument('--dir', default='/var/tmp')
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--megabytes', type=int, help="of each input, instead of the case's own")
    parser.add_argument('--keep', action='store_true', help='leave the inputs for the next call')
    parser.add_argument('--only', action='append', choices=sorted({c[1] for c in CASES}))
    parser.add_argument('--python', default=sys.executable, help='with numpy')
    parser.add_argument('--save', help='append a JSON object a run')
    options = parser.parse_args()
    print('| input | isotherm, s (spread) | peer, s (spread) | peer / isotherm |')
    print('|---|---|---|---|')
    for name, kind, megabytes, memory, ours, gnu in CASES:
        if options.only and kind not in options.only:
            continue
        megabytes = options.megabytes or megabytes
        source = pathlib.Path(options.dir) / f'sort_shapes.{kind}'
        target = pathlib.Path(options.dir) / 'sort_shapes.out'
        if not source.exists():
            make(kind, source, megabytes * 1_000_000)
        seconds = {'isotherm': [], PEERS.get(kind, 'GNU sort'): []}
        for _ in range(options.rounds):
            pair = commands(options, kind, memory, ours, gnu, source, target)
            for command, side in zip(pair, seconds):
                start = time.monotonic()
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL,
                               env={**os.environ, 'LC_ALL': 'C'})
                seconds[side].append(time.monotonic() - start)
                saved.append(options.save, 'sort shapes', what=name, megabytes=megabytes,
                             side=side, seconds=seconds[side][-1])
                target.unlink()
        mine, theirs = (statistics.median(s) for s in seconds.values())
        cells = [f'{statistics.median(s):.2f} ({min(s):.2f} .. {max(s):.2f})'
                 for s in seconds.values()]
        print(f'| {name} | {cells[0]} | {cells[1]} | {theirs / mine:.2f} |', flush=True)
    if options.keep:
        return
    for kind in options.only or {c[1] for c in CASES}:
        (pathlib.Path(options.dir) / f'sort_shapes.{kind}').unlink()


if __name__ == '__main__':
    main()
