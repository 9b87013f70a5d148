"""The page: sections of plots, tables and words, as one HTML file that loads nothing."""
import dataclasses
import html
import importlib.resources
import re

NUMBER = re.compile(r'[-+]?[\d.,]+( ?[%a-zA-Z]+)?|-')


@dataclasses.dataclass
class Plot:
    svg: str
    says: str  # for who does not see it


@dataclasses.dataclass
class Section:
    """An experiment. `papers` are the figures that it stands beside; `results` what it shows."""
    title: str
    results: list
    notes: list = dataclasses.field(default_factory=list)
    plots: list = dataclasses.field(default_factory=list)
    tables: list = dataclasses.field(default_factory=list)   # (head, rows) of texts
    papers: list = dataclasses.field(default_factory=list)
    commands: list = dataclasses.field(default_factory=list)

    @property
    def is_emulated(self):
        return any(result.is_emulated for result in self.results)

    @property
    def name(self):
        """For links within the page."""
        return ''.join(c if c.isalnum() else '-' for c in self.title.lower())


def kind_of(cell):
    return '' if NUMBER.fullmatch(cell) else ' class="words"'


def table(head, rows):
    firsts = rows[0] if rows else head
    lines = ['<div class="wide"><table><thead><tr>',
             *(f'<th scope="col"{kind_of(first)}>{html.escape(cell)}</th>'
               for cell, first in zip(head, firsts)),
             '</tr></thead><tbody>']
    for row in rows:
        cells = (f'<td{kind_of(cell)}>{html.escape(cell)}</td>' for cell in row)
        lines.append('<tr>' + ''.join(cells) + '</tr>')
    return '\n'.join(lines) + '</tbody></table></div>'


def quotes(papers):
    lines = ['<h3>What the papers report</h3><ul class="papers">']
    for paper in papers:
        mark = 'span' if paper.is_goal else 'q'
        lines.append(f'<li><cite title="{html.escape(paper.title)}">{html.escape(paper.label)}'
                     f'</cite>: <{mark}>{html.escape(paper.says)}</{mark}></li>')
    return '\n'.join(lines) + '</ul>'


def counted(things, name):
    return f'{len(things)} {name}' + ('' if len(things) == 1 else 's')


def section_html(section):
    badge = ' <span class="emulated">emulated</span>' if section.is_emulated else ''
    lines = [f'<section id="{section.name}"><h2>{html.escape(section.title)}{badge}</h2>']
    lines += [f'<p>{html.escape(note)}</p>' for note in section.notes]
    for plot in section.plots:
        lines.append(f'<figure role="img" aria-label="{html.escape(plot.says)}">{plot.svg}'
                     f'<figcaption>{html.escape(plot.says)}</figcaption></figure>')
    lines += [table(head, rows) for head, rows in section.tables]
    if section.papers:
        lines.append(quotes(section.papers))
    if section.commands:
        text = '\n'.join(dict.fromkeys(section.commands))
        lines.append('<h3>To repeat it</h3><pre>' + html.escape(text) + '</pre>')
    files = ', '.join(sorted({result.path for result in section.results}))
    lines.append(f'<p class="files">{counted(section.results, "result")} of {html.escape(files)}'
                 '</p>')
    return '\n'.join(lines) + '</section>'


def contents(sections):
    lines = ['<nav aria-label="Experiments"><ol>']
    for section in sections:
        mark = ' (emulated)' if section.is_emulated else ''
        lines.append(f'<li><a href="#{section.name}">{html.escape(section.title)}</a>{mark}</li>')
    return '\n'.join(lines) + '</ol></nav>'


def render(title, machines, sections, problems):
    """The whole page. `machines`: (name of a fact, text); `problems`: what was left out."""
    style = importlib.resources.files('isotherm_report').joinpath('page.css').read_text('utf-8')
    lines = ['<!doctype html>', '<html lang="en"><head><meta charset="utf-8">',
             '<meta name="viewport" content="width=device-width, initial-scale=1">',
             f'<title>{html.escape(title)}</title>', f'<style>{style}</style></head><body>',
             f'<h1>{html.escape(title)}</h1>',
             '<p>Bars are medians, and the lines on them ranges, of the runs that were found. '
             'Hatched bands and dashed lines are what the papers report, of other machines; '
             'dotted lines are goals. Runs on emulated memory or devices are marked.</p>',
             '<dl>']
    lines += [f'<dt>{html.escape(name)}</dt><dd>{html.escape(text)}</dd>'
              for name, text in machines]
    lines += ['</dl>', contents(sections), *map(section_html, sections)]
    if problems:
        lines += ['<section id="left-out"><h2>Left out</h2><ul>',
                  *(f'<li>{html.escape(problem)}</li>' for problem in problems), '</ul></section>']
    return '\n'.join(lines) + '</body></html>\n'
