#!/usr/bin/env python3
"""An operator's first questions: which commands run, fail and take long, and what the log says.

    serve_observe_test.py ISOTHERM
"""

import os
import re
import signal
import socket
import subprocess
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from serve_case import Case, until  # noqa: E402
from serve_process import PATIENCE, info  # noqa: E402

ISOTHERM, Case.index = sys.argv.pop(1), 'hash-pugh'
Case.tool = ISOTHERM


class Counts(Case):
    def setUp(self):
        self.process = self.serve()
        self.one = self.connect(self.process.path)

    def stats(self, command):
        line = info(self.one, 'commandstats').get(f'cmdstat_{command}')
        return dict(field.split('=') for field in line.split(',')) if line else None

    def test_commands_are_counted_by_name(self):
        for _ in range(3):
            self.one.ask('SET', 'k', 'text')
        self.one.ask('INCR', 'k')
        self.one.ask('CONFIG', 'GET', 'port')
        self.assertEqual(self.stats('set')['calls'], '3')
        self.assertEqual(self.stats('set')['failed_calls'], '0')
        self.assertGreater(float(self.stats('set')['usec_per_call']), 0)
        self.assertEqual(self.stats('incr')['failed_calls'], '1')
        self.assertEqual(self.stats('config|get')['calls'], '1')
        self.assertIsNone(self.stats('get'))
        self.assertRegex(info(self.one, 'latencystats')['latency_percentiles_usec_set'],
                         r'^p50=[\d.]+,p99=[\d.]+,p99\.9=[\d.]+$')

    def test_a_pipeline_counts_each_command_for_itself(self):
        self.one.socket.sendall(b'SET a 1\r\nGET a\r\nGET a\r\nGET b\r\n')
        for _ in range(4):
            self.one.reply()
        self.assertEqual([self.stats(name)['calls'] for name in ('set', 'get')], ['1', '3'])

    def test_errors_are_counted_by_their_first_word(self):
        self.one.ask('SET', 'k', 'text')
        self.one.ask('INCR', 'k')
        self.one.ask('NOSUCH')
        self.one.ask('CONFIG', 'SET', 'maxmemory', '1')
        self.assertTrue(self.one.ask('SET', 'k', 'more').startswith(b'-OOM'))
        self.one.ask('CONFIG', 'SET', 'maxmemory', '0')
        self.assertEqual(info(self.one, 'errorstats'),
                         {'errorstat_ERR': 'count=2', 'errorstat_OOM': 'count=1'})
        self.assertEqual(info(self.one, 'stats')['total_error_replies'], '3')
        self.assertEqual(self.stats('set')['rejected_calls'], '1')
        self.assertEqual(self.stats('set')['calls'], '1')
        self.one.ask('CONFIG', 'RESETSTAT')
        self.assertEqual(info(self.one, 'errorstats'), {})
        self.assertIsNone(self.stats('set'))
        self.one.ask('SET', 'k', 'again')
        self.assertEqual(self.stats('set')['calls'], '1')

    def test_strangers_are_rejected(self):
        self.one.ask('CONFIG', 'SET', 'requirepass', 'secret')
        stranger = self.connect(self.process.path)
        stranger.ask('GET', 'k')
        self.assertEqual(self.stats('get')['rejected_calls'], '1')
        self.assertEqual(self.stats('get')['calls'], '0')
        self.assertEqual(info(self.one, 'errorstats'), {'errorstat_NOAUTH': 'count=1'})

    def test_sections_are_told_as_by_redis(self):
        default, everything = (self.one.ask(*words).decode() for words in
                               (('INFO',), ('INFO', 'everything')))
        for title in ('Commandstats', 'Latencystats'):
            self.assertNotIn(f'# {title}', default)
            self.assertIn(f'# {title}', everything)
        self.assertIn('# Errorstats', default)

    def test_slow_commands_are_logged(self):
        self.assertEqual(self.one.ask('SLOWLOG', 'LEN'), b':0\r\n')
        self.one.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '0', 'slowlog-max-len', '3')
        self.one.ask('CLIENT', 'SETNAME', 'me')
        self.one.ask('SET', 'k', 'x' * 200)
        self.one.ask('AUTH', 'secret')
        said = self.one.ask('SLOWLOG', 'GET').decode()
        self.assertIn('x' * 128 + '... (72 more bytes)', said)
        self.assertNotIn('secret', said)
        self.assertRegex(said, r'\r\nme\r\n')
        self.assertEqual(self.one.ask('SLOWLOG', 'LEN'), b':3\r\n')
        self.one.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '-1')
        self.one.ask('SLOWLOG', 'RESET')
        self.one.ask('GET', 'k')
        self.assertEqual(self.one.ask('SLOWLOG', 'LEN'), b':0\r\n')
        for wrong in (('SLOWLOG', 'GET', '-2'), ('SLOWLOG', 'GET', 'x'),
                      ('CONFIG', 'SET', 'slowlog-log-slower-than', '-2')):
            self.assertTrue(self.one.ask(*wrong).startswith(b'-ERR'), wrong)

    def test_a_command_on_another_thread_is_logged_when_it_is_answered(self):
        self.one.ask('CONFIG', 'SET', 'slowlog-log-slower-than', '0')
        self.one.ask('SLOWLOG', 'RESET')
        self.one.ask('INFO', 'isotherm')
        entry = self.one.ask('SLOWLOG', 'GET', '1').decode()
        self.assertIn('INFO\r\n$8\r\nisotherm', entry)
        self.assertEqual(self.stats('info')['calls'], '1')

    def test_latency_is_kept_where_it_is_asked_for(self):
        self.assertEqual(self.one.ask('LATENCY', 'LATEST'), b'*0\r\n')
        self.one.ask('CONFIG', 'SET', 'latency-monitor-threshold', '1')
        keys = [f'key:{i}' for i in range(20000)]
        while self.one.ask('LATENCY', 'LATEST') == b'*0\r\n':  # in a millisecond or more
            self.one.ask('DEL', *keys)
            keys += keys
        self.assertIn(b'command', self.one.ask('LATENCY', 'LATEST'))
        self.assertNotEqual(self.one.ask('LATENCY', 'HISTORY', 'command'), b'*0\r\n')
        self.assertEqual(self.one.ask('LATENCY', 'RESET'), b':1\r\n')
        histogram = self.one.ask('LATENCY', 'HISTOGRAM', 'del', 'config').decode()
        for word in ('del', 'config|set', 'calls', 'histogram_usec'):
            self.assertIn(word, histogram)
        self.assertNotIn('latency|latest', histogram)


class Log(Case):
    def logged(self, path):
        with open(path, encoding='utf-8') as file:
            return file.read().splitlines()

    def test_a_file_takes_all_lines_with_their_time(self):
        path = os.path.join(self.scratch(), 'log')
        process = self.serve_quietly('--logfile', path)
        one = self.connect(process)
        self.assertEqual(one.ask('CONFIG', 'GET', 'logfile').split(b'\r\n')[4], path.encode())
        one.ask('CONFIG', 'SET', 'loglevel', 'verbose')
        self.connect(process).close()
        until(lambda: any('closed client' in line for line in self.logged(path)))
        lines = self.logged(path)
        for line in lines:
            self.assertRegex(line, r'^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} \d+ (notice|verbose): ')
        self.assertTrue(any('Ready to accept connections' in line for line in lines))
        one.ask('CONFIG', 'SET', 'loglevel', 'warning')
        before = len(self.logged(path))
        self.connect(process).ask('PING')
        self.assertEqual(len(self.logged(path)), before)

    def serve_quietly(self, *flags):
        """A server that says nothing on its streams; returns the path of its socket."""
        path = os.path.join(self.scratch(), 's')
        command = [ISOTHERM, 'serve', '--port', '-1', '--unixsocket', path, *flags]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                   text=True)

        def stop():
            process.send_signal(signal.SIGTERM)
            said, _ = process.communicate(timeout=PATIENCE)
            self.assertEqual((process.returncode, said), (0, ''))
        self.addCleanup(stop)
        until(lambda: self.listens(path))
        return path

    @staticmethod
    def listens(path):
        """Returns whether connections are taken; the path is there a moment before."""
        with socket.socket(socket.AF_UNIX) as probe:
            return probe.connect_ex(path) == 0

    def test_only_warnings_are_told_where_one_asks_for_them(self):
        process = self.serve_quietly('--loglevel', 'warning')
        self.assertEqual(self.connect(process).ask('PING'), b'+PONG\r\n')

    def test_lines_that_a_full_disk_does_not_take_go_to_the_streams(self):
        process = self.serve('--logfile', '/dev/full')  # whose readiness is read from the stream
        self.assert_alive(process)
        self.assertIn('signal 15: closing clients', process.stop()[1])

    def test_mistakes(self):
        nowhere = os.path.join(self.scratch(), 'none')
        said = self.refused('--logfile', os.path.join(nowhere, 'log'))
        self.assertIn('there is no directory', said)
        self.assertFalse(os.path.exists(nowhere))
        self.assertIn('log file', self.refused('--logfile', self.scratch()))
        self.assertIn('--loglevel', self.refused('--loglevel', 'loud', status=2))
        process = self.serve()
        one = self.connect(process.path)
        self.assertTrue(one.ask('CONFIG', 'SET', 'loglevel', 'loud').startswith(b'-ERR'))
        self.assertTrue(re.search(b"can't set immutable",
                                  one.ask('CONFIG', 'SET', 'logfile', '/tmp/x')))


if __name__ == '__main__':
    unittest.main()
