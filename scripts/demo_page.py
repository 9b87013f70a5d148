"""The demo's HTML page and its picture: a table, DRAM over time, and rows of pages with management
off and on, each page coloured by how much of it was used of late. No script, no other file."""
import html
import math

COLUMNS = 128
ROWS = 32  # of the longer of the two maps
CELL = 8   # pixels from one page to the next
SMALL_COLUMNS, SMALL_ROWS, SMALL_CELL = 64, 4, 12
# From nothing used to all; light to dark, so that no hue has to be told from another.
STEPS = (('nothing', '#ffffff'), ('to 1/4', '#9ecae1'), ('to 1/2', '#4292c6'),
         ('to 3/4', '#08519c'), ('more', '#08203e'))
PAGE = 4096
STYLE = ''':root{color-scheme:light dark}
body{font:15px sans-serif;max-width:1200px;margin:2em auto;padding:0 1em}
table{border-collapse:collapse}
td,th{padding:.25em 1em;text-align:right;border-bottom:1px solid #888}
td:first-child{text-align:left}svg{max-width:100%;height:auto}'''


def step_of(used):
    """The colour's number: 0 for nothing, 1 for up to a quarter of the page, ..."""
    return -(-4 * used // PAGE)


def sample(pages, columns, every):
    """The first of each `every` rows of pages, as rows of colours' numbers."""
    stride = columns * every
    return [[step_of(pages.used.get(number, 0)) for number in pages.numbers[at:at + columns]]
            for at in range(0, len(pages.numbers), stride)]


def grid(rows, left, top, cell):
    """The rows as squares: one path a colour, which is small and opens at once."""
    side = cell - 1
    paths = [[] for _ in STEPS]
    for y, row in enumerate(rows):
        for x, step in enumerate(row):
            paths[step].append(f'M{left + x * cell} {top + y * cell}h{side}v{side}h-{side}z')
    return ''.join(f'<path d="{"".join(path)}" fill="{colour}" stroke="#aab" stroke-width=".5"/>\n'
                   for path, (_, colour) in zip(paths, STEPS) if path)


def legend(left, top):
    parts = [f'<text x="{left}" y="{top + 12}">used of a page:</text>']
    left += 110
    for name, colour in STEPS:
        parts.append(f'<rect x="{left}" y="{top}" width="14" height="14" fill="{colour}" '
                     f'stroke="#667"/><text x="{left + 20}" y="{top + 12}">{name}</text>')
        left += 95
    return '\n'.join(parts)


def drawing(title, width, height, body):
    # White below, so that it reads on a dark page too.
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" font-family="sans-serif" font-size="13" '
            f'fill="#222"><title>{title}</title>\n'
            f'<rect width="{width}" height="{height}" rx="8" fill="#fff"/>\n{body}\n</svg>\n')


def in_words(pages):
    gone = f'; {pages.gone:,} pages with used values had left DRAM again' if pages.gone else ''
    return (f'{len(pages.numbers) * PAGE >> 20} MiB of pages in DRAM; in the last '
            f'{pages.seconds:.0f} s {len(pages.used):,} of {len(pages.numbers):,} pages held used '
            f'values; used were {pages.utilization:.1%} of these, {pages.share:.1%} of all{gone}')


def at_intervals(course, seconds):
    """Of a course of (second, value) the last values up to each multiple of `seconds`."""
    values = {}
    for second, value in course:
        values[math.ceil(second / seconds)] = value
    return [value for _, value in sorted(values.items())]


def chart(off, on, left, top, width, height):
    """DRAM over time, of both runs: a line each, from 0 up."""
    end = max(side.course[-1][0] for side in (off, on))
    most = max(dram for side in (off, on) for _, dram in side.course)

    def place(second, dram):
        return f'{left + second / end * width:.1f} {top + height - dram / most * height:.1f}'
    parts = [f'<path d="M{left} {top}v{height}h{width}" fill="none" stroke="#667"/>']
    for title, side, colour in (('off', off, '#887'), ('on', on, '#08519c')):
        line = 'L'.join(place(*point) for point in side.course)
        x, y = place(*side.course[-1]).split()
        parts.append(f'<path d="M{line}" fill="none" stroke="{colour}" stroke-width="2"/>'
                     f'<text x="{x}" y="{float(y) - 6:.1f}" text-anchor="end">{title}: '
                     f'{side.course[-1][1] >> 20} MiB</text>')
    begin = place(end - sum(window['seconds'] for window in on.report['windows']), 0).split()[0]
    parts.append(f'<path d="M{begin} {top}v{height}" stroke="#667" stroke-dasharray="3"/>'
                 f'<text x="{left}" y="{top + height + 16}">DRAM over {end:.0f} s of reads, from 0 '
                 f'up; the figures are of what is behind the dashes</text>')
    return '\n'.join(parts)


def map_of(pages, every):
    rows = sample(pages, COLUMNS, every)
    width, height = COLUMNS * CELL + 20, len(rows) * CELL + 20
    return (f'<p>{in_words(pages)}.</p>'
            + drawing('pages, coloured by how much of each was used', width, height,
                      grid(rows, 10, 10, CELL)))


def every_nth(pages, columns, rows):
    """So many rows of pages stand for one drawn row, that at most `rows` are drawn."""
    return max(1, -(-len(pages.numbers) // (columns * rows)))


def picture(off, on):
    """The small picture: DRAM over time, and as many pages of each run, from all evenly."""
    width = SMALL_COLUMNS * SMALL_CELL
    parts, top = [chart(off, on, 16, 16, width, 90)], 144
    for title, pages in (('Off', off.pages), ('On', on.pages)):
        every = every_nth(pages, SMALL_COLUMNS, SMALL_ROWS)
        rows = sample(pages, SMALL_COLUMNS, every)
        size = len(pages.numbers) * PAGE >> 20
        parts.append(
            f'<text x="16" y="{top + 14}"><tspan font-weight="bold">{title}:</tspan> {size} MiB of '
            f'pages in DRAM, {len(pages.used) / len(pages.numbers):.0%} of them with used bytes; '
            f'{pages.share:.1%} of all their bytes was used</text>')
        parts.append(grid(rows, 16, top + 24, SMALL_CELL))
        top += 24 + SMALL_ROWS * SMALL_CELL + 16
    parts.append(legend(16, top))
    parts.append(f'<text x="16" y="{top + 38}">A square is a page of 4 KiB; drawn are '
                 f'{SMALL_ROWS} rows of {SMALL_COLUMNS} neighbours, spread evenly over the pages '
                 'in DRAM.</text>')
    parts.append(f'<text x="16" y="{top + 56}">Used: by reads of the last '
                 f'{off.pages.seconds:.0f} s with management off, {on.pages.seconds:.0f} s with '
                 'it. Only values count, their keys do not.</text>')
    return drawing('DRAM, and how much of each of its pages was used, with management off and on',
                   width + 32, top + 70, '\n'.join(parts))


def render(rows, off, on, reads, options):
    cells = ''.join(f'<tr><td>{html.escape(name)}</td><td>{left}</td><td>{right}</td></tr>'
                    for name, left, right in rows)
    longer = max(off.pages, on.pages, key=lambda pages: len(pages.numbers))
    every = every_nth(longer, COLUMNS, ROWS)
    return f'''<!doctype html><html lang="en"><meta charset="utf-8"><title>Isotherm: demo</title>
<style>{STYLE}</style><h1>How much DRAM a store takes, and how much of each page is used</h1>
<p>{options.keys:,} records of 1 KiB; {reads}. Windows of {options.window:g} s, index
{html.escape(options.index)}.</p>
<table><tr><th></th><th>management off</th><th>on</th></tr>{cells}</table>
{drawing('DRAM over time', 800, 200, chart(off, on, 10, 20, 780, 150))}
<p>Below, a square is a page of 4 KiB that is in DRAM, its colour how much of it the clients' reads
of the last {on.pages.seconds:.0f} s used. Of both runs one row of {COLUMNS} neighbouring pages in
{every} is drawn, in the order of addresses: fewer rows are less DRAM. Pages that have left it are
not drawn. Only values count, their keys do not; in the page utilization of the table they do.</p>
{drawing('the colours', 620, 30, legend(10, 8))}
<h2>Management off</h2>{map_of(off.pages, every)}
<h2>Management on</h2>{map_of(on.pages, every)}
</html>
'''
