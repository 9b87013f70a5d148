"""How much of each page a store's clients used: from the keys that they used, and where the values
of these lie (ISOTHERM LOCATE)."""
import dataclasses

PAGE = 4096
KEYS_A_COMMAND = 1000
# Values that lie farther apart than this many pages lie in different pieces of the address space.
# Without management one page in some twenty holds a used value, so that no piece is cut by chance.
GAP = 1024


@dataclasses.dataclass
class Pages:
    """The pages in DRAM on which values lie, and the bytes of used values in each."""
    numbers: list   # addresses / PAGE, ascending
    used: dict      # page number -> bytes, where there are any; of pages in `numbers` only
    gone: int       # pages with used bytes that had left DRAM again when the map was made
    seconds: float  # in which the values were used

    @property
    def utilization(self):
        """Share of used bytes in the pages that hold any."""
        return sum(self.used.values()) / (len(self.used) * PAGE) if self.used else 0

    @property
    def share(self):
        """Share of used bytes in all pages."""
        return sum(self.used.values()) / (len(self.numbers) * PAGE) if self.numbers else 0


def used_bytes(places):
    """Page number -> bytes, of the values at (address, bytes)."""
    found = {}
    for address, size in places:
        while size > 0:
            here = min(size, PAGE - address % PAGE)
            found[address // PAGE] = found.get(address // PAGE, 0) + here
            address, size = address + here, size - here
    return found


def between(used):
    """All pages from the first used one to the last, without the gaps."""
    numbers = []
    for page in sorted(used):
        if numbers and page - numbers[-1] <= GAP:
            numbers.extend(range(numbers[-1] + 1, page))
        numbers.append(page)
    return numbers


def in_dram(heaps):
    """The pages of NEW, HOT and COLD that are in DRAM."""
    numbers = []
    for name in ('new', 'hot', 'cold'):
        first, cells = int(heaps[name]['address']) // PAGE, heaps[name]['cells']
        each = int(heaps[name]['pages_per_cell'])
        for at, cell in enumerate(cells):
            if cell != '0':
                numbers.extend(range(first + at * each, first + (at + 1) * each))
    return numbers


def used_lately(lines, windows, seconds):
    """The keys used within the last so many seconds, and how many those were: whole windows, of the
    driver's report, as in its file of used keys."""
    taken, passed = 0, 0
    while taken < len(windows) and passed < seconds:
        taken += 1
        passed += windows[-taken]['seconds']
    pairs = (line.split() for line in lines)
    return [key for key, ago in pairs if int(ago) < taken], passed


def look(client, keys, heaps, seconds):
    """Asks where the values of `keys` lie, used in the last `seconds`. `heaps`: what ISOTHERM PAGES
    answered, or None."""
    places = []
    for at in range(0, len(keys), KEYS_A_COMMAND):
        found = client.ask('ISOTHERM', 'LOCATE', *keys[at:at + KEYS_A_COMMAND])
        places.extend(place for place in found if place)
    used = used_bytes(places)
    numbers = in_dram(heaps) if heaps else between(used)
    present = set(numbers)
    drawn = {page: size for page, size in used.items() if page in present}
    return Pages(numbers, drawn, len(used) - len(drawn), seconds)
