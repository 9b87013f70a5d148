"""RocksDB, filled by its own db_bench: in the process, without a socket."""
import csv
import re
import subprocess
import time

import numpy
import servers
from load import KEY_BYTES, SAMPLE_SECONDS, Filled
from servers import Trouble

KEY_SPACE = 1 << 40  # of fillrandom: of a million keys drawn from it, one in two million recurs
SUMMARY = re.compile(r'fillrandom *:.* ([\d.]+) seconds (\d+) operations')
LATENCIES = {'p50_ms': r'P50: ([\d.]+)', 'p99_ms': r'P99: ([\d.]+)', 'p999_ms': r'P99.9: ([\d.]+)',
             'max_ms': r'Max: ([\d.]+)'}


def command(folder, target, value_size, records, clients, batch):
    """Memtables take up to a half of the target, and the block cache the other."""
    return ['db_bench', '--benchmarks=fillrandom', f'--db={folder / "rocksdb"}',
            f'--num={KEY_SPACE}', f'--writes={records // clients}', f'--threads={clients}',
            f'--batch_size={batch}', f'--key_size={KEY_BYTES}', f'--value_size={value_size}',
            '--compression_type=none', f'--cache_size={target // 2}',
            f'--write_buffer_size={target // 8}', '--max_write_buffer_number=4',
            '--use_direct_io_for_flush_and_compaction=true', '--use_direct_reads=true',
            '--disable_wal=true', '--histogram=true', '--report_interval_seconds=1',
            f'--report_file={folder / "report.csv"}']


def crossing(path, filled, record_bytes, target):
    """Seconds and bytes when the target was passed, from the records that db_bench tells each
    second."""
    seconds, counts = [0.0], [0]
    if path.exists():
        with open(path, encoding='utf-8') as file:
            for row in csv.DictReader(file):
                seconds.append(float(row['secs_elapsed']))
                counts.append(counts[-1] + int(row['interval_qps']))
    seconds.append(max(filled.seconds, seconds[-1]))
    counts.append(max(filled.records, counts[-1]))
    return float(numpy.interp(target / record_bytes, counts, seconds)), target


def fill(folder, target, value_size, records, clients, batch, watch_of):
    """Fills a store; returns the findings of the fill, its latencies in ms, and the watch that
    `watch_of` made of the process."""
    words = command(folder, target, value_size, records, clients, batch)
    with open(folder / 'said', 'w+', encoding='utf-8') as file:
        process = servers.launch(words, stdout=file, stderr=subprocess.STDOUT)
        try:
            watch = watch_of(process)
            while process.poll() is None:
                watch.sample()
                time.sleep(SAMPLE_SECONDS)
        finally:
            servers.end(process)
        file.seek(0)
        said = file.read()
    found = SUMMARY.search(said)
    if process.returncode or not found:
        raise Trouble(f'db_bench: {" / ".join(said.strip().splitlines()[-2:])}')
    record_bytes = KEY_BYTES + value_size
    filled = Filled(records=int(found[2]), seconds=float(found[1]))
    filled.bytes = filled.records * record_bytes
    if filled.bytes > target:
        filled.crossed = crossing(folder / 'report.csv', filled, record_bytes, target)
    latencies = {name: float(re.search(pattern, said)[1]) / 1000
                 for name, pattern in LATENCIES.items()}
    return filled, latencies, watch
