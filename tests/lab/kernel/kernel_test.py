#!/usr/bin/env python3
"""The patches of lab/kernel are well-formed, and its scripts read what a kernel says.

    kernel_test.py ROOT quick|nightly

The nightly part boots the distribution's kernel, which scripts/bootstrap unpacks.
"""
import contextlib
import email
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

PART = sys.argv.pop()
ROOT = pathlib.Path(sys.argv.pop())
KERNEL = ROOT / 'lab/kernel'
sys.path.insert(0, str(KERNEL))
sys.dont_write_bytecode = True
import build  # noqa: E402
import check  # noqa: E402
import machine  # noqa: E402

HUNK = re.compile(r'@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@')
COLUMNS = 75  # of a line of a kernel's commit message
OOM_LOG = '''[1.0] stress invoked oom-killer: gfp_mask=0x140dca, order=0, oom_score_adj=0
[1.0] Call Trace:
[1.0]  dump_stack_lvl+0x50/0x70
[1.1] Out of memory: Killed process 88 (stress) total-vm:101000kB
'''


def message_of(path):
    """Returns the headers of a patch, its commit message, and its diff."""
    parsed = email.message_from_string(path.read_text(encoding='utf-8'))
    message, _, diff = parsed.get_payload().partition('\n---\n')
    return parsed, message, diff


def hunk_faults(diff):
    """Returns the headers of hunks whose counts are not those of their lines."""
    faults, lines = [], diff.splitlines()
    for number, line in enumerate(lines):
        counted = HUNK.match(line)
        if not counted:
            continue
        old, new = (int(count or 1) for count in counted.groups())
        for body in lines[number + 1:]:
            if old <= 0 and new <= 0:
                break
            old -= body[:1] in (' ', '-', '')
            new -= body[:1] in (' ', '+', '')
        if (old, new) != (0, 0):
            faults.append(line)
    return faults


class Series(unittest.TestCase):
    def test_patches_are_numbered_from_the_first_to_the_last(self):
        paths = build.series()
        self.assertGreater(len(paths), 1)
        for number, path in enumerate(paths, 1):
            subject = message_of(path)[0]['Subject'].replace('\n', '')
            self.assertTrue(subject.startswith(f'[PATCH {number}/{len(paths)}] '), subject)
            self.assertTrue(path.name.startswith(f'{number:04}-'), path.name)

    def test_each_message_has_a_component_a_reason_and_its_authors_signature(self):
        for path in build.series():
            with self.subTest(path.name):
                headers, message, _ = message_of(path)
                subject = headers['Subject'].replace('\n', '').partition('] ')[2]
                self.assertRegex(subject, r'^[\w/]+: [a-z]')
                self.assertLessEqual(len(subject), COLUMNS)
                self.assertTrue(all(len(line) <= COLUMNS or line.startswith('Signed-off-by')
                                    for line in message.splitlines()))
                author = headers['From'].replace('\n', '')
                self.assertEqual(message.strip().splitlines()[-1], f'Signed-off-by: {author}')
                self.assertGreater(len(message.split()), 30)

    def test_hunks_have_as_many_lines_as_they_say_and_no_trailing_spaces(self):
        for path in build.series():
            with self.subTest(path.name):
                diff = message_of(path)[2]
                self.assertIn('\n@@ ', diff)
                self.assertEqual(hunk_faults(diff), [])
                self.assertNotRegex(diff, r'(?m)^\+.*[ \t]$')

    def test_a_hunk_with_a_line_too_few_is_found(self):
        diff = message_of(build.series()[0])[2]
        kept = [line for line in diff.splitlines() if not line.startswith('+\t')]
        self.assertNotEqual(hunk_faults('\n'.join(kept)), [])


class Build(unittest.TestCase):
    def test_the_debugging_kernel_has_the_settings_of_the_other_and_its_own(self):
        release, debug = build.wanted('release'), build.wanted('debug')
        self.assertEqual(debug, {**release, **debug})
        self.assertNotIn('CONFIG_KASAN', release)
        self.assertEqual((debug['CONFIG_KASAN'], debug['CONFIG_PROVE_LOCKING']), ('y', 'y'))

    def test_no_file_of_settings_repeats_one(self):
        for name in ('config', 'debug.config'):
            names = re.findall(r'(?m)^(CONFIG_\w+)=', (KERNEL / name).read_text(encoding='utf-8'))
            self.assertEqual(len(names), len(set(names)), name)

    def test_missing_tools_are_named_by_package(self):
        with mock.patch.object(build.shutil, 'which',
                               side_effect=lambda tool: None if tool == 'flex' else tool):
            with self.assertRaisesRegex(build.Trouble, 'apt-get install .*flex'):
                build.require_tools()

    def test_an_option_that_the_kernel_does_not_take_is_named(self):
        def write_config(*_, **__):
            wanted = build.wanted('debug')
            lines = (f'{name}=y' for name in wanted if name != 'CONFIG_KASAN')
            (output / '.config').write_text('\n'.join(lines), encoding='utf-8')

        with tempfile.TemporaryDirectory() as folder:
            output = pathlib.Path(folder)
            with mock.patch.object(build, 'call', side_effect=write_config):
                with self.assertRaisesRegex(build.Trouble, 'options: CONFIG_KASAN$'):
                    build.configure(output, 'debug', output)


class Check(unittest.TestCase):
    def test_reports_of_the_kernel_are_found(self):
        for line in ('[2.0] BUG: KASAN: slab-use-after-free in shrink_folio_list+0x1',
                     '[2.0] WARNING: possible circular locking dependency detected',
                     '[2.0] BUG: Bad page state in process stress  pfn:01234',
                     '[2.0] INFO: task kswapd0:33 blocked for more than 60 seconds.',
                     '[2.0] watchdog: BUG: soft lockup - CPU#1 stuck'):
            self.assertEqual(check.reports(f'[1.9] fine\n{line}\n[2.1] fine\n'), [line])

    def test_a_process_killed_for_want_of_memory_is_no_report(self):
        self.assertEqual(check.reports(OOM_LOG), [])
        self.assertEqual(len(check.reports(OOM_LOG + '[3.0] Call Trace:\n')), 1)

    def test_figures_are_medians_by_setting(self):
        line = ('way=madvise swap={} batch={} kind=anon pages=100 swapped=100 interrupts={} '
                'flushes={} deferred=0 deferred_flushes=0\n')
        output = ''.join(line.format(swap, *values) for swap in ('zram', 'disk') for values in
                         ((0, 300, 100), (1, 2, 1), (0, 301, 101), (1, 1, 1), (0, 300, 100),
                          (1, 2, 1))) + 'check=other\n'
        figures = check.per_page(check.rows(output))
        self.assertEqual(figures['madvise', 'zram', 'anon', 0], (3.0, 1.0))
        self.assertEqual(figures['madvise', 'disk', 'anon', 1], (0.02, 0.01))
        self.assertIn('| madvise | zram | anon | 3.000 | 0.020 | 99.3% | 1.000 | 0.0100 |',
                      check.table(figures))
        check.require_fewer(figures)
        figures['madvise', 'disk', 'anon', 1] = (0.04, 0.01)
        with self.assertRaisesRegex(check.Wrong, 'disk: 0.040 interrupts a page'):
            check.require_fewer(figures)

    def test_bad_words_end_with_a_line(self):
        for words in (['measure', '--kernel', '/none/bzImage'], ['reboot'], [],
                      ['measure', '--turns', '0']):
            done = subprocess.run([sys.executable, '-B', KERNEL / 'check.py', *words],
                                  capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 2)
            self.assertIn('check.py: error: ', done.stderr)

    def test_the_programs_compile_and_refuse_bad_words(self):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            for program in check.compile_programs(folder):
                done = subprocess.run([program, 'nothing'], capture_output=True, text=True,
                                      check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(f'usage: {program.name} ', done.stderr)


class Programs(unittest.TestCase):
    def test_move_meets_pages_that_are_paged_out(self):
        """Without a patch, so that the kernel unmaps and writes one page after the other."""
        stock = machine.Machine(memory=(512 << 20,), processors=4,
                                modules=('lz4_compress', 'lz4hc_compress', 'zsmalloc', 'zram'))
        script = (KERNEL / 'guest.sh').read_text(encoding='utf-8') + 'swap_on zram; move 3'
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            ended = machine.run(stock, script, programs=check.compile_programs(folder))
        self.assertRegex(ended.output, r'move: [1-9]\d* pages moved, none written afterwards')
        self.assertEqual(ended.status, 0)


if __name__ == '__main__':
    if PART == 'nightly':
        unittest.main(defaultTest='Programs')
    unittest.main(defaultTest=['Series', 'Build', 'Check'])
