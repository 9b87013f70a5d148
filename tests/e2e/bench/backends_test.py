"""isotherm bench backends as a user runs it: reports, mistakes, and a system that stays as it was.

    bench_backends_test.py ISOTHERM

Swap space and control groups need root and a kernel that has them. Elsewhere the tool has to say
so, which is what is then tested. Root tests in a mount namespace with a /run of its own, so that
the list of another run on the machine is not met.
"""
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

TOOL = sys.argv.pop(1)
LIST = pathlib.Path('/run/isotherm-bench-backends')
OWN_RUN = 'ISOTHERM_TEST_OWN_RUN'  # of the environment: /run is this test's own
SMALL = ('--keys', 20000, '--settle', 0.3, '--adapt', 0.5, '--seconds', 0.5, '--window', 0.1,
         '--memory', 300)
FOLDER = tempfile.TemporaryDirectory(dir='/var/tmp')  # of swap files and of COLD's
RUNS = []  # numbers of the processes that were started
FIELDS = {'benchmark', 'backend', 'store', 'manage', 'seed', 'keys', 'record_bytes', 'budget_bytes',
          'swap', 'dram_bytes', 'most_dram_bytes', 'zram_bytes', 'hit_ratio', 'misses',
          'throughput_ops_s', 'group', 'stalled_percent', 'stores', 'counters', 'details',
          'origin'}


def command(*words):
    folder = [] if '--dir' in words else ['--dir', FOLDER.name]
    return [TOOL, 'bench', 'backends', *folder, *map(str, words)]


def start(words, **more):
    run = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)
    RUNS.append(run.pid)
    return run


def backends(*words, before=(), **more):
    """Runs the tool to its end. `before` are words of a program that becomes the tool."""
    run = start([*before, *command(*words)], **more)
    try:
        said = run.communicate(timeout=300)
    finally:
        run.kill()
    return subprocess.CompletedProcess(run.args, run.returncode, *said)


def swaps():
    """Swap space of files that the runs of this test make, and zram devices."""
    lines = pathlib.Path('/proc/swaps').read_text(encoding='ascii').splitlines()[1:]
    return [line for line in lines if line.startswith((FOLDER.name, '/dev/zram'))]


def groups():
    """Control groups that the runs of this test make."""
    mounts = '/sys/fs/cgroup', '/sys/fs/cgroup/memory', '/sys/fs/cgroup/unified'
    return [path for mount in mounts for pid in RUNS
            for path in pathlib.Path(mount).glob(f'isotherm-bench-{pid}')]


def state_of_system():
    """All that a run changes."""
    zram = [path.read_text(encoding='ascii')
            for path in sorted(pathlib.Path('/sys/block').glob('zram*/disksize'))]
    return swaps(), groups(), zram, LIST.exists()


def can_limit():
    """Whether control groups can be made: by root, where their mount may be written."""
    mounts = pathlib.Path('/proc/mounts').read_text(encoding='utf-8').splitlines()
    return os.geteuid() == 0 and any(' cgroup' in line and ' rw' in line for line in mounts)


def lacks(name):
    """Whether the kernel has not what a backend needs."""
    needed = {'zram': '/sys/class/zram-control', 'tmo': '/proc/pressure/memory'}
    return name in needed and not pathlib.Path(needed[name]).exists()


class Reports(unittest.TestCase):
    def rows(self, *words):
        run = backends(*SMALL, '--json', '-', *words)
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        return [json.loads(line) for line in run.stdout.splitlines()]

    def test_without_a_backend_and_with_the_log(self):
        found = self.rows('--backend', 'none,log', '--store', 'hash-pugh:c', '--seed', 7)
        self.assertEqual([(row['backend'], row['manage']) for row in found],
                         [('none', 'off'), ('none', 'on'), ('log', 'off'), ('log', 'on')])
        for row in found:
            with self.subTest(backend=row['backend'], manage=row['manage']):
                self.assertLessEqual(FIELDS, set(row))
                self.assertEqual((row['seed'], row['store'], row['swap']),
                                 (7, 'hash-pugh:c', None))
                store, = row['stores']
                self.assertEqual((store['missing'], store['corrupt']), (0, 0))
                self.assertGreater(store['operations'], 0)
                self.assertGreater(row['dram_bytes'], row['record_bytes'] / 10)
                heaps = {'new', 'hot', 'cold', 'node'} if row['manage'] == 'on' else set()
                self.assertEqual(set(store['heaps']), heaps)
                if row['backend'] == 'none':
                    self.assertEqual((row['hit_ratio'], row['misses']), (1, 0))

    def test_stores_side_by_side(self):
        row, = self.rows('--backend', 'none', '--manage', 'on',
                         '--store', 'art:a+hash-chm:c+masstree:b')
        self.assertEqual([(each['index'], each['workload']) for each in row['stores']],
                         [('art', 'a'), ('hash-chm', 'c'), ('masstree', 'b')])
        self.assertEqual(row['record_bytes'], 3 * 20000 * 1054)
        self.assertAlmostEqual(row['throughput_ops_s'],
                               sum(each['throughput_ops_s'] for each in row['stores']), delta=1)

    def test_a_table(self):
        run = backends(*SMALL, '--backend', 'none', '--manage', 'off', '--store',
                       'art:b+hash-pugh:c')
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        head, *rows = run.stdout.splitlines()
        self.assertIn('refaults/s', head)
        self.assertEqual([row.split()[0] for row in rows], ['art:b+hash-pugh:c', 'art:b',
                                                            'hash-pugh:c'])


class Mistakes(unittest.TestCase):
    def test_are_told_in_a_line(self):
        for words, said in ((('--backend', 'magic'), "no backend is called 'magic'"),
                            (('--store', 'masstree'), 'INDEX:WORKLOAD'),
                            (('--store', 'hash-pugh:e'), 'ordered'),
                            (('--manage', 'track'), '--manage track'),
                            (('--memory', '0'), '--memory'),
                            (('--swap', 'tape'), 'tape'),
                            (('--hint', 'cold'), '--hint')):
            with self.subTest(words=words):
                run = backends(*words)
                self.assertEqual((run.returncode, run.stdout), (2, ''))
                self.assertEqual(run.stderr.count('\n'), 1)
                self.assertIn(said, run.stderr)

    def test_a_user_without_privileges_is_told_and_the_rest_runs(self):
        words = (*SMALL, '--backend', 'cgroup,none', '--manage', 'off', '--store', 'art:c')
        if os.geteuid() != 0:
            run = backends(*words)
        else:
            # The tool lies where that user may not go.
            with tempfile.TemporaryDirectory() as folder:
                os.chmod(folder, 0o755)
                tool = shutil.copy(TOOL, folder)
                run = subprocess.run([tool, *command(*words, '--dir', folder)[1:]],
                                     capture_output=True, text=True, timeout=300, check=False,
                                     user=65534, cwd=folder)
        self.assertEqual(run.returncode, 1)
        self.assertIn('art:c under cgroup, management off: it makes swap space and a control '
                      'group, which needs root', run.stderr)
        self.assertIn('none', run.stdout)

    def test_a_swap_file_that_finds_no_room_leaves_nothing(self):
        before = state_of_system()
        words = (*SMALL, '--backend', 'cgroup', '--manage', 'off', '--store', 'art:c')
        few = 1 << 20
        for run in (backends(*words, preexec_fn=lambda: resource.setrlimit(
                        resource.RLIMIT_FSIZE, (few, few))),
                    backends(*words, '--dir', '/no/such/folder')):
            self.assertEqual(run.returncode, 1)
            self.assertIn('art:c under cgroup, management off: ', run.stderr)
            self.assertEqual(state_of_system(), before)


class System(unittest.TestCase):
    """A run's changes to the system are undone, however the run ends."""

    def setUp(self):
        self.before = state_of_system()
        self.assertFalse(self.before[3], 'another run is under way, or was killed')

    def test_without_a_place_for_the_list_only_what_changes_nothing_runs(self):
        if OWN_RUN not in os.environ:
            return
        read_only = ['unshare', '--mount', 'sh', '-c',
                     'mount -t tmpfs -o ro none /run && exec "$@"', 'sh']
        words = (*SMALL, '--manage', 'off', '--store', 'art:c')
        run = backends(*words, '--backend', 'none,log', before=read_only)
        self.assertEqual((run.returncode, run.stderr), (0, ''))
        run = backends(*words, '--backend', 'none,cgroup', before=read_only)
        self.assertEqual(run.returncode, 1)
        self.assertIn('/run/isotherm-bench-backends', run.stderr)
        self.assertEqual(state_of_system(), self.before)

    def test_each_backend_works_and_leaves_nothing(self):
        names = ['kswapd', 'cgroup', 'tmo', 'hinted', 'zram']
        run = backends(*SMALL, '--json', '-', '--backend', ','.join(names), '--store', 'masstree:b')
        rows = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual([row['backend'] for row in rows], [name for name in names for _ in '12'])
        if not can_limit():
            self.assertTrue(all('root' in row['problem'] for row in rows), rows)
            return
        for row in rows:
            with self.subTest(backend=row['backend'], manage=row['manage']):
                if lacks(row['backend']):
                    self.assertIn('problem', row)
                    continue
                self.assertNotIn('problem', row)
                self.assertEqual((row['stores'][0]['missing'], row['stores'][0]['corrupt']), (0, 0))
                self.assertGreater(row['group']['charged_bytes'], 0)
        self.assertEqual(state_of_system(), self.before)

    def test_a_limit_holds_and_pages_leave_for_swap(self):
        for swap in ('file', 'zram') if can_limit() else ():
            if lacks(swap):
                continue
            for adapt in (10, 60):  # on a busy machine the first may be too short for the limit
                run = backends('--keys', 60000, '--settle', 0.3, '--adapt', adapt, '--seconds', 2,
                               '--backend', 'cgroup', '--swap', swap, '--manage', 'off',
                               '--memory', 75, '--store', 'hash-pugh:c', '--json', '-')
                self.assertEqual((run.returncode, run.stderr), (0, ''))
                row = json.loads(run.stdout)
                if row['details']['limit_holds']:
                    break
            self.assertTrue(row['details']['limit_holds'])
            self.assertLessEqual(row['dram_bytes'] - row['zram_bytes'], row['budget_bytes'])
            self.assertGreater(row['group']['swapped_bytes'], 0)
            self.assertGreater(row['misses'], 0)
            self.assertLess(row['hit_ratio'], 1)
            self.assertEqual(row['zram_bytes'] > 0, swap == 'zram')
        self.assertEqual(state_of_system(), self.before)

    def started(self, *words):
        """A run that has made its swap space and its group."""
        run = start(command('--keys', 60000, '--settle', 60, '--backend', 'cgroup',
                            '--store', 'art:c', *words))
        self.addCleanup(run.kill)
        while run.poll() is None and not groups():
            os.sched_yield()
        return run

    def test_an_interrupt_leaves_nothing(self):
        if not can_limit():
            return
        for number in (signal.SIGINT, signal.SIGTERM):
            run = self.started()
            self.assertEqual(len(swaps()), len(self.before[0]) + 1)
            run.send_signal(number)
            _, said = run.communicate(timeout=300)  # all pages come back from swap
            self.assertEqual((run.returncode, said), (130, 'isotherm: interrupted\n'))
            self.assertEqual(state_of_system(), self.before)

    def test_the_next_run_undoes_what_a_killed_one_has_left(self):
        if not can_limit():
            return
        run = self.started('--swap', 'file')
        busy = backends(*SMALL, '--backend', 'none')
        self.assertEqual(busy.returncode, 1)
        self.assertIn('another isotherm bench backends runs', busy.stderr)
        run.kill()
        run.communicate(timeout=300)
        self.assertNotEqual(state_of_system(), self.before)
        left, = set(swaps()) - set(self.before[0])
        file = pathlib.Path(left.split()[0])
        self.assertTrue(file.exists())
        after = backends(*SMALL, '--backend', 'none', '--manage', 'off', '--store', 'art:c')
        self.assertEqual(after.returncode, 0)
        self.assertIn(f'undid what a killed run had left: swap {file}', after.stderr)
        self.assertEqual(state_of_system(), self.before)
        self.assertFalse(file.exists())


def take_own_run():
    """Starts this test anew in a mount namespace, if root may make one."""
    if os.geteuid() != 0 or OWN_RUN in os.environ:
        return
    words = ['unshare', '--mount', 'sh', '-c', 'mount -t tmpfs none /run && exec "$@"', 'sh']
    if subprocess.run([*words, 'true'], check=False).returncode == 0:
        FOLDER.cleanup()
        os.environ[OWN_RUN] = '1'
        os.execvp(words[0], [*words, sys.executable, '-B', sys.argv[0], TOOL, *sys.argv[1:]])


if __name__ == '__main__':
    take_own_run()
    unittest.main(verbosity=1)
