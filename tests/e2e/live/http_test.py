#!/usr/bin/env python3
"""isotherm serve --http: what it tells, and that no client harms it.

    http_test.py ISOTHERM
"""

import http.client
import json
import os
import pathlib
import random
import re
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..'))
from serve_case import until
from serve_process import PATIENCE, Raw, start_ours

ISOTHERM = sys.argv.pop(1)
ROOT = pathlib.Path(__file__).resolve().parents[3]


def url_of(process):
    return next(line.split()[-1] for line in process.said if line.startswith('live page at'))


def port_of(process):
    return int(url_of(process).rstrip('/').rpartition(':')[2])


class Served(unittest.TestCase):
    def serve(self, *flags, **more):
        process = start_ours(ISOTHERM, 'hash-pugh', '--http', ':0', *flags, **more)
        self.addCleanup(process.stop)
        client = Raw(process.path)
        self.addCleanup(client.close)
        return process, client

    def ask(self, process, path, method='GET', body=None, **headers):
        connection = http.client.HTTPConnection('127.0.0.1', port_of(process), timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.request(method, path, body,
                           {name.replace('_', '-'): value for name, value in headers.items()})
        answer = connection.getresponse()
        return answer, answer.read().decode()

    def connect(self, process):
        connection = socket.create_connection(('127.0.0.1', port_of(process)), timeout=PATIENCE)
        self.addCleanup(connection.close)
        return connection


def stats(client):
    """ISOTHERM STATS as texts by name."""
    words = client.ask('ISOTHERM', 'STATS').decode().split('\r\n')
    found, at = {}, 1
    while at + 2 < len(words):
        name = words[at + 1]
        if words[at + 2][:1] == '$':
            found[name], at = words[at + 3], at + 4
        else:
            found[name], at = words[at + 2][1:], at + 3
    return found


class Figures(Served):
    def test_agree_with_isotherm_stats(self):
        process, client = self.serve('--window', '3600')
        for number in range(1000):
            client.ask('SET', f'key:{number}', 'x' * 100)
        client.ask('ISOTHERM', 'COLLECT')
        told = stats(client)
        shown = json.loads(self.ask(process, '/api/stats')[1])
        metrics = dict(line.rsplit(' ', 1) for line in self.ask(process, '/metrics')[1].splitlines()
                       if not line.startswith('#'))
        called = {each['name']: each['metric']
                  for each in json.loads(self.ask(process, '/api/tables')[1])['figures']}
        self.assertEqual(shown['facts']['index'], told['index'])
        self.assertEqual(shown['facts']['manage'], told['manage'])
        changing = ('rss', 'dram', 'resident', 'used_memory')
        traffic = ('commands', 'connections', 'input_bytes', 'output_bytes')
        for name, text in told.items():
            if name in shown['facts']:
                continue
            if name.startswith(changing):
                self.assertGreater(shown['figures'][name], 0, name)
                continue
            if name in traffic:  # the question itself counts
                self.assertGreaterEqual(shown['figures'][name], float(text), name)
                continue
            if name == 'commands_per_second':
                continue
            self.assertEqual(shown['figures'][name], float(text), name)
            if not name.endswith('_us'):  # sums over windows are those of the one window so far
                self.assertEqual(float(metrics[called[name]]), float(text), name)
        self.assertEqual(shown['figures']['keys'], 1000)
        self.assertEqual(shown['heaps']['new']['objects'] + shown['heaps']['hot']['objects'] +
                         shown['heaps']['cold']['objects'], 2000)

    def test_what_the_page_and_top_show_is_served(self):
        process, _ = self.serve()
        tables = json.loads(self.ask(process, '/api/tables')[1])
        served = {each['name'] for each in tables['figures'] + tables['options']}
        wanted = set()
        for path, pattern in (('src/live/page/page.js',
                               r"(?:figure|rate|option)\('([\w-]+)'\)|event\.figures\.(\w+)"),
                              ('src/top/frame.cpp',
                               r'(?:number|curve|rate|setting)\("([\w-]+)"\)()')):
            found = re.findall(pattern, (ROOT / path).read_text(encoding='utf-8'))
            self.assertGreater(len(found), 8, path)
            wanted |= {one or other for one, other in found}
        self.assertEqual(wanted - served, set())

    def test_promtool_accepts_the_metrics(self):
        for flags in ((), ('--manage', 'off')):
            process, _ = self.serve(*flags)
            checked = subprocess.run(['promtool', 'check', 'metrics'], capture_output=True,
                                     input=self.ask(process, '/metrics')[1], text=True, check=False,
                                     timeout=PATIENCE)
            self.assertEqual((checked.returncode, checked.stdout, checked.stderr), (0, '', ''))

    def test_without_management_there_is_what_there_is(self):
        process, client = self.serve('--manage', 'off')
        client.ask('SET', 'key', 'value')
        shown = json.loads(self.ask(process, '/api/stats')[1])
        self.assertEqual(shown['figures']['keys'], 1)
        self.assertEqual(shown['facts']['manage'], 'off')
        self.assertEqual(shown['heaps'], {})
        self.assertEqual(self.ask(process, '/api/map')[0].status, 404)
        self.assertEqual(self.ask(process, '/')[0].status, 200)

    def test_each_figure_has_its_help(self):
        process, _ = self.serve()
        tables = json.loads(self.ask(process, '/api/tables')[1])
        names = [each['name'] for each in tables['figures']]
        self.assertEqual(sorted(names), sorted(json.loads(self.ask(process, '/api/stats')[1])
                                               ['figures']))
        self.assertEqual(len(names), len(set(names)))
        self.assertTrue(all(each['help'] for each in tables['figures']))
        self.assertIn('window', [each['name'] for each in tables['options']])


class Start(Served):
    def test_says_where_and_ends_cleanly(self):
        process, _ = self.serve()
        stream = self.connect(process)
        stream.sendall(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        self.assertIn(b'200 OK', stream.recv(100))
        status, said, leftover = process.stop(signal.SIGTERM)
        self.assertEqual((status, leftover), (0, False))
        self.assertIn('live page at http://127.0.0.1:', said)

    def test_without_the_flag_there_is_no_page(self):
        process = start_ours(ISOTHERM, 'hash-pugh')
        self.addCleanup(process.stop)
        self.assertFalse([line for line in process.said if 'live page' in line])

    def test_mistakes_are_refused_in_one_line(self):
        taken, _ = self.serve()
        for words, said in ((('--http', 'nowhere'), 'no address for HTTP'),
                            (('--http', '127.0.0.1:99999'), 'no address for HTTP'),
                            (('--http-control',), '--http-control has no password'),
                            (('--http', '0.0.0.0:0', '--http-control'), '--http-control'),
                            (('--http', f':{port_of(taken)}'), 'cannot serve HTTP at 127.0.0.1')):
            with self.subTest(words=words):
                run = subprocess.run([ISOTHERM, 'serve', '--port', '0', '--manage', 'off', *words],
                                     text=True, capture_output=True, timeout=PATIENCE, check=False)
                self.assertNotEqual(run.returncode, 0)
                self.assertEqual(len(run.stderr.strip().splitlines()), 1, run.stderr)
                self.assertIn(said, run.stderr)


class Strangers(Served):
    """Whom nothing is told, and who change nothing."""

    def test_dns_rebinding(self):
        process, _ = self.serve()
        for path in ('/', '/metrics', '/api/stats', '/events', '/healthz'):
            self.assertEqual(self.ask(process, path, Host='evil.example')[0].status, 403, path)
            answer, _ = self.ask(process, path, Host='localhost.evil.example:1')
            self.assertEqual(answer.status, 403)

    def test_a_health_check_without_a_host(self):
        process, _ = self.serve()
        for path in b'/healthz', b'/metrics':
            connection = self.connect(process)
            connection.sendall(b'GET %s HTTP/1.0\r\n\r\n' % path)
            self.assertIn(b' 200 OK', connection.recv(20))

    def test_a_name_of_a_proxy(self):
        process, _ = self.serve('--http-host', 'public.example.org')
        answer, _ = self.ask(process, '/healthz', Host='public.example.org')
        self.assertEqual(answer.status, 200)
        answer, _ = self.ask(process, '/healthz', Host='other.example.org')
        self.assertEqual(answer.status, 403)
        events = self.connect(process)
        events.sendall(b'GET /events HTTP/1.1\r\nHost: public.example.org\r\n\r\n')
        self.assertIn(b'X-Accel-Buffering: no', events.recv(4096))

    def test_cross_site_requests(self):
        process, client = self.serve('--http-control')
        body = json.dumps({'name': 'window', 'value': '77'})
        json_type = {'Content_Type': 'application/json'}
        for headers in ({'Origin': 'http://evil.example', **json_type},
                        {'Origin': 'null', **json_type},
                        {'Sec_Fetch_Site': 'cross-site', **json_type},
                        {'Content_Type': 'text/plain'},
                        {'Content_Type': 'application/x-www-form-urlencoded'}):
            answer, _ = self.ask(process, '/api/options', 'POST', body, **headers)
            self.assertIn(answer.status, (403, 415), headers)
        self.assertEqual(self.ask(process, '/api/options?name=window&value=77')[0].status, 405)
        preflight, _ = self.ask(process, '/api/options', 'OPTIONS', Origin='http://evil.example')
        self.assertEqual(preflight.status, 405)
        self.assertIsNone(preflight.getheader('Access-Control-Allow-Origin'))
        self.assertNotIn(b'77', client.ask('ISOTHERM', 'CONFIG', 'GET', 'window'))
        answer, _ = self.ask(process, '/api/options', 'POST', body, **json_type)
        self.assertEqual(answer.status, 200)
        self.assertIn(b'$2\r\n77\r\n', client.ask('ISOTHERM', 'CONFIG', 'GET', 'window'))

    def test_control_is_off_unless_asked_for(self):
        process, client = self.serve()
        body = json.dumps({'name': 'window', 'value': '77'})
        answer, said = self.ask(process, '/api/options', 'POST', body,
                                Content_Type='application/json')
        self.assertEqual(answer.status, 403)
        self.assertIn('--http-control', said)
        self.assertNotIn(b'77', client.ask('ISOTHERM', 'CONFIG', 'GET', 'window'))

    def test_paths_lead_to_no_file(self):
        process, _ = self.serve()
        for path in ('/../../etc/passwd', '/..%2f..%2fetc/passwd', '/%2e%2e/%2e%2e/etc/passwd',
                     '//etc/passwd', '/page.js/../../../etc/passwd', '/etc/passwd%00.js', '/.',
                     '/page.js%00', '/index.html/', '/' + 'a' * 5000):
            answer, text = self.ask(process, path)
            self.assertIn(answer.status, (200, 400, 404), path)
            self.assertNotIn('root:', text)
        self.assertEqual(self.ask(process, '/page.html')[0].status, 404)

    def test_every_answer_forbids_what_is_not_its_own(self):
        process, _ = self.serve()
        for path in ('/', '/page.js', '/metrics', '/api/stats', '/nowhere'):
            answer, _ = self.ask(process, path)
            self.assertIn("default-src 'none'", answer.getheader('Content-Security-Policy'))
            self.assertEqual(answer.getheader('X-Content-Type-Options'), 'nosniff')
            self.assertEqual(answer.getheader('X-Frame-Options'), 'DENY')


class Trouble(Served):
    """Clients that harm nobody: the store and the page serve on."""

    def assert_serves(self, process, client):
        self.assertEqual(client.ask('SET', 'key', 'value'), b'+OK\r\n')
        self.assertEqual(client.ask('GET', 'key'), b'$5\r\nvalue\r\n')
        self.assertEqual(self.ask(process, '/healthz')[1], 'ok\n')

    def test_malformed_requests(self):
        process, client = self.serve('--http-control')
        dice = random.Random(17)
        pieces = [b'GET', b'POST', b' ', b'/', b'/api/options', b'/api/map?heap=hot&from=',
                  b'HTTP/1.1', b'HTTP/9.9', b'\r\n', b'\n', b'\r', b'Host: localhost', b'Host:',
                  b':', b'\0', b'%', b'%zz', b'Content-Length: 99999999999999999999',
                  b'Content-Length: -1', b'Content-Length: 5', b'Transfer-Encoding: chunked',
                  b'fffffffffffffffff\r\n', b'0\r\n\r\n', b'Expect: 100-continue',
                  b'Connection: upgrade', b'\xff\xfe', b'{"name":', b'a' * 9000]
        for _ in range(200):
            text = b''.join(dice.choice(pieces) for _ in range(dice.randrange(1, 30)))
            connection = self.connect(process)
            try:
                connection.sendall(text)
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has been closed for what came before
        self.assert_serves(process, client)

    def test_heads_of_any_length_are_answered(self):
        process, client = self.serve()
        seen = set()
        for line in (b'X: ' + b'x' * 1000 + b'\r\n', b'X: ' + b'x' * 100 + b'\r\n'):
            start = b'GET /healthz HTTP/1.1\r\nHost: localhost\r\n'
            for size in range(3000, 20_000, 61):
                connection = self.connect(process)
                connection.sendall(start + line * ((size - len(start)) // len(line)) + b'\r\n')
                answer = connection.recv(100).split(b'\r\n')[0]
                self.assertIn(answer, (b'HTTP/1.1 200 OK',
                                       b'HTTP/1.1 431 Request Header Fields Too Large'), size)
                seen.add(answer)
                connection.close()
        self.assertEqual(len(seen), 2)
        self.assert_serves(process, client)

    def test_a_request_without_end(self):
        process, client = self.serve()
        connection = self.connect(process)
        with self.assertRaises((ConnectionResetError, BrokenPipeError)):
            connection.sendall(b'GET / HTTP/1.1\r\n')
            for _ in range(1_000_000):
                connection.sendall(b'X-Header: ' + b'x' * 1000 + b'\r\n')
        self.assert_serves(process, client)

    def test_requests_that_come_letter_by_letter(self):
        process, client = self.serve()
        slow = [self.connect(process) for _ in range(300)]
        for each in slow:
            each.sendall(b'GET / HTTP/1.1\r\nHost: localhost\r\nX')
        asked = self.connect(process)
        asked.sendall(b'GET /healthz HTTP/1.0\r\n\r\n')
        asked.settimeout(0.2)  # between two letters
        answer = b''
        while not answer:
            for each in slow:
                try:
                    each.send(b'y')
                except OSError:
                    pass  # it has been closed
            try:
                answer = asked.recv(15)
                self.assertTrue(answer, 'closed without an answer')
            except TimeoutError:
                pass
        self.assertIn(b'200 OK', answer)
        self.assert_serves(process, client)

    def test_requests_that_can_be_understood_in_two_ways(self):
        process, client = self.serve('--http-control')
        for head in (b'GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n',
                     b'GET /%00healthz HTTP/1.1\r\nHost: localhost\r\n\r\n',
                     b'POST /api/options HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n'
                     b'Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n'):
            with self.subTest(head=head):
                connection = self.connect(process)
                connection.sendall(head)
                answer = b''
                while piece := connection.recv(4096):
                    answer += piece
                self.assertTrue(answer.startswith(b'HTTP/1.1 400 '), answer)
        self.assert_serves(process, client)

    def test_a_thousand_idle_clients(self):
        _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        process, client = self.serve()
        before = int(stats(client)['rss_bytes'])
        idle = [self.connect(process) for _ in range(1000)]
        self.assert_serves(process, client)  # the page when some of them have been closed
        self.assertLess(int(stats(client)['rss_bytes']) - before, 64 << 20)
        for each in idle:
            each.close()
        self.assert_serves(process, client)

    def test_event_streams_that_nobody_reads(self):
        process, client = self.serve('--window', '0.05')
        request = b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n'
        streams = []
        for _ in range(64):
            connection = socket.socket()
            self.addCleanup(connection.close)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            connection.connect(('127.0.0.1', port_of(process)))
            connection.sendall(request)
            streams.append(connection)
        for each in streams:
            self.assertIn(b'200 OK', each.recv(15))
        refused = self.connect(process)
        refused.sendall(request)
        self.assertIn(b'503', refused.recv(100))
        self.assert_serves(process, client)
        for each in streams:
            each.close()
        # One by one they are noticed, and a new stream finds room.
        deadline = time.monotonic() + PATIENCE
        while True:
            self.assertLess(time.monotonic(), deadline)
            following = self.connect(process)
            following.sendall(request)
            if b'200 OK' in following.recv(100):
                break
        seen = b''
        while seen.count(b'data: ') < 3:
            seen += following.recv(1 << 16)
        self.assert_serves(process, client)

    def test_closed_it_takes_no_processor_time(self):
        process, client = self.serve('--manage', 'off')
        following = self.connect(process)
        following.sendall(b'GET /events HTTP/1.1\r\nHost: localhost\r\n\r\n')
        while b'data: ' not in following.recv(1 << 16):
            pass
        following.close()
        # The thread of the page sleeps: with nobody connected it waits without end.
        page = self.page_thread(process)
        until(lambda: self.waits_without_end(process, page))
        self.assert_serves(process, client)

    def page_thread(self, process):
        """The thread that wakes when the page is asked."""
        tasks = os.listdir(f'/proc/{process.process.pid}/task')
        before = {task: self.switches(process, task) for task in tasks}
        for _ in range(50):
            self.ask(process, '/healthz')
        return max(tasks, key=lambda task: self.switches(process, task) - before[task])

    def waits_without_end(self, process, task):
        """Whether it is in poll() with no limit of time."""
        with open(f'/proc/{process.process.pid}/task/{task}/syscall', encoding='ascii') as file:
            words = file.read().split()  # the call's number and its arguments, or "running"
        return len(words) > 3 and int(words[3], 16) in (2**32 - 1, 2**64 - 1)

    def switches(self, process, task):
        with open(f'/proc/{process.process.pid}/task/{task}/status', encoding='ascii') as file:
            return sum(int(line.split()[1]) for line in file if 'ctxt_switches' in line)


if __name__ == '__main__':
    unittest.main(verbosity=1)
