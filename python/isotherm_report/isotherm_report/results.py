"""Reads result files: which there are, what each one is, and what is wrong with the others."""
import collections
import dataclasses
import json
import pathlib

from isotherm_report import cards

NEEDED_OF_ORIGIN = ('origin.processor', 'origin.processors', 'origin.memory_bytes', 'origin.system',
                    'origin.date')


@dataclasses.dataclass(frozen=True)
class Result:
    """One object of a file. `around` is what an experiment wrote beside it."""
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
    return next((kind.name for kind in cards.kinds().values()
                 if kind.known_by <= data.keys()), None)


def has(thing, field):
    """Whether `thing` has a field that a kind needs, and it is not null."""
    name, _, rest = field.partition('.')
    name, bracket, sign = name.partition('[')
    value = thing.get(name) if isinstance(thing, dict) else None
    if bracket:
        return (isinstance(value, list) and len(value) >= (sign == '+]')
                and all(has(each, rest) for each in value))
    return value is not None and (not rest or has(value, rest))


def missing_in(result):
    """The fields that a result should have and has not."""
    wanted = cards.kinds()[result.kind].needs
    if result.data.get('origin'):
        wanted += NEEDED_OF_ORIGIN
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
