"""What the experiments share: groups of results, and commands that repeat them."""
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
    """What the results have of a field; absent ones and nulls left out."""
    return [value for result in results if (value := result.data.get(field)) is not None]


def distinct(results, field):
    return list(dict.fromkeys(values_of(results, field)))


def ratios(results, bases, field):
    """Of each result to the base of its turn: the first to the first, and so on."""
    return [mine / base for mine, base in zip(values_of(results, field), values_of(bases, field))
            if base]


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


def ycsb_command(result):
    data = result.data
    around = result.around.get('flags')
    if around:
        manage, _, protocol = result.around.get('side', '').partition(':')
        more = ['--manage', manage, *(['--protocol', protocol] if protocol else [])]
        return command_of(result, ['bench', 'ycsb', *around, *more])
    words = ['bench', 'ycsb', '--index', data['index'], '--workload', data['workload']]
    for field in ('distribution', 'keys', 'key_size', 'value_size', 'threads', 'rate', 'manage',
                  'cold_backing', 'hint'):
        if data.get(field) is not None:
            words += [f'--{field.replace("_", "-")}', plain(data[field])]
    words += ['--window', plain(data['window_seconds']), '--warmup',
              plain(data['warmup_seconds']), '--seconds', round(data['seconds'])]
    return command_of(result, words)


def tiers_command(results):
    """One command for all placements of a round: the tool runs them by turns."""
    data = results[0].data
    joined = {field: ','.join(str(value) for value in distinct(results, field))
              for field in ('index', 'workload', 'placement')}
    fast = ','.join(f'{share * 100:g}' for share in distinct(results, 'fast_share'))
    words = ['bench', 'tiers', '--index', joined['index'], '--workload', joined['workload'],
             '--placement', joined['placement'], '--fast', fast]
    for field in ('keys', 'key_size', 'value_size', 'threads'):
        words += [f'--{field.replace("_", "-")}', data[field]]
    words += ['--count', data['counting'], '--seconds', round(data['seconds'])]
    for field in ('trigger_ms', 'cooling_ms'):
        if field in data:
            words += [f'--{field.replace("_", "-")}', data[field]]
    return command_of(results[0], words)
