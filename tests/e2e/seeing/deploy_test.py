#!/usr/bin/env python3
"""What deploy/ holds fits the tool: metrics, flags, libraries; and their own tools accept it.

    deploy_test.py ISOTHERM DEPLOY
"""

import json
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from serve_process import PATIENCE, start_ours  # noqa: E402

TOOL, DEPLOY = sys.argv.pop(1), pathlib.Path(sys.argv.pop(1))
RULES = DEPLOY / 'prometheus/alerts.yml'
METRIC = re.compile(r'\bisotherm_[a-z0-9_]+')


def said_by(*words):
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=PATIENCE,
                          check=False)
    return done.returncode, done.stdout + done.stderr


class Metrics(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = start_ours(TOOL, 'hash-pugh', '--http', '127.0.0.1:0')
        cls.addClassCleanup(cls.server.stop)
        page = next(found.group(0) for line in cls.server.said
                    if (found := re.search(r'http://[^\s/]+', line)))
        with urllib.request.urlopen(page + '/metrics', timeout=PATIENCE) as answer:
            cls.metrics = answer.read().decode()
        cls.served = set(re.findall(r'^(isotherm_\w+)', cls.metrics, re.MULTILINE))

    def assert_served(self, names):
        self.assertGreater(len(names), 5)
        self.assertEqual(names - self.served, set(), 'not in /metrics')

    def test_the_dashboard_shows_what_is_served(self):
        board = json.loads((DEPLOY / 'grafana/isotherm.json').read_text(encoding='utf-8'))
        self.assert_served({name for panel in board['panels'] for each in panel['targets']
                            for name in METRIC.findall(each['expr'])})
        numbers = [panel['id'] for panel in board['panels']]
        self.assertEqual(len(numbers), len(set(numbers)))
        for panel in board['panels']:
            place = panel['gridPos']
            self.assertLessEqual(place['x'] + place['w'], 24, panel['title'])

    def test_the_alerts_ask_for_what_is_served(self):
        expressions = re.findall(r'expr: *(?:>-\n)?((?:.|\n)*?)\n +(?:for|labels):',
                                 RULES.read_text(encoding='utf-8'))
        names = {name for text in expressions for name in METRIC.findall(text)}
        self.assertEqual(len(expressions), RULES.read_text(encoding='utf-8').count('- alert:'))
        self.assert_served(names)
        self.assertRegex(self.metrics, r'isotherm_info\{[^}]*problem="')
        self.assertRegex(self.metrics, r'isotherm_heap_resident_bytes\{[^}]*heap="cold"')

    def test_a_counter_and_nothing_else_ends_in_total(self):
        for name, kind in re.findall(r'^# TYPE (\w+) (\w+)', self.metrics, re.MULTILINE):
            self.assertEqual(kind == 'counter', name.endswith('_total'), name)


class Accepted(unittest.TestCase):
    def test_promtool_accepts_the_rules_and_each_fires(self):
        for words in (('check', 'rules', RULES), ('test', 'rules', RULES.with_name(
                'alerts_test.yml')), ('check', 'config', RULES.with_name('prometheus.yml'))):
            status, said = said_by('promtool', *words)
            self.assertEqual(status, 0, said)

    def test_each_alert_is_tested(self):
        named = set(re.findall(r'alert: (\w+)', RULES.read_text(encoding='utf-8')))
        tests = RULES.with_name('alerts_test.yml').read_text(encoding='utf-8')
        self.assertLessEqual(named, set(re.findall(r'alertname: (\w+)', tests)))
        self.assertIn(f'value: {len(named)}', tests, 'that all of them fire')

    def test_systemd_accepts_the_unit(self):
        unit = (DEPLOY / 'systemd/isotherm.service').read_text(encoding='utf-8')
        # The tool and its manual page need not be installed here.
        unit = unit.replace('/usr/bin/isotherm', TOOL)
        unit = re.sub(r'^Documentation=.*\n', '', unit, flags=re.MULTILINE)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / 'isotherm.service'
            path.write_text(unit, encoding='utf-8')
            status, said = said_by('systemd-analyze', 'verify', path)
        self.assertEqual((status, said), (0, ''))


class Started(unittest.TestCase):
    """How the unit and the container start the tool, and with which libraries."""

    def setUp(self):
        self.recipe = (DEPLOY / 'container/Containerfile').read_text(encoding='utf-8')
        self.unit = (DEPLOY / 'systemd/isotherm.service').read_text(encoding='utf-8')

    def test_by_flags_that_it_has(self):
        entry = json.loads(re.search(r'^ENTRYPOINT (.*)$', self.recipe, re.MULTILINE).group(1))
        line = re.search(r'^ExecStart=(.*)$', self.unit, re.MULTILINE).group(1)
        _, told = said_by(TOOL, 'serve', '--help')
        for words in (entry, shlex.split(line)):
            self.assertEqual(words[1], 'serve')
            for word in words:
                if word.startswith('--'):
                    self.assertRegex(told, rf'(?m)^ +(-\w,)?{word}\b')

    def test_of_sources_alone(self):
        # `COPY . .` would take a build of this machine along, and all of the history.
        kept_out = (DEPLOY.resolve().parent / '.dockerignore').read_text(encoding='utf-8').split()
        self.assertLessEqual({'build', 'dist', '.git'}, set(kept_out))

    def test_in_a_container_that_has_its_libraries(self):
        listed = re.search(r'--no-install-recommends(.*?)&&', self.recipe, re.DOTALL).group(1)
        packages = set(listed.replace('\\', ' ').split())
        _, dynamic = said_by('readelf', '-d', TOOL)
        _, loaded = said_by('ldd', TOOL)
        for name in re.findall(r'NEEDED.*\[(.*)\]', dynamic):
            path = re.search(rf'{re.escape(name)} => (\S+)', loaded)
            if not path:
                continue  # the loader itself
            # A package may have it in /lib, which is the same as /usr/lib.
            place = str(pathlib.Path(path.group(1)).resolve()).removeprefix('/usr')
            _, owner = said_by('dpkg', '-S', f'*{place}')
            package = owner.split(':')[0]
            # Packages of the base image: the C library and the compiler's.
            if package not in ('libc6', 'libgcc-s1'):
                self.assertIn(package, packages, name)


if __name__ == '__main__':
    unittest.main(verbosity=1)
