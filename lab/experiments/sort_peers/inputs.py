"""Inputs of the named cases, always the same. A kind makes some lines, or bytes, at a time."""
import base64
import random
import struct

SEED = 1
MANY = 10_000  # lines at a time
HOSTS = 100_000


def csv(r, first):
    """Number, signed amount, key of 12 letters of both cases, one of 200 towns, filler."""
    return ''.join(
        f'{n},{r.randrange(-10**7, 10**7) / 100:.2f},{base64.b64encode(r.randbytes(9)).decode()},'
        f'{r.choice(("Town", "town"))}{r.randrange(100)},{r.getrandbits(128):032x}\n'
        for n in range(first, first + MANY)).encode()


def urls(r, _):
    """Host of rank k with a probability of about 1/k."""
    return ''.join(
        f'https://www.host{int(HOSTS ** r.random())}.example.com/{r.randrange(2000, 2027)}/'
        f'{r.randrange(10_000)}/{r.getrandbits(64):016x}.html\n' for _ in range(MANY)).encode()


def tiny(r, _):
    """Numbers of up to six digits."""
    return ('\n'.join(map(str, r.choices(range(10**6), k=MANY))) + '\n').encode()


def repeated(r, _):
    """Lines of 1000 values."""
    return ''.join(f'value-{i:03d}-{"x" * (i % 70)}\n'
                   for i in r.choices(range(1000), k=MANY)).encode()


def long(r, _):
    """Lines of 500 bytes that differ at once."""
    return ''.join(f'{r.getrandbits(64):016x}{"v" * 483}\n' for _ in range(MANY)).encode()


def klv(r, _):
    """Records with values of 1 to 100 KB."""
    values = (r.randrange(1000, 100_000) for _ in range(100))
    return b''.join(r.randbytes(10) + struct.pack('<I', n) + r.randbytes(n) for n in values)


def randomly(r, _):
    return r.randbytes(1_000_000)


# Kind: what makes it, megabytes.
KINDS = {'csv': (csv, 520), 'urls': (urls, 650), 'tiny': (tiny, 413), 'repeated': (repeated, 400),
         'long': (long, 400), 'klv': (klv, 500), 'records': (randomly, 1000),
         'integers': (randomly, 400)}


def make(kind, path, megabytes):
    """Writes about so many megabytes, whole lines; of bytes exactly."""
    source = random.Random(SEED)
    some, _ = KINDS[kind]
    with open(path, 'wb') as file:
        first = 0
        while file.tell() < megabytes * 1_000_000:
            file.write(some(source, first))
            first += MANY
