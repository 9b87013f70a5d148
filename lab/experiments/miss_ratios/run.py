#!/usr/bin/env python3
"""Misses of the collector's policy beside caches and the best fixed choice, on recorded requests.

    lab/experiments/miss_ratios/run.py --traces DIR [--windows 200] [--shares 0.1,0.35,0.75]

DIR holds traces as Caffeine's simulator and the ARC paper's authors give them out, each under its
own name; those that are there are taken. The requests of one are cut into --windows windows. Needs
the micro-benchmarks (make build), xz and zstd. --save appends a JSON object for each row of a
table.
"""
import argparse
import pathlib
import re
import struct
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import saved  # noqa: E402
import tree  # noqa: E402

TOOL = tree.PROGRAMS / 'miss_ratios'

ROW = re.compile(r'^\| ([\d.]+)% \| (.+?) \| ([\d.]+)% \|', re.MULTILINE)  # of the tool's tables


def numbers_of(code):
    def read(data):
        return [str(n) for n, in struct.iter_unpack(code, data)]
    return read


def words(data):
    return data.decode().split()


def block_ranges(data):
    """Lines of: first block, number of blocks, 0, number of the request."""
    requests = []
    for line in data.decode().splitlines():
        first, blocks = (int(word) for word in line.split()[:2])
        requests += (str(block) for block in range(first, first + blocks))
    return requests


# name: file, what unpacks it, how requests stand in it
TRACES = {
    'web07 (pages of a shop)': ('cache2k_web07.trace.xz', 'xz', numbers_of('>i')),
    'web12 (pages of a shop)': ('cache2k_web12.trace.xz', 'xz', numbers_of('>i')),
    'orm-busy (objects of a database)': ('cache2k_orm-busy.trace.xz', 'xz', numbers_of('>i')),
    'scarab (recommendations)': ('scarab_scarab-recs.trace.xz', 'xz', numbers_of('>q')),
    'sprite (files)': ('lirs_sprite.trace.gz', 'gzip', words),
    'w106 (blocks of a virtual machine)': ('cloud_physics_w106.trace.xz', 'xz', numbers_of('<i')),
    'OLTP (blocks of a database)': ('OLTP.lis.zst', 'zstd', block_ranges),
}


def compare(name, path, unpack, read, options):
    data = subprocess.run([unpack, '-dc', path], stdout=subprocess.PIPE, check=True).stdout
    requests = read(data)
    command = [TOOL, '--requests', '-', '--window', str(max(1, len(requests) // options.windows)),
               '--shares', options.shares]
    print(f'\n### {name}\n', flush=True)
    said = subprocess.run(command, input='\n'.join(requests) + '\n', text=True, check=True,
                          stdout=subprocess.PIPE).stdout
    print(said, end='', flush=True)
    for share, policy, misses in ROW.findall(said):
        saved.append(options.save, 'miss ratios', trace=name, requests=len(requests),
                     share=float(share) / 100, policy=policy, misses=float(misses) / 100)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument('--traces', required=True, type=pathlib.Path)
    parser.add_argument('--windows', default=200, type=int)
    parser.add_argument('--shares', default='0.1,0.35,0.75')
    parser.add_argument('--save', help='append a JSON object for each share and policy')
    options = parser.parse_args()
    if not TOOL.exists():
        sys.exit(f'miss_ratios: {TOOL} is not there: run make build')
    found = 0
    for name, (file, unpack, read) in TRACES.items():
        for path in sorted(options.traces.rglob(file)):
            compare(name, path, unpack, read, options)
            found += 1
    if found == 0:
        sys.exit(f'miss_ratios: {options.traces} holds none of the traces')


if __name__ == '__main__':
    main()
