"""Functions that the cards share: groups of results, and commands that repeat them."""
import shlex


def of_kind(results, kind):
    return [result for result in results if result.kind == kind]


def grouped(results, key):
    """key(result) -> results, in order of appearance."""
    groups = {}
    for result in results:
        groups.setdefault(key(result), []).append(result)
    return groups


def values_of(results, field):
    """Returns the values that the results have of a field; absent ones and nulls are left out."""
    return [value for result in results if (value := result.data.get(field)) is not None]


def distinct(results, field):
    return list(dict.fromkeys(values_of(results, field)))


def ratios(results, bases, field):
    """Returns the ratio of each result to the base of its turn: the first to the first, and so on.
    Turns of which one side has no value are left out."""
    turns = ((mine.data.get(field), base.data.get(field)) for mine, base in zip(results, bases))
    return [mine / base for mine, base in turns if mine is not None and base]


def number_text(number):
    """1000000 as 1M."""
    for size, letter in ((10**9, 'G'), (10**6, 'M'), (10**3, 'k')):
        if number >= size and number % (size // 10) == 0:
            return f'{number / size:g}{letter}'
    return f'{number:g}'


def plain(value):
    """2000.0 as 2000."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def command_of(result, words):
    """The command line that a result tells, or that its settings make: without its seed, so that
    rounds are one command."""
    told = result.data.get('origin', {}).get('command')
    return told or shlex.join(['isotherm', *map(str, words)])
