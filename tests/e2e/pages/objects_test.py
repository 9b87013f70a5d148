#!/usr/bin/env python3
"""isotherm pages --objects over programs whose objects are known exactly.

    objects_test.py ISOTHERM OBJECTS OBJECTS_WITH_JEMALLOC OWN_MALLOC KNOWN_BYTES
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TOOL, PROGRAM, WITH_JEMALLOC, OWN_MALLOC, STATIC = (sys.argv.pop(1) for _ in range(5))
PATIENCE = 120
RECORDS, BYTES = 1000, 200


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        self.report = self.folder / 'report.json'

    def observe(self, *program, steps=(), **more):
        """The windows, one a step and a last one; and the run's messages."""
        run = subprocess.Popen([TOOL, 'pages', '--objects', '--progress', '--json', self.report,
                                '--', *map(str, program)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, **more)
        self.addCleanup(run.wait)
        self.addCleanup(run.kill)
        for done in steps:
            self.assertEqual(run.stdout.readline(), done + b'\n')
            run.send_signal(signal.SIGUSR1)
            while not run.stderr.readline().startswith(b'window '):
                pass
            run.stdin.write(b'\n')
            run.stdin.flush()
        _, said = run.communicate(timeout=PATIENCE)
        self.assertEqual(run.returncode, 0, said.decode())
        report = json.loads(self.report.read_text())
        return report['windows'], said.decode(), report['remarks']

    def sites(self, window, function):
        """The sites of which `function` itself allocated."""
        return [site for site in window['objects']['by_site']
                if site['functions'] and site['functions'][0]['name'] == function]

    def site(self, window, function):
        found = self.sites(window, function)
        self.assertEqual(len(found), 1, (function, window['objects']['by_site']))
        return found[0]


class Objects(Case):
    def check_load(self, program):
        windows, said, remarks = self.observe(program, 'loads', steps=[b'ready', b'again'])
        self.assertEqual(remarks, [])
        self.assertIn('Objects ordered by temperature', said)
        self.assertIn('make_record', said)
        loaded, used = windows[:2]
        for window in (loaded, used):
            for function, size in (('make_table', 8 << 14), ('make_grown', 5000),
                                   ('make_aligned', 768), ('make_aligned_for_posix', 640),
                                   ('make_by_new', 300), ('make_aligned_by_new', 96),
                                   ('make_after_exception', 900)):
                site = self.site(window, function)
                # After a failed realloc the usable size counts: the size asked for is not told.
                sizes = (size, site['usable_bytes']) if function == 'make_grown' else (size,)
                self.assertIn(site['bytes'], sizes, function)
                self.assertEqual(site['objects'], 1, function)
                self.assertGreaterEqual(site['usable_bytes'], size)
            self.assertEqual(self.sites(window, 'make_and_free'), [])
        return loaded, used

    def check_use(self, loaded, used):
        before, after = (self.site(window, 'make_record') for window in (loaded, used))
        self.assertEqual(before['touched_objects'], RECORDS)
        self.assertEqual(after['objects'], RECORDS)
        self.assertEqual(after['bytes'], RECORDS * BYTES)
        self.assertEqual(after['touched_objects'], RECORDS // 10)
        self.assertEqual(after['touched_bytes'], RECORDS // 10 * BYTES)
        self.assertEqual(after['untouched_bytes'], RECORDS * 9 // 10 * BYTES)
        self.assertEqual(after['used_bytes'], RECORDS // 10)
        self.assertEqual(after['used_line_bytes'], RECORDS // 10 * 64)
        self.assertGreater(after['mean_age_seconds'], 0)
        names = [frame['name'] for frame in after['functions']]
        self.assertEqual(names[:2], ['make_record', 'make_records'])
        self.assertIn('main', names)
        self.assertRegex(after['functions'][0]['source'], r'^objects\.cpp:\d+$')
        self.assertIn('std::malloc(kBytes)', after['functions'][0]['line'])
        table = self.site(used, 'make_table')  # one page of a large object stays
        self.assertEqual((table['touched_bytes'], table['used_bytes']), (4096, 1))

    def check_prediction(self, window):
        objects, held = window['objects'], window['all']
        of_objects = objects['all']['touched_bytes']
        self.assertEqual(objects['predicted_resident_bytes'],
                         -(-of_objects // 4096) * 4096 + objects['other_touched_bytes'])
        self.assertLessEqual(objects['predicted_resident_bytes'] +
                             objects['could_leave_in_order_bytes'] + held['untouched_bytes'],
                             held['resident_bytes'])
        for name in ('objects', 'bytes', 'touched_bytes', 'used_bytes'):
            self.assertEqual(sum(row[name] for row in objects['by_size']), objects['all'][name])
        record_class = next(row for row in objects['by_size'] if row['largest_bytes'] == 256)
        self.assertGreaterEqual(record_class['objects'], RECORDS)

    def test_of_glibc(self):
        loaded, used = self.check_load(PROGRAM)
        self.check_use(loaded, used)
        self.check_prediction(used)

    def test_of_jemalloc(self):
        loaded, used = self.check_load(WITH_JEMALLOC)
        self.check_use(loaded, used)
        self.assertEqual(self.site(used, 'make_record')['usable_bytes'], RECORDS * 224)

    def test_threads_lose_none(self):
        windows, _, _ = self.observe(PROGRAM, 'threads', steps=[b'ready'])
        self.assertEqual(self.site(windows[0], 'make_record')['objects'], 8)
        live = windows[0]['objects']['by_size']
        self.assertFalse([row for row in live if row['largest_bytes'] == 64 and
                          row['objects'] > 20], live)

    def test_names_without_addr2line(self):
        tools = self.folder / 'bin'
        tools.mkdir()
        (tools / 'qemu-x86_64').symlink_to(shutil.which('qemu-x86_64'))
        windows, _, remarks = self.observe(PROGRAM, 'loads', steps=[b'ready', b'again'],
                                           env={'PATH': str(tools)})
        self.assertIn('install binutils', remarks[0])
        names = windows[0]['objects']['by_site'][0]['functions'][0]['name']
        self.assertRegex(names, r'\+0x[0-9a-f]+$')

    def test_the_library_of_the_user_stays_preloaded(self):
        """jemalloc by LD_PRELOAD: sizes are rounded as it rounds them."""
        jemalloc = subprocess.run(['ldd', WITH_JEMALLOC], capture_output=True, text=True,
                                  check=True).stdout
        library = next(line.split()[2] for line in jemalloc.splitlines() if 'jemalloc' in line)
        windows, _, _ = self.observe(PROGRAM, 'loads', steps=[b'ready', b'again'],
                                     env={**os.environ, 'LD_PRELOAD': library})
        self.assertEqual(self.site(windows[1], 'make_record')['usable_bytes'], RECORDS * 224)


    def test_a_malloc_of_the_program_itself_is_told(self):
        windows, said, remarks = self.observe(OWN_MALLOC)
        self.assertIn('its own malloc', remarks[0])
        self.assertIsNone(windows[0]['objects'])
        self.assertNotIn('ordered by temperature', said)


class Refusals(Case):
    def refused(self, *words, status=1):
        done = subprocess.run([TOOL, 'pages', '--objects', *map(str, words)], timeout=PATIENCE,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertEqual(done.stderr.count('\n'), 1, done.stderr)
        return done.stderr

    def test_a_static_program(self):
        self.assertIn('static program', self.refused('--', STATIC))

    def test_sources_without_allocations(self):
        self.assertIn('--objects', self.refused('--pid', '1', status=2))
        self.assertIn('--objects', self.refused('--trace', '-', status=2))

    def test_without_the_flag_objects_are_null(self):
        subprocess.run([TOOL, 'pages', '--json', self.report, '--', PROGRAM], timeout=PATIENCE,
                       capture_output=True, check=True)
        self.assertIsNone(json.loads(self.report.read_text())['windows'][0]['objects'])


if __name__ == '__main__':
    unittest.main(verbosity=1)
