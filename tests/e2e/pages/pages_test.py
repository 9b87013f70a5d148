#!/usr/bin/env python3
"""isotherm pages over programs whose used bytes are known exactly, and over those that are hard to
observe.

    pages_test.py ISOTHERM KNOWN_BYTES BEHAVIOUR
"""

import json
import os
import pathlib
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TOOL, KNOWN, BEHAVIOUR = (sys.argv.pop(1) for _ in range(3))
PATIENCE = 120
PAGE, LINE = 4096, 64


def bytes_of_known():
    """The bytes that known_bytes.cpp uses of its mapping, as that program says."""
    used = {page * PAGE + i * 67 % PAGE for page in range(64) for i in range(page + 1)}
    first = 64 * PAGE
    for begin, size in ((63, 2), (4094, 4), (8191, 8), (3 * PAGE + 57, 16), (5 * PAGE + 100, 300),
                        (6 * PAGE + 8, 40)):
        used |= set(range(first + begin, first + begin + size))
    return used


def buffers_of_known():
    """Bytes that the kernel alone reads or writes; the last 16 pages are the second mapping's."""
    return set(range(80 * PAGE, 80 * PAGE + 100)) | set(range(81 * PAGE, 81 * PAGE + 30)) | \
        set(range(81 * PAGE + 1000, 81 * PAGE + 1020)) | set(range(1000 * PAGE, 1016 * PAGE))


def units(used, size):
    return len({byte // size for byte in used})


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.report = self.folder / 'report.json'
        self.mapped = self.folder / 'mapped'
        self.mapped.write_bytes(bytes(16 * PAGE))

    def pages(self, *words, **more):
        return subprocess.run([TOOL, 'pages', *map(str, words)], capture_output=True,
                              timeout=PATIENCE, check=False, **more)

    def observe(self, *words, status=0):
        """The report, as JSON, and the run."""
        done = self.pages('--json', self.report, *words)
        self.assertEqual(done.returncode, status, done.stderr.decode())
        return json.loads(self.report.read_text()), done

    def refused(self, *words, status=1, **more):
        """The one line that says why not."""
        done = self.pages(*words, **more)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count(b'\n'), 1, done.stderr)
        return done.stderr.decode()

    def of_mapped(self, report, window=-1):
        """The sizes of the file that the program behaviour uses."""
        return next(m for m in report['windows'][window]['mappings']
                    if m['name'] == str(self.mapped))


class ExactBytes(Case):
    def test_qemu(self):
        report, done = self.observe('--', KNOWN)
        self.assertEqual(done.stdout, bytes(150))
        used = bytes_of_known()
        found = report['windows'][0]['kinds']['anonymous']
        self.assertEqual(found['used_bytes'], len(used))
        self.assertEqual(found['used_line_bytes'], units(used, LINE) * LINE)
        self.assertEqual(found['touched_bytes'], units(used, PAGE) * PAGE)
        self.assertEqual(found['resident_bytes'], (units(used, PAGE) + 16) * PAGE)
        self.assertEqual(found['untouched_bytes'], 16 * PAGE)
        self.assertEqual(report['exit_status'], 0)
        self.assertEqual(report['remarks'], [])

    def test_buffers_of_system_calls(self):
        report, _ = self.observe('--syscalls', '--', KNOWN)
        used = bytes_of_known() | buffers_of_known()
        found = report['windows'][0]['kinds']['anonymous']
        self.assertEqual(found['used_bytes'], len(used))
        self.assertEqual(found['used_line_bytes'], units(used, LINE) * LINE)
        self.assertEqual(found['touched_bytes'], units(used, PAGE) * PAGE)

    def test_lackey_and_qemu(self):
        """Data and code of a program without libraries, to the byte."""
        report, _ = self.observe('--', KNOWN)
        trace = self.folder / 'trace'
        subprocess.run(['valgrind', '--tool=lackey', '--trace-mem=yes', f'--log-file={trace}',
                        KNOWN], stdout=subprocess.DEVNULL, timeout=PATIENCE, check=True)
        traced, _ = self.observe('--trace', trace)
        for sizes in ('used_bytes', 'used_line_bytes', 'touched_bytes'):
            self.assertEqual(traced['windows'][0]['all'][sizes], report['windows'][0]['all'][sizes])
        self.assertGreater(traced['windows'][0]['all']['used_bytes'], len(bytes_of_known()))

    def test_threads_lose_no_mark(self):
        report, _ = self.observe('--', BEHAVIOUR, 'threads', self.mapped)
        self.assertEqual(self.of_mapped(report)['used_bytes'], 8 * PAGE)


class Programs(Case):
    def test_exit_status_is_passed_on(self):
        self.observe('--', BEHAVIOUR, 'exit', self.mapped, status=42)

    def test_death_by_a_signal_leaves_the_report(self):
        report, done = self.observe('--', BEHAVIOUR, 'fault', self.mapped,
                                    status=128 + signal.SIGSEGV)
        self.assertIn('died by signal 11', report['remarks'][0])
        self.assertEqual(report['windows'][0]['all']['used_bytes'] > 0, True)
        self.assertIn(b'MiB', done.stderr)

    def test_children_are_left_out_and_told(self):
        report, _ = self.observe('--', BEHAVIOUR, 'fork', self.mapped)
        self.assertEqual(self.of_mapped(report)['used_bytes'], 20)
        self.assertIn('forked 1 time', report['remarks'][0])

    def test_a_program_that_replaces_itself(self):
        """The program before and the one after have a window each, with the marks of their own."""
        report, _ = self.observe('--', BEHAVIOUR, 'exec', self.mapped, BEHAVIOUR)
        self.assertEqual([self.of_mapped(report, w)['used_bytes'] for w in (0, 1)], [7, 9])
        self.assertIn(f'observed last was {BEHAVIOUR}', report['remarks'][0])

    def test_skipped_time_begins_anew_with_the_program_that_replaces(self):
        report, _ = self.observe('--skip', '1000s', '--', BEHAVIOUR, 'exec', self.mapped, BEHAVIOUR)
        self.assertEqual(report['windows'], [])

    def test_a_script_that_replaces_it_is_told(self):
        script = self.folder / 'script'
        script.write_text('#!/bin/sh\nexit 3\n')
        script.chmod(0o755)
        report, _ = self.observe('--', BEHAVIOUR, 'exec', self.mapped, script, status=3)
        self.assertEqual(self.of_mapped(report)['used_bytes'], 7)
        self.assertIn(str(script), report['remarks'][0])

    def test_arguments_and_environment_of_the_program_that_replaces(self):
        done = self.pages('--', 'env', 'WORD=a b', 'sh', '-c', 'exec env printenv WORD "$@"',
                          'sh', 'HOME', '')
        self.assertEqual(done.stdout.splitlines()[0], b'a b')
        self.assertIn(b'replaced itself 3 times', done.stderr)

    def test_a_failed_exec_is_none(self):
        report, _ = self.observe('--', BEHAVIOUR, 'no-exec', self.mapped, status=4)
        self.assertEqual(self.of_mapped(report)['used_bytes'], 9)
        self.assertEqual(report['remarks'], [])

    def test_a_program_that_closes_all_files(self):
        report, _ = self.observe('--', BEHAVIOUR, 'close', self.mapped)
        self.assertEqual(self.of_mapped(report)['used_bytes'], 9)

    def test_addresses_that_are_no_memory(self):
        """A program survives what the kernel refuses, and so does its observation."""
        for flags in ([], ['--syscalls']):
            report, _ = self.observe(*flags, '--', BEHAVIOUR, 'bad-pointers', self.mapped)
            self.assertEqual(self.of_mapped(report)['used_bytes'], 12)
            self.assertEqual(report['remarks'], [])

    def test_memory_that_the_program_has_named(self):
        report, _ = self.observe('--', BEHAVIOUR, 'names', self.mapped)
        named = {m['name']: m for m in report['windows'][0]['mappings']
                 if m['name'].startswith('[anon:')}
        self.assertEqual(named.keys(), {'[anon:isotherm-hot]', '[anon:my cache]'})
        hot, cache = named['[anon:isotherm-hot]'], named['[anon:my cache]']
        self.assertEqual((hot['kind'], hot['mapped_bytes'], hot['used_bytes']),
                         ('isotherm-hot', 2 * PAGE, 3))
        self.assertEqual((cache['kind'], cache['mapped_bytes'], cache['used_bytes']),
                         ('anonymous', PAGE, 5))
        self.assertEqual(report['windows'][0]['kinds']['isotherm-hot']['used_bytes'], 3)

    def test_heaps_of_the_runtime_have_their_names(self):
        report, _ = self.observe('--', TOOL, 'bench', 'ycsb', '--keys', '500', '--seconds', '0.2',
                                 '--warmup', '0', '--threads', '1', '--manage', 'on',
                                 '--cold-backing', f'file:{self.folder}')
        kinds = report['windows'][0]['kinds']
        self.assertGreater(kinds['isotherm-new']['used_bytes'], 500 * 1024)
        self.assertGreater(kinds['isotherm-node']['used_bytes'], 500 * 8)

    def test_found_in_path_with_its_input_and_output(self):
        done = self.pages('--', 'cat', input=b'read and written')
        self.assertEqual((done.returncode, done.stdout), (0, b'read and written'))
        self.assertIn(b'could leave', done.stderr)

    def test_a_closed_pipe_ends_it_as_ever(self):
        script = 'set -o pipefail; "$0" pages -- yes | head -n 1'
        done = subprocess.run(['bash', '-c', script, TOOL], capture_output=True, timeout=PATIENCE,
                              check=False)
        self.assertEqual(done.returncode, 128 + signal.SIGPIPE)


class Windows(Case):
    def start(self, *words):
        run = subprocess.Popen([TOOL, 'pages', '--json', self.report, *words, '--', BEHAVIOUR,
                                'serve', self.mapped], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        self.addCleanup(run.stderr.close)
        self.addCleanup(run.stdout.close)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        self.assertEqual(run.stdout.readline(), b'ready\n')
        return run

    def child_of(self, run):
        with open(f'/proc/{run.pid}/task/{run.pid}/children', encoding='ascii') as children:
            return int(children.read().split()[0])

    def test_a_signal_leaves_loading_out(self):
        run = self.start('--progress')
        run.send_signal(signal.SIGUSR1)
        while not run.stderr.readline().startswith(b'window 1'):
            pass
        os.kill(self.child_of(run), signal.SIGUSR1)
        self.assertEqual(run.stdout.readline(), b'again\n')
        run.send_signal(signal.SIGINT)
        self.assertEqual(run.wait(PATIENCE), 0)
        report = json.loads(self.report.read_text())
        self.assertEqual([self.of_mapped(report, w)['used_bytes'] for w in (0, 1)], [100, 50])

    def test_the_number_of_windows_ends_the_program(self):
        run = self.start('--skip', '0.2s', '--window', '0.2s', '--windows', '3')
        self.assertEqual(run.wait(PATIENCE), 0)
        report = json.loads(self.report.read_text())
        self.assertEqual(len(report['windows']), 3)


class Results(Case):
    def trace(self):
        path = self.folder / 'trace'
        path.write_text(' S 1000,8\n L 2000,4096\n')
        return path

    def test_the_picture_is_a_drawing(self):
        picture = self.folder / 'a<b&c.svg'
        subject = self.trace().rename(self.folder / 'a<b&c')
        done = self.pages('--trace', subject, '--picture', picture)
        self.assertEqual(done.returncode, 0, done.stderr)
        drawn = xml.etree.ElementTree.parse(picture).getroot()
        self.assertTrue(drawn.tag.endswith('svg'))
        self.assertIn('2 pages', ' '.join(drawn.itertext()))

    def test_the_heat_map(self):
        """Two windows of a trace: a page is used in each, another one in the second only."""
        trace, picture = self.folder / 'trace', self.folder / 'heat.svg'
        trace.write_text(' S 1000,8\n' * 100 + ' S 1000,8\n L 2000,4096\n' * 50)
        report, _ = self.observe('--trace', trace, '--window', '100', '--heat-map', picture)
        heat = report['heat_map']
        self.assertEqual(heat['row_bytes'], PAGE)
        self.assertEqual([row['address'] for row in heat['rows']], [0x1000, 0x2000])
        self.assertEqual([c['used_share_of_held_bytes'] for c in heat['columns']],
                         [[8 / PAGE, None], [8 / PAGE, 1.0]])
        self.assertEqual([c['first_window'] for c in heat['columns']], [1, 2])
        drawn = xml.etree.ElementTree.parse(picture).getroot()
        self.assertIn('2 windows', ' '.join(drawn.itertext()))
        self.assertIn("M336.0 76.0h320.0v16.0", picture.read_text())

    def test_no_window_no_picture(self):
        for flag in ('--picture', '--heat-map'):
            picture = self.folder / 'none.svg'
            done = self.pages('--trace', self.trace(), '--skip', '1000', flag, picture)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rb'^isotherm: no picture was drawn[^\n]*\n$')
            self.assertFalse(picture.exists())

    def test_a_full_disk(self):
        for flag in ('--json', '--picture', '--heat-map'):
            done = self.pages('--trace', self.trace(), flag, '/dev/full')
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, rb'^isotherm: [^\n]*/dev/full[^\n]*\n$')

    def test_a_pipe(self):
        done = self.pages('--trace', '-', '--json', '-', input=self.trace().read_bytes())
        self.assertEqual(json.loads(done.stdout)['windows'][0]['all']['used_bytes'], 8 + 4096)

    def test_a_fifo(self):
        fifo = self.folder / 'fifo'
        os.mkfifo(fifo)
        run = subprocess.Popen([TOOL, 'pages', '--trace', fifo], stdout=subprocess.PIPE)
        fifo.write_bytes(self.trace().read_bytes())
        self.assertIn(b'4.0 KiB', run.communicate(timeout=PATIENCE)[0])


class Refusals(Case):
    def test_what_is_no_program(self):
        self.assertIn('no program', self.refused('--', 'no-such-program-anywhere'))
        self.assertIn('cannot find', self.refused('--', self.folder / 'missing'))
        self.assertIn('folder', self.refused('--', self.folder))
        self.assertIn('chmod', self.refused('--', self.mapped))

    def test_programs_that_cannot_be_observed(self):
        path = self.folder / 'program'

        def refused(content, mode=0o755):
            path.write_bytes(content)
            path.chmod(mode)
            return self.refused('--', path)
        self.assertIn('/bin/sh -e ' + str(path), refused(b'#!/bin/sh -e\nexit 0\n'))
        self.assertIn('ELF', refused(b'nothing'))
        whole = pathlib.Path(KNOWN).read_bytes()
        self.assertIn('32-bit', refused(whole[:4] + b'\x01' + whole[5:]))
        self.assertIn('processor', refused(whole[:18] + b'\xb7' + whole[19:]))
        if os.geteuid() == 0:
            path.write_bytes(whole)
            os.chown(path, 12345, 12345)
            path.chmod(0o755 | stat.S_ISUID)
            self.assertIn('set-user-ID', self.refused('--', path))

    def test_no_qemu(self):
        self.assertIn('apt-get install qemu-user', self.refused('--', KNOWN, env={'PATH': '/none'}))

    def test_words(self):
        self.assertIn('one of', self.refused(status=2))
        self.assertIn('one of', self.refused('--trace', 'x', '--', KNOWN, status=2))
        self.assertIn('10s', self.refused('--window', '5m', '--', KNOWN, status=2))
        self.assertIn('10s', self.refused('--window', '0', '--', KNOWN, status=2))
        self.assertIn('1 or more', self.refused('--windows', '0', '--', KNOWN, status=2))
        self.assertIn('--syscalls', self.refused('--syscalls', '--trace', 'x', status=2))

    def test_a_report_that_cannot_be_written_is_told_before_the_run(self):
        done = self.pages('--json', self.folder / 'none' / 'report', '--', KNOWN)
        self.assertEqual((done.returncode, done.stdout), (1, b''))


if __name__ == '__main__':
    unittest.main(verbosity=1)
