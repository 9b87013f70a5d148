"""The figures that the papers report (papers.json): each by its name, with its source and the
paper's own words."""
import dataclasses
import functools
import importlib.resources
import json


@dataclasses.dataclass(frozen=True)
class Reported:
    """One figure. `low` and `high` are equal where the paper names one number, and None where it
    says something without one."""
    name: str
    source: str          # as in papers.json
    name_of_source: str  # the paper's short name
    title: str           # of the paper, with its authors
    where: str           # figure and section
    says: str            # a passage of the paper
    of: str              # which of several things in that figure; may be empty
    low: float | None
    high: float | None

    @property
    def label(self):
        """For a legend."""
        return f'{self.name_of_source}, {self.where}' + (f': {self.of}' if self.of else '')

    @property
    def is_goal(self):
        """Not a measurement, but what Isotherm sets out to reach."""
        return self.source == 'goal'

    def over(self, low, high):
        """The same statement in another unit."""
        return dataclasses.replace(self, low=low, high=high)


@functools.cache
def everything():
    """All figures, by name."""
    text = importlib.resources.files('isotherm_report').joinpath('papers.json').read_text('utf-8')
    data = json.loads(text)
    found = {}
    for name, each in data['figures'].items():
        paper = data['papers'][each['paper']]
        low, high = each.get('values', (None, None))
        found[name] = Reported(name, each['paper'], paper['name'], paper['title'],
                               each['where'], each['says'], each.get('of', ''), low, high)
    return found


def reported(name):
    return everything()[name]
