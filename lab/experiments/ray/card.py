"""isotherm.ray beside Ray Data."""
from isotherm_report.compared import Comparison, Figure, sections_of
from isotherm_report.kinds import Kind

PLACE = 127

KINDS = (
    Kind(
        'ray',
        known_by={'side', 'workers', 'cpu_seconds'},
        needs=('bytes', 'records', 'memory_bytes', 'seconds'),
        example={'side': 'isotherm', 'workers': 2, 'cpu_seconds': 2.0, 'bytes': 10**9,
                 'records': 10**7, 'memory_bytes': 5 * 10**8, 'seconds': 1.0,
                 'peak_bytes': 2**30}),
)

COMPARISONS = (
    Comparison(
        'ray', lambda d: 'Sorting on Ray',
        lambda d: f'{d["bytes"] / 1e6:,.0f} MB, {d["workers"]} workers', lambda d: d['side'],
        (Figure('seconds', lambda d: [d['seconds']]),
         Figure('seconds of processors', lambda d: [d['cpu_seconds']])),
        'lab/experiments/ray/run.py run',
        'In turn, each sort on a cluster of its own. Ray Data sorts the records as rows of Parquet '
        'files. The control group counts the time of all processes.'),
)


def sections(results):
    return sections_of(results, COMPARISONS)
