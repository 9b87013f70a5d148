"""Runs of `isotherm bench ycsb`, one process each, and the words of their tables."""
import json
import statistics
import subprocess


class run_failed(Exception):
    """Says which run, and why."""


def run(tool, side, flags, limit=None, environment=None):
    """The JSON object of a run. `side`: off, track, on, or on:PROTOCOL; `limit`: seconds;
    `environment`: instead of this process's. Protocols are compared under the published policy,
    which both have, unless `flags` choose another."""
    manage, _, protocol = side.partition(':')
    which = ['--manage', manage, *(['--protocol', protocol] if protocol else [])]
    if protocol and '--policy' not in flags:
        which += ['--policy', 'published']
    command = [tool, 'bench', 'ycsb', *map(str, flags), *which, '--json', '-']
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=limit,
                              env=environment)
    except subprocess.TimeoutExpired:
        raise run_failed(f'stopped after {limit:.0f} s: {" ".join(command)}') from None
    except OSError as error:
        raise run_failed(f'{tool}: {error.strerror}; build it (make build) or name it (--tool)'
                         ) from None
    if done.returncode != 0:
        raise run_failed(f'exit status {done.returncode}: {" ".join(command)}')
    return json.loads(done.stdout)


def add_distribution(parser):
    parser.add_argument('--distribution', help="of the keys (default: the workload's own, as YCSB "
                        'has it); permuted: Zipfian over the keys, without YCSB\'s even tail')


def keys_by(options):
    """Flags of the driver."""
    return ['--distribution', options.distribution] if options.distribution else []


def load_name(workload, distribution):
    """Names YCSB alone where the keys are YCSB's own."""
    return f'YCSB-{workload.upper()}' + (f' with {distribution} keys' if distribution else '')


def median(values, form='.4g'):
    return f'{statistics.median(values):{form}}' if values else '-'


def spread(values, form='.4g'):
    """Median and range."""
    if not values:
        return '-'
    return f'{median(values, form)} ({min(values):{form}} .. {max(values):{form}})'
