"""Reads result files: which there are, what each one is, and what is wrong with the others."""
import collections
import dataclasses
import json
import pathlib

# A result is known by the fields that only its kind has.
KINDS = {
    'ycsb': {'index', 'workload', 'manage', 'throughput_ops_s', 'windows', 'latency_us'},
    'tiers': {'index', 'workload', 'placement', 'fast_share', 'throughput_ops_s', 'each_second'},
    'sort': {'algorithm', 'concurrency', 'seconds', 'stages', 'device'},
    'device': {'isotherm_profile', 'sequential_read', 'random_read', 'write', 'braid'},
    'google-benchmark': {'context', 'benchmarks'},
    'limited': {'system', 'limit', 'limit_bytes', 'phases', 'samples'},
    'soak-run': {'run', 'phase', 'records', 'values'},
    'soak-second': {'run', 'phase', 'at', 'stats', 'major_faults'},
    'soak-requests': {'run', 'phase', 'value', 'requests'},
    'misses': {'beside', 'read_ms', 'latency_us', 'reads', 'share'},
    'miss-sizes': {'beside', 'unlimited', 'ratio', 'holds', 'share'},
    'pair': {'ops', 'ops_free', 'misses', 'us_a_miss'},
    'page-cost': {'side', 'ops_over_none', 'us_over_none'},
    'guide-cost': {'operation', 'guides', 'ns'},
    'plugin-cost': {'compiled', 'user_seconds'},
    'utilization': {'mode', 'requests', 'share', 'taken', 'windows'},
    'miss-ratios': {'trace', 'share', 'policy', 'misses'},
    'redis': {'test', 'pipeline', 'isotherm', 'redis'},
    'sort-beside': {'what', 'side', 'megabytes', 'seconds'},
    'sort-auto': {'shape', 'limit', 'cache', 'algorithm', 'ran', 'seconds'},
    'sort-memory': {'limit_bytes', 'times', 'algorithm', 'peak_bytes'},
}
# What the experiments ask of it. "a.b": b of the object a; "a[].b": of each of a list, which may be
# empty; "a[+].b": of each of at least one.
NEEDED = {
    'ycsb': ('keys', 'key_size', 'value_size', 'threads', 'protocol', 'hint', 'distribution',
             'rate', 'target', 'seconds', 'warmup_seconds', 'window_seconds', 'latency_us.p90',
             'windows[].at_seconds'),
    'tiers': ('keys', 'key_size', 'value_size', 'threads', 'counting', 'seed', 'seconds', 'slow_ns',
              'fast_ns', 'details', 'latency_us.p99', 'each_second[].throughput_ops_s',
              'each_second[].fast_usage'),
    'sort': ('memory_limit_bytes', 'stages[].stage', 'stages[].seconds'),
    'device': ('path', 'device', 'sequential_read[+].streams', 'sequential_read[+].bytes_per_s',
               'write[+].streams', 'write[+].bytes_per_s', 'random_read[].access_bytes',
               'random_read[].bandwidth[+].streams', 'random_read[].bandwidth[+].bytes_per_s',
               'braid[].letter', 'braid[].holds', 'braid[].why'),
    'google-benchmark': ('benchmarks[].run_name', 'benchmarks[].real_time',
                         'benchmarks[].time_unit'),
    'limited': ('workload', 'connections', 'rate', 'records', 'value', 'reference', 'limit_holds',
                'phases[+].phase', 'samples[+].dram', 'samples[+].zram', 'samples[+].phase',
                'samples[+].major_faults'),
    'soak-run': (),
    'soak-second': ('stats.dram_bytes',),
    'soak-requests': ('requests[].at', 'requests[].throughput', 'requests[].p99'),
    'misses': ('experiment', 'records', 'value', 'latency_us.p50', 'latency_us.p99',
               'latency_us.p999'),
    'miss-sizes': ('latency_us.p99', 'unlimited_us.p99'),
    'pair': ('workload', 'target', 'keys', 'threads', 'ratio', 'p99'),
    'page-cost': ('flags', 'keys', 'threads', 'ops', 'us', 'page_share'),
    'guide-cost': (),
    'plugin-cost': (),
    'utilization': ('workload', 'keys', 'window', 'load', 'windows[+].page_utilization',
                    'windows[+].read_past_bytes', 'windows[+].accessed_bytes'),
    'miss-ratios': ('requests',),
    'redis': ('clients', 'value_size', 'keys', *(f'{side}.{what}' for side in ('isotherm', 'redis')
                                                 for what in ('ops_s', 'p50_ms', 'p99_ms'))),
    'sort-beside': (),
    'sort-auto': ('where', 'megabytes', 'profile'),
    'sort-memory': ('limit', 'seconds', 'dir'),
}
NEEDED_OF_ORIGIN = ('origin.processor', 'origin.processors', 'origin.memory_bytes', 'origin.system',
                    'origin.date')


@dataclasses.dataclass(frozen=True)
class Result:
    """One object of a file. `around` is what a script of lab/experiments wrote beside it."""
    kind: str
    data: dict
    path: str
    around: dict = dataclasses.field(default_factory=dict)

    @property
    def is_emulated(self):
        """Whether the memory or the device of the run was an emulated one."""
        device = str(self.data.get('device', ''))
        return (self.data.get('memory') == 'emulated' or bool(self.data.get('emulated'))
                or device.startswith('emu:'))


def kind_of(data):
    """The name of what `data` is, or None."""
    return next((kind for kind, fields in KINDS.items() if fields <= data.keys()), None)


def has(thing, field):
    """Whether `thing` has a field of NEEDED, and it is not null."""
    name, _, rest = field.partition('.')
    name, bracket, sign = name.partition('[')
    value = thing.get(name) if isinstance(thing, dict) else None
    if bracket:
        return (isinstance(value, list) and len(value) >= (sign == '+]')
                and all(has(each, rest) for each in value))
    return value is not None and (not rest or has(value, rest))


def missing_in(result):
    """The fields that a result should have and has not."""
    wanted = NEEDED[result.kind] + (NEEDED_OF_ORIGIN if result.data.get('origin') else ())
    return [field for field in wanted if not has(result.data, field)]


def parse(text, path):
    """(objects, problems) of a file that is one JSON value or one a line."""
    try:
        whole = json.loads(text)
        return whole if isinstance(whole, list) else [whole], []
    except ValueError as error:
        if not path.endswith('.jsonl'):
            return [], [f'{path}: not JSON: {error}']
    objects, problems = [], []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            objects.append(json.loads(line))
        except ValueError:
            problems.append(f'{path}: line {number} is not JSON (a run that was cut off?)')
    return objects, problems


def understand(thing, path):
    """A Result, or None where `thing` is none that is known."""
    if not isinstance(thing, dict):
        return None
    found = thing.get('found')
    if isinstance(found, dict) and (kind := kind_of(found)):
        return Result(kind, found, path, {k: v for k, v in thing.items() if k != 'found'})
    kind = kind_of(thing)
    return Result(kind, thing, path) if kind else None


def read_file(path, name):
    """(results, problems) of one file, which the problems call `name`."""
    try:
        text = path.read_text(encoding='utf-8')
    except (OSError, UnicodeDecodeError) as error:
        return [], [f'{name}: cannot be read: {getattr(error, "strerror", None) or error}']
    objects, problems = parse(text, name)
    results = [understand(each, name) for each in objects]
    unknown = sum(result is None for result in results)
    if unknown == len(results) and not problems:
        problems.append(f'{name}: holds no result that this report knows')
    elif unknown:
        problems.append(f'{name}: {unknown} of {len(results)} entries are no results that this '
                        'report knows')
    known = [(result, missing_in(result)) for result in results if result]
    incomplete = collections.Counter(f'{result.kind} without {", ".join(missing)}'
                                     for result, missing in known if missing)
    problems += [f'{name}: {count} incomplete: {text}' for text, count in incomplete.items()]
    return [result for result, missing in known if not missing], problems


def read_folder(folder):
    """(results, problems) of all *.json and *.jsonl files in a folder and below it."""
    folder = pathlib.Path(folder)
    results, problems = [], []
    for path in sorted(folder.rglob('*')):
        if path.suffix in ('.json', '.jsonl') and path.is_file():
            more, wrong = read_file(path, path.relative_to(folder).as_posix())
            results += more
            problems += wrong
    return results, problems
