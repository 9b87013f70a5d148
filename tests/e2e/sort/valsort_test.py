"""`isotherm valsort` beside `isotherm sort`: what one makes in order, the other finds in order.

    valsort_test.py PATH_OF_ISOTHERM"""
import os
import random
import struct
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
SEED = 5


def run(*args):
    return subprocess.run([TOOL, *args], capture_output=True, text=True, check=False)


def lines():
    numbers = random.Random(SEED)
    return "".join(f"{numbers.choice('abc')},{numbers.randrange(50)},{numbers.randrange(10**6)}\n"
                   for _ in range(20000)).encode()


def records():
    return random.Random(SEED).randbytes(24 * 5000)


def klv():
    numbers = random.Random(SEED)
    return b"".join(numbers.randbytes(4) + struct.pack("<I", n) + numbers.randbytes(n)
                    for n in (numbers.randrange(60) for _ in range(5000)))


def same_flags(d):
    for name, data, kinds in (
            ("lines", lines(), [[], ["-r"], ["-t,", "-k2"], ["-t,", "-k", "2", "-r"], ["-u"],
                                ["-s", "-t,", "-k3,3n"], ["-t,", "-k2,2n", "-u"],
                                ["-t,", "-k1,1r", "-k2,2n"]]),
            ("records", records(), [["--record", "24"], ["--record", "24", "-r", "--key-size", "3"],
                                    ["--record", "24", "--key-offset", "20", "--key-size", "4"],
                                    ["--record", "8", "--key-size", "1", "-u"]]),
            ("klv", klv(), [["--klv", "--key-size", "4"], ["--klv", "--key-size", "4", "-r"]])):
        with open(f"{d}/{name}", "wb") as f:
            f.write(data)
        for flags in kinds:
            r = run("sort", f"{d}/{name}", "-o", d + "/out", *flags)
            assert r.returncode == 0, (SEED, flags, r)
            own = flags if name != "lines" else ["--lines", *flags]
            r = run("valsort", d + "/out", *own)
            assert r.returncode == 0 and "SUCCESS" in r.stderr, (SEED, flags, r)
            r = run("valsort", f"{d}/{name}", *own)
            assert r.returncode == 1 and "unordered" in r.stderr, (SEED, flags, r)


def what_it_says(d):
    with open(d + "/out", "wb") as f:
        f.write(b"b 2\na 3\nb 3\nb 3\na 1")
    r = run("valsort", "--lines", d + "/out")
    assert r.returncode == 1 and r.stdout == "" and r.stderr == (
        "First unordered record is record 1\nERROR - the records are not in order\n"), r
    r = run("valsort", "-q", "--lines", d + "/out")
    assert r.returncode == 1 and r.stderr == "", r
    with open(d + "/out", "wb") as f:
        f.write(b"a\nb\nb\nc\n")
    assert run("valsort", "--lines", d + "/out").returncode == 0
    r = run("valsort", "-u", d + "/out")
    assert r.returncode == 1 and "First unordered record is record 2" in r.stderr, r
    r = subprocess.run([TOOL, "valsort", "-", "--lines", "-q"], input=b"b\na\n", check=False)
    assert r.returncode == 1


def mistakes(d):
    for said, status, args in (("leave them out", 2, ["--lines", "--expect", "1"]),
                               ("excludes", 2, ["--lines", "--record", "8"]),
                               ("no multiple", 1, ["--record", "12"]),
                               ("the key of a record is u8", 2, ["--record", "8", "-k2"])):
        r = run("valsort", d + "/out", *args)
        assert r.returncode == status and said in r.stderr, (args, r)
        assert r.stderr.count("\n") == 1, r


with tempfile.TemporaryDirectory() as directory:
    same_flags(directory)
    what_it_says(directory)
    mistakes(directory)
print("ok")
