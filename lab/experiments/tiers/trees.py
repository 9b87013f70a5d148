"""The common part of experiments of trees on two memories: rounds, and ratios to interleaving."""
import pathlib

from isotherm_report import common, drawing, papers

BASE = 'interleave'
CONFIGURATION = ('index', 'keys', 'key_size', 'value_size', 'threads', 'fast_share')
# The paper's tree that each one answers.
TREES = {'masstree': 'masstree', 'btree-occ': 'masstree', 'art': 'art'}


def workload_of(result):
    kind, colon, path = result.data['workload'].partition(':')
    return kind + colon + pathlib.PurePath(path).name if colon else kind


def placement_of(result):
    counting = result.data.get('counting', 'leaves')
    plain = counting in ('leaves', 'needed')
    return result.data['placement'] + ('' if plain else f' ({counting} counted)')


def times_of(result):
    """How long was warmed up and measured, and how often the hot region moved: runs that differ in
    these are apart."""
    data = result.data
    return round(data['seconds']), data.get('warmup_seconds'), data.get('shift_seconds', 0)


def intervals_of(result):
    """Returns the intervals of SINLK's trigger and its cooler in ms; None where the result does
    not tell."""
    return result.data.get('trigger_ms'), result.data.get('cooling_ms')


def configuration_of(result):
    return (*(result.data[field] for field in CONFIGURATION), *times_of(result),
            *intervals_of(result))


def rounds_of(results):
    """Lists of runs that were made by turns, on the same requests."""
    return list(common.grouped(results, lambda run: (
        configuration_of(run), run.data['workload'], run.data['seed'])).values())


def has_base(runs):
    return any(placement_of(run) == BASE for run in runs)


def over_base(rounds, figure):
    """placement -> ratios to the interleaving of the same round; rounds without it add nothing."""
    found = {}
    for runs in rounds:
        base = next((run for run in runs if placement_of(run) == BASE), None)
        for run in runs:
            if base is not None and run is not base:
                found.setdefault(placement_of(run), []).append(figure(run) / figure(base))
    return found


def throughput(run):
    return run.data['throughput_ops_s']


def p99(run):
    return run.data['latency_us']['p99']


def paper_of(index, workload):
    """Returns the paper's figure for SINLK over interleaving, or None."""
    tree = TREES.get(index)
    if workload.startswith('sp-'):
        return papers.reported('tiers-micro') if tree == 'masstree' else None
    if workload.startswith('ycsb-') and workload != 'ycsb-e' and tree:
        return papers.reported(f'tiers-macro-{tree}')
    if workload.startswith('trace:') and tree:
        return papers.reported(f'tiers-trace-{tree}')
    return None


def words_of(runs):
    """The settings that all runs share."""
    first = runs[0].data
    texts = {'keys': f'{common.number_text(first["keys"])} records',
             'key_size': f'keys of {first["key_size"]} bytes',
             'value_size': f'values of {first["value_size"]} bytes',
             'threads': f'{first["threads"]} threads',
             'fast_share': f'fast memory {first["fast_share"] * 100:g}% of the nodes'}
    shared = [text for field, text in texts.items() if len(common.distinct(runs, field)) == 1]
    slow, fast = (drawing.spread(common.values_of(runs, field))[0]
                  for field in ('slow_ns', 'fast_ns'))
    return (', '.join([first['index'], *shared, f'{first["seconds"]:.0f} s measured'])
            + f'. Slow memory is emulated: a miss takes {slow:.0f} ns there and {fast:.0f} ns in '
            'fast memory (medians).')


def command_of(results):
    """One command for all placements of a round: the tool runs them by turns."""
    data = results[0].data
    joined = {field: ','.join(str(value) for value in common.distinct(results, field))
              for field in ('index', 'workload', 'placement')}
    fast = ','.join(f'{share * 100:g}' for share in common.distinct(results, 'fast_share'))
    words = ['bench', 'tiers', '--index', joined['index'], '--workload', joined['workload'],
             '--placement', joined['placement'], '--fast', fast]
    for field in ('keys', 'key_size', 'value_size', 'threads'):
        words += [f'--{field.replace("_", "-")}', data[field]]
    words += ['--count', data['counting'], '--seconds', round(data['seconds'])]
    for field in ('trigger_ms', 'cooling_ms'):
        if field in data:
            words += [f'--{field.replace("_", "-")}', data[field]]
    return common.command_of(results[0], words)


def commands_of(rounds):
    """One for all that the tool ran with the same flags and the same seed."""
    calls = common.grouped(rounds, lambda runs: (
        configuration_of(runs[0]), runs[0].data['seed'], *map(placement_of, runs)))
    return [command_of([run for runs in call for run in runs])
            for call in calls.values()]
