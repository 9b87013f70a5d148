"""The cards of the experiments: each folder of lab/experiments that has a card.py.

A card has its PLACE on the page, the KINDS of results that it knows, and sections(results), which
makes sections of those of all results that are of these kinds.
"""
import functools
import importlib
import importlib.resources

from isotherm_report import page


@functools.cache
def cards():
    """In the order of the page."""
    folders = importlib.resources.files('isotherm_report').joinpath('experiments').iterdir()
    found = [importlib.import_module(f'isotherm_report.experiments.{folder.name}.card')
             for folder in folders if folder.joinpath('card.py').is_file()]
    return sorted(found, key=lambda card: card.PLACE)


@functools.cache
def kinds():
    """name -> Kind."""
    return {kind.name: kind for card in cards() for kind in card.KINDS}


def rest_of(results, sections):
    """A section that names the results that no other shows, or nothing."""
    shown = {id(result) for section in sections for result in section.results}
    rest = [result for result in results if id(result) not in shown]
    if not rest:
        return []
    rows = [(result.path, result.kind, str(result.data.get('index', result.data.get('device', ''))),
             str(result.data.get('workload', '')), str(result.data.get('placement', ''))
             or str(result.data.get('manage', '')),
             f'{result.data["throughput_ops_s"]:,.0f}' if 'throughput_ops_s' in result.data else '')
            for result in rest]
    return [page.Section('Other runs', rest,
                         notes=['Runs without another side that they can be compared with, and '
                                'results of programs whose figures have no plot here.'],
                         tables=[(('file', 'kind', 'index', 'workload', 'side', 'ops/s'), rows)])]


def sections_of(results):
    sections = [section for card in cards() for section in card.sections(results)]
    return sections + rest_of(results, sections)
