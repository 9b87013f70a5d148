"""Inputs and outputs of `isotherm sort` that are no plain files: compressed, pipes, devices; and
what GNU sort's users give it: names in a file, limits, several directories.

    streams_test.py PATH_OF_ISOTHERM [--sanitized]

A sanitized program needs memory of its own: its limits are not looked at."""
import gzip
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

TOOL = sys.argv[1]
SANITIZED = sys.argv[2:] == ["--sanitized"]


def lines(n, seed):
    """Lines in no order, and the seed for a message where they turn out badly sorted."""
    numbers = random.Random(seed)
    return "".join(f"{numbers.randrange(10**9)},{i % 7}\n" for i in range(n)).encode()


def run(*args, given=None, **more):
    """The tool's end, with `given` on its standard input."""
    return subprocess.run([TOOL, "sort", *args], input=given, capture_output=True, check=False,
                          **more)


def sorted_by_gnu(data, *args):
    return subprocess.run(["sort", *args], input=data, stdout=subprocess.PIPE, check=True,
                          env={**os.environ, "LC_ALL": "C"}).stdout


def good(*args, given=None, **more):
    r = run(*args, given=given, **more)
    assert r.returncode == 0 and r.stderr == b"", (args, r.returncode, r.stderr)
    return r.stdout


def refused(said, *args, status=1, given=None):
    r = run(*args, given=given)
    assert r.returncode == status and said in r.stderr.decode(), (args, r)
    assert r.stderr.count(b"\n") == 1 and r.stdout == b"", (args, r)


def store(path, data):
    with open(path, "wb") as f:
        f.write(data)


def contents(path):
    with open(path, "rb") as f:
        return f.read()


def compressed_inputs(d, data, expected):
    """By name, by standard input, of several frames, beside plain ones, larger than memory."""
    half = data.index(b"\n", len(data) // 2) + 1
    store(d + "/in.gz", gzip.compress(data[:half]) + gzip.compress(data[half:]))
    store(d + "/other name", data)
    both = sorted_by_gnu(data + data)
    for more in ([], ["--memory", "32mb"]):
        assert good(d + "/in.gz", *more) == expected
        assert good(given=contents(d + "/in.gz"), *more) == expected
        assert good(d + "/in.gz", d + "/other name", *more) == both
    with open(d + "/in.gz", "rb") as f:
        assert good(stdin=f) == expected
    for how in ("gzip", "zstd", "lz4"):
        packed = good("--pack", how, d + "/in.gz")
        assert len(packed) < len(expected) * 0.9, (how, len(packed))
        assert good("-r", given=packed) == sorted_by_gnu(data, "-r"), how
    raw = contents(d + "/in.gz")
    assert good("--no-unpack", d + "/in.gz") == sorted_by_gnu(raw)
    store(d + "/cut.gz", raw[:-9])
    refused("the file is cut", d + "/cut.gz", "-o", d + "/new")
    assert not os.path.exists(d + "/new")


def compressed_outputs(d, data, expected):
    store(d + "/in", data)
    good(d + "/in", "-o", d + "/out.gz", "--memory", "40mb")
    assert gzip.decompress(contents(d + "/out.gz")) == expected
    for suffix, magic in ((".zst", b"\x28\xb5\x2f\xfd"), (".lz4", b"\x04\x22\x4d\x18")):
        for more in ([], ["--verify"], ["--algorithm", "mergepass"], ["--concurrency", "no-sync"]):
            good(d + "/in", "-o", d + "/out" + suffix, *more)
            assert contents(d + "/out" + suffix).startswith(magic)
            assert good(d + "/out" + suffix) == expected, (suffix, more)
    good(d + "/in", "-o", d + "/plain.gz", "--pack", "none")
    assert contents(d + "/plain.gz") == expected
    assert gzip.decompress(good("--pack", "gzip", given=b"")) == b""
    refused("too little to compress", d + "/in", "-o", d + "/new.gz", "--memory", "33mb")
    assert not os.path.exists(d + "/new.gz")


def pipes(d, data, expected):
    """By name, on both sides; one that nobody writes to for a while is waited for."""
    os.mkfifo(d + "/pipe")
    with subprocess.Popen([TOOL, "sort", d + "/pipe"], stdout=subprocess.PIPE) as p:
        store(d + "/pipe", data)
        assert p.stdout.read() == expected
    store(d + "/in", data)
    with subprocess.Popen([TOOL, "sort", d + "/in", "-o", d + "/pipe"]) as p:
        assert contents(d + "/pipe") == expected
    assert p.returncode == 0
    with subprocess.Popen([TOOL, "sort", d + "/pipe"], stderr=subprocess.PIPE) as p:
        while b"State:\tS" not in contents(f"/proc/{p.pid}/status"):
            time.sleep(0.01)  # leaves the processor to the sort; the condition alone ends the wait
        p.send_signal(signal.SIGINT)
        assert b"interrupted" in p.stderr.read()
    assert p.returncode == 130
    os.remove(d + "/pipe")
    good(d + "/in", "-o", "/dev/null")
    for more in (["-u"], ["--count"], ["-r"], ["--algorithm", "mergepass"], ["--memory", "32mb"],
                 ["--concurrency", "no-sync"], ["--concurrency", "no-io-overlap"]):
        good(d + "/in", "-o", d + "/out", *more)
        assert good(given=data, *more) == contents(d + "/out"), more
    for order in (expected, sorted_by_gnu(data, "-r")):  # is copied
        assert good(given=order) == expected
    records = random.Random(4).randbytes(8000000)
    for more in (["--record", "8", "--key-size", "8"], ["--record", "100"],
                 ["--record", "100", "--algorithm", "ems", "--memory", "32mb"],
                 ["--record", "100", "--algorithm", "samplesort"]):
        store(d + "/records", records)
        good(d + "/records", "-o", d + "/out", *more)
        assert good(given=records, *more) == contents(d + "/out"), more


def a_reader_that_goes(d, data):
    """Ends the sort as SIGPIPE does, unless that is ignored; with compression as well."""
    store(d + "/in", data)
    for more in ([], ["--pack", "zstd"], ["--verify"]):
        for ignored in (False, True):
            read, write = os.pipe()
            os.close(read)
            p = subprocess.run(
                [TOOL, "sort", d + "/in", *more], stdout=write, stderr=subprocess.PIPE,
                check=False, restore_signals=not ignored)
            os.close(write)
            if ignored:
                assert p.returncode == 1 and b"standard output: Broken pipe" in p.stderr, (more, p)
            else:
                assert p.returncode == -signal.SIGPIPE and p.stderr == b"", (more, p)


def outputs_that_are_inputs(d, data, expected):
    store(d + "/both", data)
    os.chmod(d + "/both", 0o640)
    good(d + "/both", "-o", d + "/both")
    assert contents(d + "/both") == expected
    assert os.stat(d + "/both").st_mode & 0o7777 == 0o640
    store(d + "/both", data)
    good(d + "/both", d + "/both", "-o", d + "/both")
    assert contents(d + "/both") == sorted_by_gnu(data + data)


def flags_of_gnu_sort(d, data, expected):
    store(d + "/in", data)
    store(d + "/names", f"{d}/in\0{d}/in\0".encode())
    both = sorted_by_gnu(data + data)
    assert good("--files0-from", d + "/names") == both
    assert good("--files0-from", "-", given=contents(d + "/names")) == both
    store(d + "/names", f"{d}/in\0\0".encode())
    refused("a name is empty", "--files0-from", d + "/names")
    store(d + "/names", b"")
    refused("names no input", "--files0-from", d + "/names")
    refused("name no others", "--files0-from", d + "/names", d + "/in", status=2)
    refused("cannot read", "--files0-from", d + "/none")
    refused("cannot read", "--files0-from", "")
    refused("but takes 50%", "-S", "", d + "/in", status=2)
    refused("but takes bytes", "--memory", "", d + "/in", status=2)
    assert good(d + "/in", "--parallel", "3", "-S", "50%") == expected
    for size, least in (("1k", 32 << 20), ("40M", 40 << 20), ("65536", 64 << 20), ("1G", 1 << 30)):
        said = good(d + "/in", "-o", d + "/out", "--json", "-", "-S", size).decode()
        assert f'"memory_limit_bytes": {least},' in said, (size, said)
    for size in ("101%", "x", "5X"):
        refused("-S", d + "/in", "-S", size, status=2)
    assert good(d + "/in", "-T", d, "-T", "/dev/shm", "--tmp", d, "-S", "32M",
                "--algorithm", "mergepass") == expected
    refused("--tmp", d + "/in", "-T", d, "-T", d + "/none")


def memory_promise(d):
    """Input from a pipe lies in the memory limit or in a file, and compression takes its part.

    The kernel counts what this program held when it started the tool: it holds little yet."""
    with open(d + "/in", "wb") as f:
        for seed in range(100):
            f.write(lines(20000, seed))
    for mib, more in ((32, []), (36, ["--pack", "zstd"]), (64, []), (64, ["--pack", "gzip"]),
                      (256, ["--pack", "lz4"])):
        with subprocess.Popen(["cat", d + "/in"], stdout=subprocess.PIPE) as cat:
            p = subprocess.Popen([TOOL, "sort", "--memory", f"{mib}mb", *more], stdin=cat.stdout,
                                 stdout=subprocess.DEVNULL)
            cat.stdout.close()
            _, status, usage = os.wait4(p.pid, 0)
            p.returncode = os.waitstatus_to_exitcode(status)
        assert p.returncode == 0, (mib, more)
        assert SANITIZED or usage.ru_maxrss <= mib << 10, (mib, more, usage.ru_maxrss)


with tempfile.TemporaryDirectory() as directory:
    memory_promise(directory)
    text = lines(300000, 1)
    in_order = sorted_by_gnu(text)
    compressed_inputs(directory, text, in_order)
    compressed_outputs(directory, text, in_order)
    pipes(directory, text, in_order)
    a_reader_that_goes(directory, text)
    outputs_that_are_inputs(directory, text, in_order)
    flags_of_gnu_sort(directory, text, in_order)
print("ok")
