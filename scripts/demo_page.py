"""The demo's HTML page: a table and the address space before and after, one cell a page or a
power-of-two group of pages, coloured by temperature. Self-contained: no script, no other file."""
import html

COLUMNS = 256
SIDE = 3  # pixels of a cell
# Colour of a heap's pages when they are in DRAM; pages that are not are drawn pale.
COLOURS = {'new': '#e8a33d', 'hot': '#d62728', 'cold': '#1f77b4', 'node': '#7f7f7f'}
ABSENT = '#e9eef3'
STYLE = '''body{font:15px sans-serif;max-width:1750px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse}
td,th{padding:.25em 1em;text-align:right;border-bottom:1px solid #ddd}
td:first-child{text-align:left}.maps{display:flex;gap:2em;flex-wrap:wrap}
.key span{display:inline-block;width:1em;height:1em;margin:0 .4em 0 1.2em;vertical-align:-2px}'''


def draw(cells, colour):
    """An SVG of cells '0' (none of its pages in DRAM) to '9' (all): runs of equals are one box."""
    rows = -(-len(cells) // COLUMNS)
    boxes = []
    for row in range(rows):
        line = cells[row * COLUMNS:(row + 1) * COLUMNS]
        start = 0
        for end in range(1, len(line) + 1):
            if end < len(line) and line[end] == line[start]:
                continue
            level = int(line[start]) / 9
            fill = f'fill="{colour}" fill-opacity="{0.25 + 0.75 * level:.2f}"'
            boxes.append(f'<rect x="{start * SIDE}" y="{row * SIDE}" '
                         f'width="{(end - start) * SIDE}" height="{SIDE}" '
                         + (fill if level > 0 else f'fill="{ABSENT}"') + '/>')
            start = end
    return (f'<svg width="{COLUMNS * SIDE}" height="{max(rows, 1) * SIDE}" '
            f'shape-rendering="crispEdges">{"".join(boxes)}</svg>')


def space(title, pages):
    parts = [f'<div><h2>{title}</h2>']
    for name, colour in COLOURS.items():
        heap = pages.get(name)
        if not heap or not heap['cells']:
            continue
        resident = int(heap['resident_bytes']) / 2**20
        total = int(heap['pages']) * 4096 / 2**20
        parts.append(f'<h3>{name.upper()}: {resident:.0f} of {total:.0f} MiB in DRAM, a cell is '
                     f'{int(heap["pages_per_cell"]) * 4} KiB</h3>')
        parts.append(draw(heap['cells'], colour))
    return ''.join(parts) + '</div>'


def key():
    names = {'new': 'NEW: not yet known', 'hot': 'HOT: used lately', 'cold': 'COLD: not used',
             'node': 'NODE: the index'}
    boxes = [f'<span style="background:{COLOURS[name]}"></span>{text}'
             for name, text in names.items()]
    return ('<p class="key">' + ''.join(boxes)
            + f'<span style="background:{ABSENT}"></span>not in DRAM</p>')


def render(rows, before, after, windows, options):
    cells = ''.join(f'<tr><td>{html.escape(name)}</td><td>{off}</td><td>{on}</td></tr>'
                    for name, off, on in rows)
    course = ''.join(
        f'<tr><td>{window["at_seconds"]:.0f} s</td><td>{window["rss_bytes"] / 2**20:.0f}</td>'
        f'<td>{window["dram_bytes"] / 2**20:.0f}</td>'
        f'<td>{window["page_utilization"] or 0:.1%}</td></tr>' for window in windows)
    return f'''<!doctype html><html lang="en"><meta charset="utf-8"><title>Isotherm: demo</title>
<style>{STYLE}</style><h1>Pages of one temperature</h1>
<p>{options.keys} records of 1 KiB, {options.rate} reads a second, Zipfian 0.99, windows of
{options.window:g} s, index {html.escape(options.index)}.</p>
<table><tr><th></th><th>management off</th><th>on</th></tr>{cells}</table>{key()}
<div class="maps">{space("Before: loaded", before)}{space("After: served", after)}</div>
<h2>Window by window, management on</h2>
<table><tr><th>time</th><th>RSS MiB</th><th>DRAM MiB</th><th>utilization</th></tr>{course}</table>
</html>
'''
