#!/usr/bin/env python3
"""The live page in a browser: it shows what ISOTHERM STATS tells, zooms, takes the keyboard, and
asks nobody else for anything.

    page_test.py ISOTHERM [FOLDER]      FOLDER: where pictures of the page are kept
"""

import json
import os
import pathlib
import socket
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / 'scripts'))
import demo_live_page
from browser import Browser
from serve_case import until
from serve_process import PATIENCE, Raw, start_ours

ISOTHERM = sys.argv.pop(1)
PICTURES = sys.argv.pop(1) if len(sys.argv) > 1 and not sys.argv[1].startswith('-') else None
KEYS = 20_000
# Figures of the process and of what is asked of it just now.
CHANGING = ('rss', 'dram', 'resident_bytes', 'commands', 'connections', 'clients', 'put_bytes',
            'reply_', '_us', 'used_memory')


def url_of(process):
    return next(line.split()[-1] for line in process.said if line.startswith('live page at'))


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.browser.renew()

    def serve(self, *flags):
        process = start_ours(ISOTHERM, 'hash-pugh', '--http', ':0', *flags)
        self.addCleanup(process.stop)
        client = Raw(process.path)
        self.addCleanup(client.close)
        return process, client

    def load(self, client):
        for first in range(0, KEYS, 1000):
            words = [word for number in range(first, first + 1000)
                     for word in (f'key:{number}', 'x' * 1000)]
            client.ask('MSET', *words)

    def open(self, process, **more):
        self.browser.show(url_of(process), **more)
        self.browser.wait_for('Number(document.body && document.body.dataset.events) >= 2')

    def assert_quiet(self, process):
        """No error, and no request but to the server."""
        self.assertEqual(self.browser.problems, [])
        self.assertGreater(len(self.browser.requests), 5)
        for url in self.browser.requests:
            self.assertTrue(url.startswith((url_of(process), 'data:')), url)

    def text(self, selector):
        return self.browser.value(f'document.querySelector({selector!r}).textContent')

    def test_values_are_those_of_isotherm_stats(self):
        process, client = self.serve('--window', '3600')
        self.load(client)
        client.ask('ISOTHERM', 'COLLECT')
        self.open(process)
        words = client.ask('ISOTHERM', 'STATS').decode().split('\r\n')
        compared = 0
        names = self.browser.value('JSON.stringify([...document.querySelectorAll("#figures th")]'
                                   '.map((each) => each.textContent))')
        for name in json.loads(names):
            if name.endswith(CHANGING) or name.startswith(CHANGING):
                continue
            at = words.index(name) + 1
            value = words[at + 1] if words[at].startswith('$') else words[at][1:]
            shown = self.browser.value(f'document.getElementById("figure-{name}").dataset.value')
            self.assertEqual(float(shown), float(value), name)
            compared += float(value) != 0
        self.assertGreaterEqual(compared, 8)
        self.assertIn('index hash-pugh', self.text('#facts'))
        self.assertEqual(self.text('#state'), 'live')
        self.assert_quiet(process)

    def chart(self, title):
        """Returns the current values of the lines of the chart of that title, a text each."""
        return json.loads(self.browser.value(
            'JSON.stringify([...[...document.querySelectorAll("#charts .card")].find((each) => '
            f'each.querySelector("h3").textContent.startsWith({title!r}))'
            '.querySelectorAll(".now b")].map((each) => each.textContent))'))

    def figure(self, name):
        return float(self.browser.value(
            f'document.getElementById("figure-{name}").dataset.value'))

    def test_charts_tell_the_figures(self):
        process, client = self.serve('--window', '3600', '--memory-target', '2gb')
        self.load(client)
        client.ask('ISOTHERM', 'COLLECT')
        self.open(process)
        dram, target = self.chart('DRAM against')
        self.assertRegex(dram, r'^[\d.]+ MiB$')
        self.assertEqual(target, '2.0 GiB')
        self.assertEqual(self.chart('Page utilization')[0],
                         f'{100 * self.figure("page_utilization"):.1f}%')
        saved, unused = self.chart('Out of DRAM')
        self.assertRegex(saved, r'^[\d.]+ (B|KiB|MiB)$')
        self.assertRegex(unused, r'^[\d.]+ (B|KiB|MiB)$')
        # Nothing has a threshold by this policy.
        self.assertEqual(self.chart('Promotion rate')[1], '-')
        self.assertEqual(self.chart('Windows without use'), ['-'])
        self.assertEqual(self.chart('Misses a second'), ['0', '0'])
        self.assertEqual(self.chart('Moves')[2], '0')
        self.assertEqual(self.chart('Time of misses'), ['-', '-', '-'])  # there were none
        self.assert_quiet(process)

    def test_a_threshold_is_shown_where_there_is_one(self):
        process, client = self.serve('--window', '3600', '--policy', 'published')
        client.ask('ISOTHERM', 'COLLECT')
        self.open(process)
        self.assertEqual(self.chart('Promotion rate')[1], '1.0%')
        self.assertEqual(float(self.chart('Windows without use')[0]), self.figure('cold_threshold'))
        self.assert_quiet(process)

    def test_a_refused_stream_is_asked_for_again(self):
        process, _ = self.serve('--window', '3600')
        streams = [self.stream(process) for _ in range(64)]
        self.browser.show(url_of(process))
        state = '(document.getElementById("state") || {}).textContent'
        self.browser.wait_for(f'{state} === "not connected"')
        for each in streams:
            each.close()
        self.browser.wait_for(f'{state} === "live"')

    def stream(self, process):
        connection = socket.create_connection(
            ('127.0.0.1', int(url_of(process).rstrip('/').rpartition(':')[2])), timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.sendall(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        self.assertTrue(connection.recv(100))
        return connection

    def test_zooms_by_wheel_buttons_and_keyboard(self):
        process, client = self.serve('--window', '3600')
        self.load(client)
        client.ask('ISOTHERM', 'COLLECT')  # HOT has its size from now on
        self.open(process)
        hot = 'document.getElementById("map-hot")'
        label = f'{hot}.getAttribute("aria-label")'
        # "pages 0 to 5,000 of 5,000; a cell is 2 pages"
        is_whole = f'/pages 0 to ([\\d,]+) of \\1;/.test({label})'
        is_part = f'/pages [\\d,]+ to/.test({label}) && !{is_whole}'
        self.browser.wait_for(is_whole)
        box = self.browser.value(f'JSON.parse(JSON.stringify({hot}.getBoundingClientRect()))')
        self.browser.wheel(box['x'] + 20, box['y'] + 20, -100)
        self.browser.wait_for(is_part)
        self.browser.wheel(box['x'] + 20, box['y'] + 20, 100)
        self.browser.wait_for(is_whole)
        self.browser.value(f'{hot}.focus()')
        self.browser.press('ArrowRight')
        self.browser.press('ArrowDown')
        self.browser.wait_for('document.getElementById("chosen").textContent'
                              '.startsWith("HOT, page")')
        self.browser.press('+', '+')
        self.browser.wait_for(is_part)
        self.browser.press('Home')
        self.browser.wait_for(is_whole)
        self.assert_quiet(process)

    def test_shows_the_objects_of_a_page(self):
        process, client = self.serve('--window', '1')
        self.load(client)
        self.open(process)
        self.browser.wait_for('document.getElementById("window-note").textContent'
                              '.startsWith("Uses of")')
        hot = 'document.getElementById("map-hot")'
        self.browser.wait_for(f'{hot}.getAttribute("aria-label").includes("pages 0 to")')
        self.browser.value(f'{hot}.focus()')
        self.browser.press('+', '+')
        self.browser.wait_for(f'{hot}.getAttribute("aria-label").includes("a cell is a page")')
        for _ in range(5):
            self.browser.press('ArrowRight')
        self.browser.wait_for('document.querySelectorAll("#objects tr").length >= 4')
        self.assertRegex(self.text('#objects td:nth-child(2)'),  # a key, or a value
                         r'^(\d|1,0\d\d) bytes$')
        self.assertIn('of 4,096 bytes used', self.text('#chosen'))
        self.assert_quiet(process)

    def test_changes_an_option_after_a_question(self):
        process, client = self.serve('--http-control', '--window', '3600')
        self.open(process)
        row = '#option-window'
        self.browser.wait_for(f'document.querySelector("{row} input") !== null')
        change = (f'document.querySelector("{row} input").value = "1800";'
                  f'document.querySelector("{row} button").click()')
        self.browser.value(change)
        self.browser.wait_for('document.getElementById("confirm").open')
        self.assertIn('window from 3600 to 1800', self.text('#confirm-text'))
        self.browser.value('document.querySelector("#confirm button[value=no]").click()')
        self.assertIn(b'3600', client.ask('ISOTHERM', 'CONFIG', 'GET', 'window'))
        self.browser.value(change)
        self.browser.value('document.querySelector("#confirm button[value=yes]").click()')
        self.browser.wait_for('document.getElementById("options-note").textContent'
                              '.startsWith("window is 1800")')
        self.assertIn(b'1800', client.ask('ISOTHERM', 'CONFIG', 'GET', 'window'))
        self.assert_quiet(process)

    def test_a_change_that_nobody_answers_is_told(self):
        process, _ = self.serve('--http-control', '--window', '3600')
        self.open(process)
        self.browser.wait_for('document.querySelector("#option-window input") !== null')
        process.stop()
        self.browser.value('document.querySelector("#option-window button").click()')
        self.browser.value('document.querySelector("#confirm button[value=yes]").click()')
        self.browser.wait_for('document.getElementById("options-note").textContent'
                              '.startsWith("The server does not answer")')

    def test_without_control_nothing_can_be_changed(self):
        process, _ = self.serve()
        self.open(process)
        self.browser.wait_for('document.getElementById("option-window") !== null')
        inputs = self.browser.value('document.querySelectorAll("#options input").length')
        self.assertEqual(inputs, 0)

    def test_without_management(self):
        process, client = self.serve('--manage', 'off')
        client.ask('SET', 'key', 'value')
        self.open(process)
        self.browser.wait_for('document.getElementById("figure-keys").dataset.value === "1"')
        self.browser.wait_for('document.getElementById("window-note").textContent'
                              '.startsWith("Management is off")')
        self.assert_quiet(process)

    # The demo's own patience is too short for a browser on a busy machine.
    @unittest.mock.patch.object(demo_live_page, 'PATIENCE', PATIENCE)
    def test_the_page_that_the_demo_saves(self):
        process, client = self.serve('--window', '1', '--memory-target', '40mb')
        self.load(client)
        follower = demo_live_page.Follower(url_of(process))
        until(lambda: len(follower.events) >= 3)
        with tempfile.TemporaryDirectory() as folder:
            page = pathlib.Path(folder) / 'live.html'
            files, problem = follower.save(page)
            self.assertEqual((files, problem), ([page, page.with_suffix('.png')], None))
            self.assertEqual(page.with_suffix('.png').read_bytes()[:8], b'\x89PNG\r\n\x1a\n')
            process.stop()
            self.browser.show(page.as_uri())
            self.browser.wait_for('((document.getElementById("state") || {}).textContent || "")'
                                  '.startsWith("saved 20")')
        self.assertEqual(self.figure('keys'), KEYS)
        self.assertRegex(self.chart('DRAM against')[0], r'^[\d.]+ MiB$')
        hot = 'document.getElementById("map-hot")'
        whole = self.browser.value(f'{hot}.getAttribute("aria-label")')
        self.browser.value(f'{hot}.focus()')
        self.browser.press('+', '+')
        self.browser.press('ArrowRight')
        self.assertEqual(self.browser.value(f'{hot}.getAttribute("aria-label")'), whole)
        self.assertIn('page', self.text('#chosen'))
        self.assertEqual(self.browser.problems, [])

    def test_pictures(self):
        process, client = self.serve('--window', '1', '--memory-target', '40mb')
        self.load(client)
        for scheme, width in (('light', 1300), ('dark', 1300), ('light', 420)):
            self.open(process, width=width, scheme=scheme)
            self.browser.wait_for('document.getElementById("window-note").textContent'
                                  '.startsWith("Uses of")')
            self.assertLessEqual(self.browser.value('document.documentElement.scrollWidth'), width)
            back = self.browser.value('getComputedStyle(document.body).backgroundColor')
            self.assertEqual(back, 'rgb(20, 24, 27)' if scheme == 'dark' else 'rgb(251, 251, 250)')
            picture = self.browser.picture()
            self.assertGreater(len(picture), 20_000)
            if PICTURES:
                with open(os.path.join(PICTURES, f'live-{scheme}-{width}.png'), 'wb') as file:
                    file.write(picture)
        self.assert_quiet(process)


if __name__ == '__main__':
    unittest.main(verbosity=1)
