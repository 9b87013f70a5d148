#!/usr/bin/env python3
"""The experiments of the WiscSort paper on an emulated device, beside the paper's ratios.

    lab/experiments/sort_papers/run.py run --dir /dev/shm --save runs.jsonl
    lab/experiments/sort_papers/run.py table runs.jsonl

`run` measures in rounds, each in an order of its own, and appends one JSON object a run; `table`
prints medians, spreads and ratios. Ratios are of medians; times are those of an emulated device.

    compliance     which BRAID letters each sort keeps (table 1), by the facts of its report
    sizes          merge sort, OnePass and MergePass by the size of the input (figure 4)
    usage          bandwidth and processors over time (figures 5 and 6): the stage of each moment,
                   at its mean of the report, and samples of /proc

A device of an eighth of the bandwidth leaves the work of a single thread at its full speed, so
that it counts for an eighth of what it does on the real device. The column "whole" takes that back:
times of device stages times the scale, those of parallel work times the threads here over the
paper's 16, single-threaded merging as measured.
"""
import argparse
import json
import os
import pathlib
import random
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'shared'))
import braid  # noqa: E402
import samples  # noqa: E402
import saved  # noqa: E402
import tables  # noqa: E402
import tree  # noqa: E402

EXPERIMENTS = {}


def experiment(function):
    EXPERIMENTS[function.__name__] = function
    return function


def side(algorithm, concurrency='no-io-overlap', value=90, device='pmem', others='',
         compress='off', share=1):
    """`share` of --megabytes is the input's size."""
    return {'algorithm': algorithm, 'concurrency': concurrency, 'value': value, 'device': device,
            'others': others, 'compress': compress, 'share': share}


@experiment
def sortbenchmark():
    return [side('ems'), side('onepass'), side('mergepass'), side('samplesort')]


@experiment
def concurrency():
    return [side(a, c) for a, c in (
        ('ems', 'no-sync'), ('ems', 'no-io-overlap'), ('pmsort', 'no-io-overlap'),
        ('pmsort+', 'no-sync'), ('pmsort+', 'io-overlap'), ('mergepass', 'no-sync'),
        ('mergepass', 'io-overlap'), ('mergepass', 'no-io-overlap'), ('onepass', 'no-io-overlap'))]


@experiment
def values():
    return [side(a, value=v) for v in (10, 50, 90, 246, 502)
            for a in ('ems', 'onepass', 'mergepass', 'pmsort+', 'auto')]


@experiment
def devices():
    return [side(a, c, device=d) for d in ('bd', 'brd', 'bard') for a, c in (
        ('ems', 'no-io-overlap'), ('onepass', 'no-io-overlap'), ('mergepass', 'no-io-overlap'),
        ('mergepass', 'io-overlap'), ('samplesort', 'no-io-overlap'))]


@experiment
def background():
    return [side(a, others=o) for o in ('', ',readers=8', ',writers=2', ',writers=8')
            for a in ('ems', 'onepass')]


@experiment
def compression():
    return [side('mergepass', device=d, compress=c) for d in ('pmem', 'cmm-h')
            for c in ('off', 'on', 'auto')]


@experiment
def compliance():
    return [side(*name.split(), value=v) for v in (90, 502) for name in braid.PAPER]


@experiment
def sizes():
    return [side(a, share=s) for s in (1 / 4, 1 / 2, 1, 2) for a in ('ems', 'onepass', 'mergepass')]


@experiment
def usage():
    return [side(a) for a in ('ems', 'onepass', 'mergepass')]


def label(name, one):
    return {'concurrency': f'{one["algorithm"]} {one["concurrency"]}',
            'values': f'{one["algorithm"]} {one["value"]}',
            'devices': f'{one["algorithm"]} {one["device"]}' + (
                ' io-overlap' if one['concurrency'] == 'io-overlap' else ''),
            'background': f'{one["algorithm"]} {one["others"][1:] or "alone"}',
            'compression': f'{one["device"]} {one["compress"]}',
            'compliance': f'{one["algorithm"]} {one["concurrency"]}, {one["value"]} B',
            'sizes': f'{one["algorithm"]} {one["share"]:g}',
            }.get(name, one['algorithm'])


def memory_of(one, bytes_):
    """Index maps run in memory that lets the emulated device be mapped; merge sorts in a quarter of
    the input, so that they merge, and auto has no more."""
    if one['algorithm'] in ('ems', 'auto'):
        return max(64 << 20, bytes_ // 4)
    return 3 * bytes_ + (256 << 20)


def input_of(options, one):
    """The input, of about so many bytes, and its size."""
    record = 10 + one['value']
    bytes_ = int(options.megabytes * 10**6 * one['share']) // 100 * 100
    source = pathlib.Path(options.dir) / f'sort_papers.{record}.{bytes_}.in'
    if not source.exists():
        # gensort's stream of bytes, cut into records of this size.
        subprocess.run([options.tool, 'gensort', str(bytes_ // 100), source], check=True)
        os.truncate(source, bytes_ // record * record)
    return source, bytes_


def measure(options, name, one):
    source, bytes_ = input_of(options, one)
    target = pathlib.Path(options.dir) / 'sort_papers.out'
    device = f'emu:{one["device"]}@{options.scale}{one["others"]}'
    command = [options.tool, 'sort', source, '-o', target, '--record', str(10 + one['value']),
               '--device', device, '--algorithm', one['algorithm'],
               '--memory', str(memory_of(one, bytes_)), '--concurrency', one['concurrency'],
               '--compress', one['compress'], '--no-fsync', '--json', '-']
    said, status, taken = samples.watch(list(map(str, command)))
    if status != 0:
        sys.exit(f'sort_papers: {" ".join(map(str, command))} failed')
    if one['value'] == 90 and options.check:
        subprocess.run([options.tool, 'valsort', '-q', target], check=True)
    target.unlink()
    found = json.loads(said)
    found.update(side=label(name, one), scale=options.scale, value=one['value'],
                 megabytes=bytes_ / 10**6)
    if name == 'usage':
        samples.add_bandwidth(taken, found)
        found['samples'] = taken
    saved.append(options.save, name, **found)
    return found


def run(options):
    for name in options.only or EXPERIMENTS:
        sides = EXPERIMENTS[name]()
        if options.value:
            sides = [one for one in sides if one['value'] == options.value]
        if options.device:
            sides = [one for one in sides if one['device'] == options.device]
        for _ in range(options.rounds):
            for one in random.sample(sides, len(sides)):
                found = measure(options, name, one)
                print(f'{name:14} {found["side"]:28} {found["seconds"]:7.3f} s', flush=True)
    for old in pathlib.Path(options.dir).glob('sort_papers.*.in'):
        old.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.split('\n')[0])
    commands = parser.add_subparsers(required=True)
    runs = commands.add_parser('run')
    runs.add_argument('--dir', default='/dev/shm')
    runs.add_argument('--tool', default=tree.TOOL)
    runs.add_argument('--scale', default='1/8')
    runs.add_argument('--megabytes', type=int, default=500)
    runs.add_argument('--rounds', type=int, default=3)
    runs.add_argument('--only', action='append', choices=EXPERIMENTS)
    runs.add_argument('--value', type=int, help='only records with values of this size')
    runs.add_argument('--device', help='only this device')
    runs.add_argument('--check', action='store_true', help='valsort each output, untimed')
    runs.add_argument('--save', default='sort_papers.jsonl')
    runs.set_defaults(call=run)
    shown = commands.add_parser('table')
    shown.add_argument('runs')
    shown.set_defaults(call=lambda options: tables.show(options.runs))
    options = parser.parse_args()
    options.call(options)


if __name__ == '__main__':
    main()
