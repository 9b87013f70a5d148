"""`isotherm sort --tmp DIR=DEVICE`, several times: which directory takes runs, what is refused, and
that nothing stays behind.

    devices_test.py PATH_OF_ISOTHERM

Where the system gives a mount namespace, one directory is a small file system of its own."""
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
RECORD = 16
SMALL = 2 << 20  # bytes of a file system that cannot hold the runs of RUNS bytes
RUNS = 16 * 1_500_000


def in_small_file_system(folder, words):
    """The words of a command that sees an empty file system of SMALL at `folder`."""
    script = f'mount -t tmpfs -o size={SMALL} none "$0" && exec "$@"'
    return ['unshare', '-rm', 'sh', '-c', script, str(folder), *words]


class Devices(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.fast, self.large = self.folder / 'fast', self.folder / 'large'
        self.fast.mkdir()
        self.large.mkdir()

    def make_input(self, size=RUNS):
        self.seed = random.getrandbits(32)
        (self.folder / 'in').write_bytes(random.Random(self.seed).randbytes(size))

    def expected(self):
        """The output of a sort in memory, without a device."""
        known = self.folder / 'known'
        if not known.exists():
            subprocess.run([TOOL, 'sort', '--record', str(RECORD), self.folder / 'in', '-o', known,
                            '--memory', '512mb'], check=True)
        return known.read_bytes()

    def words(self, *more, memory='32mb'):
        return [TOOL, 'sort', '--record', str(RECORD), str(self.folder / 'in'), '-o',
                str(self.folder / 'out'), '--memory', memory, *map(str, more)]

    def run_tool(self, *words):
        return subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)

    def refused(self, said, *more, status=1):
        done = self.run_tool(*self.words(*more))
        self.assertEqual(done.returncode, status, done.stderr)
        self.assertRegex(done.stderr, rf'^isotherm: [^\n]*{said}[^\n]*\n$')
        self.assertFalse((self.folder / 'out').exists())
        self.assertEqual(self.left(), [])

    def left(self):
        """Files in the directories for runs, and those in front of an output."""
        return [*self.fast.iterdir(), *self.large.iterdir(), *self.folder.glob('.*')]

    def report(self, *more, wrap=lambda words: words):
        done = self.run_tool(*wrap(self.words('--json', self.folder / 'json', *more)))
        self.assertEqual(done.returncode, 0, f'{done.stderr} seed {self.seed}')
        self.assertEqual((self.folder / 'out').read_bytes(), self.expected(), f'seed {self.seed}')
        self.assertEqual(self.left(), [])
        return json.loads((self.folder / 'json').read_text())

    def test_the_faster_device_takes_the_runs(self):
        self.make_input()
        for algorithm in ('mergepass', 'ems'):
            told = self.report('--tmp', f'{self.large}=emu:cmm-h', '--tmp',
                               f'{self.fast}=emu:pmem', '--algorithm', algorithm)
            self.assertTrue(told['emulated'])
            place, = told['places']
            self.assertEqual((place['directory'], place['device']), (str(self.fast), 'emu:pmem'))
            self.assertGreater(place['seconds'], 0)
            self.assertGreater(place['bytes'], 0)

    def test_what_does_not_fit_goes_to_the_next(self):
        self.make_input()
        probe = self.run_tool(*in_small_file_system(self.fast, ['true']))
        if probe.returncode:
            self.skipTest(f'no mount namespace: {probe.stderr}')
        several = ['--tmp', f'{self.fast}=emu:pmem', '--tmp', self.large]

        def wrap(words):
            return in_small_file_system(self.fast, words)
        for algorithm in ('auto', 'mergepass', 'ems'):
            told = self.report(*several, '--algorithm', algorithm, wrap=wrap)
            took = {place['directory']: place['bytes'] for place in told['places']}
            self.assertGreater(took[str(self.large)], 0)
            self.assertLessEqual(took.get(str(self.fast), 0), SMALL)
        # A directory alone that is too small is refused, and so are both if the second is it.
        for few in ([], ['--tmp', f'{self.fast}']):
            done = self.run_tool(*wrap(self.words('--tmp', self.fast, *few)))
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, r'^isotherm: no space: [^\n]+\n$')

    def test_the_plan_says_which_directory_takes_what(self):
        self.make_input()
        told = self.run_tool(*self.words('--explain', '--device', 'emu:cmm-h', '--tmp',
                                         f'{self.fast}=emu:pmem'))
        self.assertRegex(told.stdout, rf'(?m)^mergepass +[\d.]+ s.*\n  \d+ bytes of runs in '
                                      rf'{self.fast}, [\d.]+ s of emu:pmem$')
        told = self.run_tool(*self.words('--explain', '--tmp', f'{self.fast}=emu:pmem', '--tmp',
                                         self.large))
        self.assertRegex(told.stdout, rf'^auto +\? s[^\n]*\n  \d+ bytes of runs in {self.fast}, ')

    def test_what_is_wrong_is_refused_in_one_line(self):
        self.make_input(RECORD)
        self.refused('No such file', '--tmp', self.fast, '--tmp', self.folder / 'none')
        self.refused('one directory', '--tmp', self.fast, '--tmp', f'{self.fast}=emu:pmem')
        self.refused('no emulated device', '--tmp', f'{self.fast}=emu:none')
        self.refused('device profile', '--tmp', f'{self.fast}={self.folder}/none.json')
        (self.folder / 'bad.json').write_text('{}')
        self.refused('bad.json', '--tmp', f'{self.fast}={self.folder}/bad.json')
        self.refused('but takes DIR', '--tmp', f'{self.fast}=', status=2)
        self.refused('but takes DIR', '--tmp', '=emu:pmem', status=2)
        self.refused('needs an emulated device', '--explain', '--tmp', self.fast)
        named = self.folder / 'a=b'
        named.mkdir()
        self.assertEqual(self.run_tool(*self.words('--tmp', named, '--tmp', named)).returncode, 0)

    def test_an_interrupt_leaves_nothing_in_any_directory(self):
        self.make_input()
        several = ['--tmp', f'{self.fast}=emu:pmem@1/1000', '--tmp', self.large, '--algorithm',
                   'mergepass', '--progress']
        with subprocess.Popen(self.words(*several), stderr=subprocess.PIPE, text=True) as sort:
            for line in sort.stderr:
                if 'RUN write' in line:
                    sort.send_signal(signal.SIGINT)
                    break
            rest = sort.stderr.read()
        self.assertEqual(sort.returncode, 130, rest)
        self.assertFalse((self.folder / 'out').exists())
        self.assertEqual(self.left(), [])


if __name__ == '__main__':
    # Ignored where a shell runs this in the background.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    unittest.main(verbosity=1)
