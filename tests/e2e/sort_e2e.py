"""The sorting commands as a user types them.

    sort_e2e.py PATH_OF_ISOTHERM [--sanitized | --limits]

A sanitized program needs memory of its own: its limits are not looked at. --limits: nothing but
the limits, with larger inputs and in smaller steps."""
import errno
import itertools
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile

TOOL = sys.argv[1]
SANITIZED = sys.argv[2:] == ["--sanitized"]
ONLY_LIMITS = sys.argv[2:] == ["--limits"]
RECORDS = ["--record", "100"]
TIMES_MEMORY = 20 if ONLY_LIMITS else 8  # size of inputs in memory limits
signal.signal(signal.SIGINT, signal.SIG_DFL)  # ignored where a shell runs this in the background


def run(*args):
    return subprocess.run([TOOL, *args], capture_output=True, text=True)


def must(*args):
    r = run(*args)
    assert r.returncode == 0, (args, r.returncode, r.stderr)
    return r


def peak_rss_bytes(*args):
    """Runs the tool and returns what the kernel says its peak resident set was."""
    pid = os.spawnv(os.P_NOWAIT, TOOL, [TOOL, *args])
    _, status, usage = os.wait4(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0, args
    return usage.ru_maxrss * 1024


def shown_on_a_terminal(*args):
    """Returns the text that the tool writes to a terminal on its standard error.

    The terminal is read to the end: the kernel hands a terminal's bytes over piece by piece, some
    of them after the writer has ended."""
    ours, terminal = os.openpty()
    shown = b""
    with subprocess.Popen([TOOL, *args], stdout=subprocess.DEVNULL, stderr=terminal) as p:
        os.close(terminal)
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError as closed:  # Linux says that nobody holds the other end by EIO
                assert closed.errno == errno.EIO, closed
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert p.returncode == 0, (args, p.returncode, shown)
    return shown.decode()


def known_checksums(d):
    assert must("gensort", "-c", "-a", "1000", d + "/a").stderr.strip() == "1f5dfb3631a"
    os.remove(d + "/a")


def progress_is_shown_when_asked(d):
    for args in (["gensort", "300000", d + "/p"], ["valsort", "-q", d + "/p"]):
        assert run(*args).stderr == ""
        shown = run(*args, "--progress").stderr.splitlines()
        assert [line.split()[1] for line in shown] == [f"{n}%" for n in range(10, 101, 10)], shown
    shown = shown_on_a_terminal("gensort", "300000", d + "/p")
    assert shown.startswith("\rgenerating ") and shown.endswith("\r\033[K"), shown
    os.remove(d + "/p")


def round_trip(d):
    total = must("gensort", "-c", "20000", d + "/in").stderr.strip()
    for algorithm in ("auto", "onepass", "mergepass", "ems", "samplesort", "pmsort", "pmsort+",
                      "modified-key"):
        must("sort", *RECORDS, d + "/in", "-o", d + "/out", "--algorithm", algorithm,
             "--verify", "--memory", "64mb")
        r = must("valsort", d + "/out", "--expect", total)
        assert "SUCCESS" in r.stderr
    r = run("valsort", d + "/in")
    assert r.returncode == 1 and "unordered" in r.stderr


def memory_promise(d):
    """Many times the limit, as the kernel counts; files in memory where there is room."""
    least = 64 if ONLY_LIMITS else 32
    must("gensort", str(-(-(least << 20) * TIMES_MEMORY // 100)), d + "/big")
    for mib, algorithm, more in ((least, "auto", []), (least, "mergepass", ["--compress", "on"]),
                                 (2 * least, "ems", [])):
        peak = peak_rss_bytes("sort", *RECORDS, d + "/big", "-o", d + "/out", "--memory",
                              f"{mib}mb", "--algorithm", algorithm, *more)
        assert peak <= mib << 20, (algorithm, mib, peak)
        must("valsort", "-q", d + "/out")
    os.remove(d + "/big")
    os.remove(d + "/out")


def memory_promise_of_short_lines(d):
    """Sorts many times the limit of lines that all begin alike, which are moved in pieces."""
    step = 7919  # to bring the numbers out of order
    n = 150001
    some = "".join(f"common/prefix/of/thirty/bytes/{i * step % n:012d}\n" for i in range(n))
    with open(d + "/big", "w", encoding="ascii") as f:
        for _ in range((32 << 20) * TIMES_MEMORY // len(some) + 1):
            f.write(some)
    peak = peak_rss_bytes("sort", d + "/big", "-o", d + "/out", "--memory", "32mb")
    assert peak <= 32 << 20, peak
    assert os.path.getsize(d + "/out") == os.path.getsize(d + "/big") >= TIMES_MEMORY * 32 << 20
    subprocess.run(["sort", "-c", d + "/out"], env={**os.environ, "LC_ALL": "C"}, check=True)
    peak = peak_rss_bytes("sort", d + "/big", "-o", d + "/out", "--memory", "32mb",
                          "--top", "10000")
    assert peak <= 32 << 20, peak
    os.remove(d + "/big")
    os.remove(d + "/out")


def memory_promise_of_one_long_line(d):
    """Sorts a line longer than the limit, whose field begins far behind its start."""
    with open(d + "/big", "wb") as f:
        f.write(b"short\tm\n" + b"x" * (100 << 20) + b"\tb\nanother\tz\n")
    peak = peak_rss_bytes("sort", d + "/big", "-o", d + "/out", "-k", "2", "--memory", "32mb")
    assert peak <= 32 << 20, peak
    subprocess.run(["sort", "-c", "-t", "\t", "-k", "2", d + "/out"],
                   env={**os.environ, "LC_ALL": "C"}, check=True)
    assert os.path.getsize(d + "/out") == os.path.getsize(d + "/big")
    os.remove(d + "/big")
    os.remove(d + "/out")


def directory_in_memory():
    shm = "/dev/shm"
    return shm if os.path.isdir(shm) and shutil.disk_usage(shm).free > 6 << 30 else None


FORMATS = {  # name: what the tool is told of it
    "in": RECORDS, "klv": ["--klv"], "lines": [],
}


def make_formats(d):
    with open(d + "/klv", "wb") as f:
        for i in range(20000):
            f.write(b"%010d" % (i * 7919 % 20000) + (40).to_bytes(4, "little") + b"v" * 40)
    with open(d + "/lines", "wb") as f:
        for i in range(20000):
            f.write(b"%d a line of text\n" % (i * 7919 % 20000))


def interrupted(d, algorithm, stage, source="in"):
    """SIGINT when the named stage begins, on a device slow enough not to be done by then."""
    with open(d + "/out", "w") as f:
        f.write("precious")
    before = sorted(os.listdir(d))
    p = subprocess.Popen([TOOL, "sort", f"{d}/{source}", "-o", d + "/out", "--algorithm", algorithm,
                          "--memory", "64mb", "--device", "emu:pmem@1/500", "--progress",
                          *FORMATS[source]], stderr=subprocess.PIPE, text=True)
    seen = []
    for line in p.stderr:
        seen.append(line.strip())
        if line.strip() == stage:
            p.send_signal(signal.SIGINT)
            break
    rest = p.stderr.read()
    assert p.wait() == 130, (algorithm, stage, p.returncode, seen, rest)
    assert "interrupted" in rest, rest
    assert sorted(os.listdir(d)) == before
    with open(d + "/out") as f:
        assert f.read() == "precious"


def ignored_signals_stay_ignored(d):
    """As nohup and jobs in the background have them."""
    for one in (signal.SIGHUP, signal.SIGINT):
        p = subprocess.Popen([TOOL, "sort", *RECORDS, d + "/in", "-o", d + "/out", "--memory",
                              "64mb", "--device", "emu:pmem@1/500", "--progress"],
                             stderr=subprocess.PIPE, text=True,
                             preexec_fn=lambda: signal.signal(one, signal.SIG_IGN))
        for line in p.stderr:
            if line.strip() == "RUN read":
                p.send_signal(one)
                break
        rest = p.stderr.read()
        assert p.wait() == 0, (one, p.returncode, rest)
    must("valsort", "-q", d + "/out")


def nobody_reads_the_progress(d):
    for args in (["sort", *RECORDS, d + "/in", "-o", d + "/out", "--memory", "64mb"],
                 ["gensort", "20000", d + "/g"]):
        p = subprocess.Popen([TOOL, *args, "--progress"], stderr=subprocess.PIPE)
        p.stderr.close()
        assert p.wait() == 0, (args, p.returncode)
    must("valsort", "-q", d + "/out")
    os.remove(d + "/g")


def gensort_interrupted(d):
    before = sorted(os.listdir(d))
    p = subprocess.Popen([TOOL, "gensort", "3000000", d + "/g", "--progress"],
                         stderr=subprocess.PIPE, text=True)
    p.stderr.readline()
    p.send_signal(signal.SIGINT)
    rest = p.stderr.read()
    assert p.wait() == 130 and "interrupted" in rest, (p.returncode, rest)
    assert sorted(os.listdir(d)) == before


def progress_on_a_terminal(d):
    """A new line for a stage that is new, and the line overwritten else."""
    shown = shown_on_a_terminal("sort", *RECORDS, d + "/in", "-o", d + "/out", "--memory", "64mb",
                                "--algorithm", "ems", "--no-fsync")
    assert shown.count("\n") <= 7, shown  # the stages of this sort
    assert "RUN read 100%" in shown and "MERGE write 100%" in shown, shown
    must("gensort", "150000", d + "/long")
    shown = shown_on_a_terminal("sort", *RECORDS, d + "/long", "-o", d + "/out", "--memory", "32mb",
                                "--algorithm", "ems", "--device", "emu:pmem@1/1000")
    assert re.search(r"MERGE write [1-9][0-9]?%, [0-9]+ s left", shown), shown
    os.remove(d + "/long")


def killed(d):
    """Whatever ends the process, nothing remains: also where it cannot clean up."""
    before = sorted(os.listdir(d))
    p = subprocess.Popen([TOOL, "sort", *RECORDS, d + "/in", "-o", d + "/killed", "--memory",
                          "64mb", "--device", "emu:pmem@1/500", "--progress"],
                         stderr=subprocess.PIPE, text=True)
    for line in p.stderr:
        if line.strip() == "RUN write":
            p.kill()
            break
    p.stderr.read()
    assert p.wait() == -signal.SIGKILL
    assert sorted(os.listdir(d)) == before


def cut_while_read(d):
    """The input is cut when the sort has mapped it and begins to read it."""
    must("gensort", "20000", d + "/shrinking")
    before = sorted(os.listdir(d))
    p = subprocess.Popen([TOOL, "sort", *RECORDS, d + "/shrinking", "-o", d + "/new", "--memory",
                          "512mb", "--device", "emu:pmem@1/500", "--progress"],
                         stderr=subprocess.PIPE, text=True)
    for line in p.stderr:
        if line.strip() == "RUN read":
            os.truncate(d + "/shrinking", 4096)
            break
    rest = p.stderr.read()
    assert p.wait() == 1 and "isotherm: " in rest and "cut" in rest, rest
    assert sorted(os.listdir(d)) == before
    os.remove(d + "/shrinking")


def beyond_the_limit_of_file_sizes(d):
    r = piped(f"ulimit -f 100; exec $1 sort $R {d}/in -o {d}/new")
    assert r.returncode == 1 and b"ulimit -f" in r.stderr, (r.returncode, r.stderr)
    assert not os.path.exists(d + "/new")


def without_threads(d):
    """Stacks that do not fit in the address space: the system refuses every thread."""
    def limited(*args):
        words = " ".join(f"'{a}'" for a in (TOOL, *args))
        return subprocess.run(["sh", "-c", f"ulimit -s 200000000000; exec {words}"],
                              capture_output=True, text=True)
    for extra in ([], ["--concurrency", "io-overlap", "--device", "emu:pmem"]):
        r = limited("sort", *RECORDS, d + "/in", "-o", d + "/alone", "--memory", "64mb", *extra)
        assert r.returncode == 0, r.stderr
        must("valsort", "-q", d + "/alone")
        os.remove(d + "/alone")
    os.mkdir(d + "/probed")
    r = limited("device", "probe", "--quick", d + "/probed", "-o", d + "/profile")
    assert r.returncode == 1 and "cannot start a thread" in r.stderr, (r.returncode, r.stderr)
    assert r.stderr.count("\n") == 1 and not os.path.exists(d + "/profile"), r.stderr
    os.rmdir(d + "/probed")


def piped(words, **streams):
    """Runs the shell on `words`, in which $1 is the tool and $R the words that name records."""
    return subprocess.run(["sh", "-c", words, "sh", TOOL], stderr=subprocess.PIPE, check=False,
                          env={**os.environ, "R": " ".join(RECORDS)}, **streams)


def streams(d):
    """Standard input and output, also as files that others have begun to read or write."""
    must("sort", *RECORDS, d + "/in", "-o", d + "/expected")
    with open(d + "/expected", "rb") as f:
        expected = f.read()
    for words in (f"cat {d}/in | $1 sort $R - -o {d}/new", f"$1 sort $R -o {d}/new < {d}/in",
                  f"$1 sort $R {d}/in > {d}/new",
                  f"$1 sort $R {d}/in -o /dev/stdout | cat > {d}/new",
                  f"cat {d}/in | $1 sort $R /dev/stdin -o /dev/fd/3 3> {d}/new",
                  f"cat {d}/in | $1 sort $R - -o - --memory 32mb --algorithm mergepass > {d}/new"):
        r = piped(words)
        assert r.returncode == 0 and r.stderr == b"", (words, r.stderr)
        with open(d + "/new", "rb") as f:
            assert f.read() == expected, words
    for name in ("/dev/stdout", "/proc/thread-self/fd/1"):
        r = piped(f"(echo kept; $1 sort $R {d}/in -o {name}; echo too) > {d}/new")
        with open(d + "/new", "rb") as f:
            assert f.read() == b"kept\n" + expected + b"too\n", (name, r.stderr)
    r = piped(f"(head -c 100 >/dev/null; $1 sort $R - -o {d}/new --top 5) < {d}/expected")
    with open(d + "/new", "rb") as f:
        assert f.read() == expected[100:600], r.stderr
    p = subprocess.Popen([TOOL, "sort", *RECORDS, d + "/in", "-o", "-"], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE)
    assert p.stdout.read(10) == expected[:10]
    p.stdout.close()
    assert p.stderr.read() == b"" and p.wait() == -signal.SIGPIPE
    for words, said in ((f"$1 sort $R {d}/in -o - > /dev/full", "No space left"),
                        (f"$1 sort $R {d}/in -o - >> {d}/in", "would be appended"),
                        (f"$1 sort $R {d}/in -o - --json - > {d}/new", "--json -"),
                        (f"$1 sort $R - -o {d}/other --json {d}/in < {d}/in", "would replace"),
                        (f"$1 sort $R {d}/in -o - --json {d}/new > {d}/new", "would replace"),
                        (f"$1 valsort - -o {d}/in < {d}/in", "would replace"),
                        (f"$1 sort $R {d}/in -o /dev/fd/3 3< {d}/expected", "not open for writing"),
                        (f"sleep 60 3> {d}/new & $1 sort $R {d}/in -o /proc/$!/fd/3; "
                         "r=$?; kill $!; exit $r", "holds no files"),
                        (f"$1 sort $R - -o {d}/other 0>{d}/new", "cannot read")):
        r = piped(words)
        assert r.returncode == 1 and said in r.stderr.decode(), (words, r.stderr)
        assert r.stderr.count(b"\n") == 1, r.stderr
    assert not os.path.exists(d + "/other")
    os.remove(d + "/new")
    os.remove(d + "/expected")


def benchmark_records_in_pipes(d):
    total = must("gensort", "-c", "20000", d + "/made").stderr.strip()
    for words in (f"$1 gensort 20000 - > {d}/new && cmp {d}/new {d}/made",
                  f"$1 gensort 20000 /dev/stdout | cmp - {d}/made",
                  f"$1 gensort 20000 - | $1 sort $R | $1 valsort - -q --expect {total}",
                  f"cat {d}/made | $1 sort $R -o {d}/new && $1 valsort -q /dev/stdin < {d}/new",
                  f"cat {d}/new | $1 valsort -q /dev/stdin"):
        r = piped(words)
        assert r.returncode == 0 and r.stderr == b"", (words, r.stderr)
    os.remove(d + "/made")
    os.remove(d + "/new")


def pipes_whose_owner_does_not_wait(d):
    """O_NONBLOCK is the pipe's, whoever set it."""
    with open(d + "/in", "rb") as f:
        records = f.read()
    read, write = os.pipe()
    os.set_blocking(read, False)
    with subprocess.Popen([TOOL, "sort", *RECORDS, "-", "-o", d + "/new", "--progress"], stdin=read,
                          stderr=subprocess.PIPE, text=True) as p:
        os.close(read)
        assert p.stderr.readline() == "COPY\n"  # nothing is there yet
        with open(write, "wb") as f:
            f.write(records)
        rest = p.stderr.read()
    assert p.returncode == 0, rest
    read, write = os.pipe()
    os.set_blocking(write, False)
    with subprocess.Popen([TOOL, "sort", *RECORDS, d + "/in", "-o", "-"], stdout=write) as p:
        os.close(write)
        with open(read, "rb") as f, open(d + "/new", "rb") as expected:
            assert f.read() == expected.read()
    assert p.returncode == 0
    os.remove(d + "/new")


def files_that_do_not_tell_their_size(d):
    """Those of /proc seem empty, those of /sys a page long."""
    for name in ("/proc/filesystems", "/sys/devices/system/cpu/online"):
        must("sort", name, "-o", d + "/new")
        with open(name, "rb") as f:
            lines = sorted(f.read().splitlines(keepends=True))
        assert lines
        with open(d + "/new", "rb") as f:
            assert f.read() == b"".join(lines)
    os.remove(d + "/new")


def inputs_are_never_removed(d):
    """Whatever they are called, and whatever is called like them."""
    with open(d + "/in", "rb") as f:
        records = f.read()
    for name in ("out.isotherm-3", ".isotherm-0", ".isotherm-0123456789abcdef-0"):
        shutil.copy(d + "/in", f"{d}/{name}")
        for _ in range(2):
            must("sort", *RECORDS, f"{d}/{name}", "-o", d + "/out")
            must("gensort", "1", d + "/out")
        with open(f"{d}/{name}", "rb") as f:
            assert f.read() == records, name
        os.remove(f"{d}/{name}")
    os.remove(d + "/out")


def interrupted_while_it_waits(d):
    """Nobody writes to the pipe."""
    before = sorted(os.listdir(d))
    p = subprocess.Popen([TOOL, "sort", "-o", d + "/new", "--progress"], stdin=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
    assert p.stderr.readline() == "COPY\n"
    p.send_signal(signal.SIGINT)
    rest = p.stderr.read()
    assert p.wait() == 130 and "interrupted" in rest, (p.returncode, rest)
    assert sorted(os.listdir(d)) == before


def within_an_address_space(d):
    """Whatever ulimit -v leaves, the sort ends well or says what is too little.

    From the least that the program can be loaded in: its libraries crash below that, before
    main(). This depends on the build and the machine's libraries (27 to 31 MB)."""
    loads = next(kib for kib in range(20000, 128000, 500)
                 if piped(f"ulimit -c 0; ulimit -v {kib}; exec $1 --version",
                          stdout=subprocess.DEVNULL).returncode == 0)
    variants = ([], ["--memory", "32mb"], ["--memory", "64mb"],
                ["--memory", "64mb", "--algorithm", "samplesort"],
                ["--memory", "40mb", "--key-size", "40", "--concurrency", "io-overlap"])
    outcomes = set()
    step = 2117
    first = loads + random.randrange(step)
    print(f"address spaces from {first} KiB", flush=True)
    tight = first + 30000  # from here on larger steps do but for --limits
    limits = (loads, *range(first, tight, step),
              *range(tight, loads + 131500, step if ONLY_LIMITS else 9 * step))
    for kib, more in itertools.product(limits, variants):
        words = f"ulimit -v {kib}; exec $1 sort $R {d}/in -o {d}/new --no-fsync " + " ".join(more)
        r = piped(words, stdout=subprocess.DEVNULL)
        assert r.returncode in (0, 1), (kib, more, r)
        assert r.stderr.count(b"\n") == r.returncode, (kib, more, r)
        outcomes.add(r.returncode)
    assert outcomes == {0, 1}
    os.remove(d + "/new")


def bad_requests(d):
    with open(d + "/odd", "wb") as f:
        f.write(b"x" * 150)
    for args in (["sort", *RECORDS, d + "/odd", "-o", d + "/new"],
                 ["sort", *RECORDS, d + "/odd", d + "/in", "-o", d + "/new"],
                 ["sort", *RECORDS, d + "/none", "-o", d + "/new"],
                 ["sort", *RECORDS, d + "/in", "-o", d + "/no/new"],
                 ["sort", *RECORDS, d + "/in", "-o", d + "/new", "--key-size", "101"],
                 ["sort", *RECORDS, d + "/in", "-o", d + "/new", "--json", d + "/in"],
                 ["sort", *RECORDS, d + "/in", "-o", d + "/new", "--json", d + "/./new"],
                 ["sort", *RECORDS, d + "/in", "--explain"],
                 ["sort", d + "/in", "--record", "0", "--explain"],
                 ["valsort", d + "/in", "-o", d + "/in"],
                 ["valsort", d + "/odd"]):
        r = run(*args)
        assert r.returncode != 0 and r.stderr.count("\n") == 1, (args, r.stderr)
        assert not os.path.exists(d + "/new")
    assert os.path.getsize(d + "/in") == 2000000
    for args in ([*RECORDS, "-k", "2"], [*RECORDS, "-t", " "], ["--klv", "--key-offset", "1"],
                 ["--klv", *RECORDS], ["--key-offset", "1"], ["--key-size", "5"]):
        assert run("sort", d + "/in", "-o", d + "/new", *args).returncode != 0, args
        assert not os.path.exists(d + "/new")


def nothing_is_said_into_the_void(d):
    """The output that a script reads must be there when the exit status says so; closed descriptors
    are not lent to the files of the sort."""
    for args in (["sort", *RECORDS, d + "/in", "-o", d + "/new", "--json", "-"],
                 ["sort", *RECORDS, d + "/in", "--explain", "--device", "emu:pmem"]):
        with open("/dev/full", "w") as full:
            r = subprocess.run([TOOL, *args], stdout=full, stderr=subprocess.PIPE, text=True)
        assert r.returncode == 1 and "No space left" in r.stderr, (args, r.returncode, r.stderr)
        r = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", TOOL, *args], capture_output=True,
                           text=True)
        assert r.returncode == 1 and "could be written" in r.stderr, (args, r.returncode, r.stderr)
    subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", TOOL, "sort", *RECORDS, d + "/in",
                    "-o", d + "/new", "--progress"], check=True)
    must("valsort", "-q", d + "/new")
    os.remove(d + "/new")


def reports_are_tried_first(d):
    """A report that cannot be written is told before the work; an old one outlives a failure."""
    for bad in (d + "/no/report", d):
        for args in (["sort", *RECORDS, d + "/in", "-o", d + "/new", "--json", bad],
                     ["valsort", d + "/in", "-o", bad],
                     ["device", "probe", "--quick", d, "-o", bad]):
            r = run(*args)
            assert r.returncode == 1 and r.stderr.count("\n") == 1, (args, r.stderr)
            assert not os.path.exists(d + "/new")
    with open(d + "/report", "w") as f:
        f.write("old")
    r = run("sort", *RECORDS, d + "/odd", "-o", d + "/new", "--json", d + "/report")
    assert r.returncode == 1, r
    with open(d + "/report") as f:
        assert f.read() == "old"
    must("sort", *RECORDS, d + "/in", "-o", d + "/new", "--json", d + "/report")
    with open(d + "/report") as f:
        assert json.load(f)["records"] == 20000
    must("sort", *RECORDS, d + "/in", "-o", d + "/new", "--json", "/dev/null")
    os.remove(d + "/new")


def mistakes_in_the_command_line(d):
    for args in (["sort", *RECORDS, d + "/in", "-o", d + "/new", "--top", "0"],
                 ["sort", *RECORDS, d + "/in", "-o", d + "/new", "--top", "-1"],
                 ["sort", d + "/in", "-o", d + "/new", "-k", "0"],
                 ["sort", *RECORDS, d + "/in", "-o", d + "/new", "--algorithm", "quick"],
                 ["sort", *RECORDS, d + "/in", "-o", d + "/new", "--algorithm", "3"],
                 ["sort", *RECORDS, d + "/in", "--explain", "--json", "-"],
                 ["gensort", "-1", d + "/new"], ["gensort", "10", d + "/new", "-b", "-5"],
                 ["gensort", "10", d + "/new", "-t", "100000"],
                 ["sort", *RECORDS, d + "/in", "-o", d + "/new", "--memory", "0"],
                 ["valsort", d + "/in", "--expect", "xyz"],
                 ["valsort", d + "/in", "--threads", "0"], []):
        r = run(*args)
        assert r.returncode == 2 and r.stderr and not os.path.exists(d + "/new"), (args, r)
    r = run("sort", *RECORDS, d + "/in", "-o", d + "/new", "--algorithm", "quick")
    assert "'quick' is not one of auto, onepass, mergepass" in r.stderr, r.stderr
    for args in (["sort", d + "/in", "-o", d + "/new", "--top", "2,2"],
                 ["gensort", "2,2", d + "/new"]):
        r = run(*args)
        assert "'2,2' is no whole number from" in r.stderr, r.stderr
        assert max(map(len, r.stderr.splitlines())) < 80, r.stderr
    for args in (["sort", *RECORDS, d + "/in", "-o", d + "/new", "--tmp", d + "/no"],
                 ["sort", *RECORDS, d + "/in", "-o", d + "/new", "--device", d + "/odd"],
                 ["gensort", "10", d + "/new", "-b", str(2**64 - 5)]):
        r = run(*args)
        assert r.returncode == 1 and r.stderr.count("\n") == 1, (args, r)
        assert "SUCCESS" not in r.stderr and not os.path.exists(d + "/new"), (args, r)
    assert must("--version").stdout.count(".") == 2


if not ONLY_LIMITS:
    with tempfile.TemporaryDirectory() as directory:
        known_checksums(directory)
        progress_is_shown_when_asked(directory)
        round_trip(directory)
        bad_requests(directory)
        streams(directory)
        benchmark_records_in_pipes(directory)
        pipes_whose_owner_does_not_wait(directory)
        files_that_do_not_tell_their_size(directory)
        inputs_are_never_removed(directory)
        interrupted_while_it_waits(directory)
        nothing_is_said_into_the_void(directory)
        reports_are_tried_first(directory)
        mistakes_in_the_command_line(directory)
        for algorithm, stages in {
                "onepass": ["RUN read", "RECORD read", "RUN write"],
                "mergepass": ["RUN read", "RUN write", "MERGE read", "RECORD read", "MERGE write"],
                "ems": ["RUN read", "RUN write", "MERGE read", "MERGE write"]}.items():
            for one in stages:
                interrupted(directory, algorithm, one)
        make_formats(directory)
        for source in ("klv", "lines"):
            for one in ("RUN read", "RECORD read", "RUN write"):
                interrupted(directory, "onepass", one, source)
            for one in ("RUN write", "MERGE read", "MERGE write"):
                interrupted(directory, "mergepass", one, source)
        ignored_signals_stay_ignored(directory)
        nobody_reads_the_progress(directory)
        gensort_interrupted(directory)
        progress_on_a_terminal(directory)
        killed(directory)
        cut_while_read(directory)
        beyond_the_limit_of_file_sizes(directory)
        if not SANITIZED:
            without_threads(directory)
if not SANITIZED:
    with tempfile.TemporaryDirectory() as directory:
        must("gensort", "20000", directory + "/in")
        within_an_address_space(directory)
    with tempfile.TemporaryDirectory(dir=directory_in_memory()) as directory:
        memory_promise(directory)
        memory_promise_of_short_lines(directory)
        memory_promise_of_one_long_line(directory)
