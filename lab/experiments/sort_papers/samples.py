"""Usage of a sort while it runs: the processors, by samples of /proc, and the stage that it is in,
which it says on a terminal each time that another begins."""
import os
import pty
import re
import subprocess
import threading
import time

STEP = 0.05  # seconds between samples
TICKS = os.sysconf('SC_CLK_TCK')
STAGE = re.compile(r'(?:\r\x1b\[K|\n)((?:RUN|RECORD|MERGE) [a-z]+|COPY|CHECK|SYNC)')


def processor_seconds(process):
    """Since its start; None once it has ended."""
    try:
        with open(f'/proc/{process.pid}/stat', encoding='ascii') as file:
            fields = file.read().rpartition(')')[2].split()
    except OSError:
        return None
    return None if fields[0] == 'Z' else (int(fields[11]) + int(fields[12])) / TICKS


class Stages(threading.Thread):
    """When each stage began, from the terminal `said`; a stage may begin many times."""

    def __init__(self, said, start):
        super().__init__(daemon=True)
        self.said, self.start_time = said, start
        self.begun = [(0.0, 'start')]
        self.start()

    def run(self):
        text = ''
        while True:
            try:
                text += os.read(self.said, 4096).decode(errors='replace')
            except OSError:  # the other end is closed
                return
            now = time.monotonic() - self.start_time
            for found in STAGE.finditer(text):
                if found[1] != self.begun[-1][1]:
                    self.begun.append((now, found[1]))
            text = text[-32:] if '\r' not in text[-32:] else text[text.rindex('\r'):]

    def during(self, begin, end):
        """stage -> seconds of the time from `begin` to `end`."""
        found = {}
        ends = [at for at, _ in self.begun[1:]] + [end]
        for (at, stage), until in zip(self.begun, ends):
            took = min(until, end) - max(at, begin)
            if took > 0:
                found[stage] = found.get(stage, 0.0) + took
        return found


def watch(command):
    """Runs a sort that writes its report to standard output. The report's text, the exit status,
    and samples: seconds since the start, processors busy since the one before, seconds in each
    stage."""
    terminal, stderr = pty.openpty()
    start = time.monotonic()
    found = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr, text=True) as process:
        os.close(stderr)
        stages = Stages(terminal, start)
        times = [(0.0, 0.0)]
        while True:
            try:
                process.wait(STEP)
            except subprocess.TimeoutExpired:
                pass
            used = processor_seconds(process)
            if used is None or process.returncode is not None:
                break
            times.append((time.monotonic() - start, used))
        said = process.stdout.read()
    stages.join()
    os.close(terminal)
    for (before, used_before), (at, used) in zip(times, times[1:]):
        found.append({'at': round(at, 3), 'stages': stages.during(before, at),
                      'processors': round((used - used_before) / (at - before), 3)})
    return said, process.returncode, found


def add_bandwidth(found, report):
    """Adds to samples the bytes that were read and written in a second: those of the stages, each
    at its mean, as the report has them. Requires: stages take turns."""
    stages = {stage['stage']: stage for stage in report['stages'] if stage['seconds'] > 0}
    for sample in found:
        took = sum(sample['stages'].values())
        for name, field in (('read_bytes_s', 'bytes_read'), ('write_bytes_s', 'bytes_written')):
            sample[name] = round(sum(
                seconds * stages[stage][field] / stages[stage]['seconds']
                for stage, seconds in sample['stages'].items() if stage in stages) / took)


def busy_by_stage(found):
    """stage -> processors busy, the mean over the samples weighed by their time in that stage."""
    used, spent = {}, {}
    for sample in found:
        for stage, seconds in sample['stages'].items():
            used[stage] = used.get(stage, 0.0) + seconds * sample['processors']
            spent[stage] = spent.get(stage, 0.0) + seconds
    return {stage: used[stage] / spent[stage] for stage in used}
