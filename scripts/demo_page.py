"""The demo's HTML page: a table and the address space before and after, one cell a page, coloured
by temperature. Self-contained: no script, no other file; the maps are pictures in the page, so
that some hundred thousand cells open at once."""
import base64
import html
import struct
import zlib

COLUMNS = 512
SIDE = 2  # pixels of a cell
# Colour of a heap's pages when they are in DRAM; pages that are not are drawn pale.
COLOURS = {'new': '#e8a33d', 'hot': '#d62728', 'cold': '#1f77b4', 'node': '#7f7f7f'}
ABSENT = '#e9eef3'
STYLE = '''body{font:15px sans-serif;max-width:2200px;margin:2em auto;padding:0 1em;color:#222}
table{border-collapse:collapse}
td,th{padding:.25em 1em;text-align:right;border-bottom:1px solid #ddd}
td:first-child{text-align:left}.maps{display:flex;gap:2em;flex-wrap:wrap}
img{image-rendering:pixelated;display:block}
.key span{display:inline-block;width:1em;height:1em;margin:0 .4em 0 1.2em;vertical-align:-2px}'''


def rgb(colour):
    return bytes.fromhex(colour[1:])


def palette(colour):
    """Colours of '0' (no page of the cell in DRAM) to '9' (all); the last is the page's ground."""
    shades = [rgb(ABSENT)]
    for level in range(1, 10):
        share = 0.25 + 0.75 * level / 9
        shades.append(bytes(round(255 + share * (part - 255)) for part in rgb(colour)))
    return shades + [b'\xff\xff\xff']


def png(width, rows, shades):
    """A picture of palette numbers, a byte each."""
    def chunk(kind, data):
        return (struct.pack('>I', len(data)) + kind + data +
                struct.pack('>I', zlib.crc32(kind + data)))
    lines = b''.join(b'\0' + row for row in rows)
    return (b'\x89PNG\r\n\x1a\n' +
            chunk(b'IHDR', struct.pack('>IIBBBBB', width, len(rows), 8, 3, 0, 0, 0)) +
            chunk(b'PLTE', b''.join(shades)) + chunk(b'IDAT', zlib.compress(lines, 9)) +
            chunk(b'IEND', b''))


def draw(cells, colour, name):
    """A picture of the cells, row by row."""
    ground = bytes([10])
    numbers = bytes(int(cell) for cell in cells)
    rows = [numbers[at:at + COLUMNS].ljust(COLUMNS, ground)
            for at in range(0, len(numbers), COLUMNS)]
    picture = base64.b64encode(png(COLUMNS, rows, palette(colour))).decode()
    return (f'<img alt="pages of {name}" width="{COLUMNS * SIDE}" height="{len(rows) * SIDE}" '
            f'src="data:image/png;base64,{picture}">')


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
        parts.append(draw(heap['cells'], colour, name.upper()))
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
