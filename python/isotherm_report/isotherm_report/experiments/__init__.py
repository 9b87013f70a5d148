"""Experiments: each module makes sections of the results that it knows, in this order."""
from isotherm_report import page
from isotherm_report.experiments import (comparisons, dereference, devices, effectiveness, overhead,
                                         placements, soaks, sorts, sweeps, timeline)

MODULES = (effectiveness, overhead, timeline, dereference, soaks, comparisons, placements, sweeps,
           sorts, devices)


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
    sections = [section for module in MODULES for section in module.sections(results)]
    return sections + rest_of(results, sections)
