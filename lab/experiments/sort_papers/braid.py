"""Which BRAID letters a sort keeps (WiscSort, table 1), by the facts of its report: B, accesses of
a record or less; R, keys come by strided reads; A, each record is written once; I, reads and writes
take turns; D, pools have the sizes that the device wants."""

LETTERS = 'BRAID'
# Table 1 of the paper; of sorts that it leaves out nothing.
PAPER = {'ems no-sync': '-----', 'samplesort no-io-overlap': 'BR---',
         'ems no-io-overlap': '---ID', 'modified-key no-sync': '--A--',
         'pmsort no-sync': 'B-A--', 'mergepass no-io-overlap': 'BRAID',
         'onepass no-io-overlap': 'BRAID'}
ONCE = 1.5  # times the output that a sort which writes each record once writes at most


def facts(found):
    """letter -> (whether the sort keeps it, the fact behind)."""
    stages = {stage['stage']: stage for stage in found['stages']}
    in_place = found['algorithm'] == 'samplesort'
    loads = stages.get('RUN read', {}).get('bytes_read', 0) / found['input_bytes']
    written = sum(stage['bytes_written'] for stage in stages.values()) / found['output_bytes']
    alone = found['concurrency'] == 'no-io-overlap' and not in_place
    pools = found['read_threads'], found['write_threads']
    moves = 'records are swapped in place' if in_place else (
        f'the run phase reads {loads:.0%} of the input')
    return {
        'B': (in_place or found['values'] == 'by random reads', f'values come {found["values"]}'),
        'R': (in_place or loads < 0.5, moves),
        'A': (written < ONCE and not in_place, f'writes {written:.2f} times the output'),
        'I': (alone, 'reads and writes take turns' if alone else 'reads and writes meet'),
        'D': (alone and pools[0] != pools[1], f'{pools[0]} readers, {pools[1]} writers'),
    }


def kept(found):
    """The letters in their order, a dash for each that is not kept."""
    known = facts(found)
    return ''.join(letter if known[letter][0] else '-' for letter in LETTERS)


def table(sides):
    """Prints a row for each side, by its last run."""
    print('| sort | kept | the paper | facts |\n|---|---|---|---|')
    for side, runs in sides.items():
        known = facts(runs[-1])
        words = '; '.join(f'{letter}: {known[letter][1]}' for letter in LETTERS)
        print(f'| {side} | {kept(runs[-1])} | {PAPER.get(side.partition(",")[0], "")} | {words} |')
