#!/usr/bin/env python3
"""The demo's count of used bytes by page, over a server whose answers are known.

    demo_pages_test.py SCRIPTS
"""
import contextlib
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

SCRIPTS = sys.argv.pop(1)
sys.path.insert(0, SCRIPTS)
import demo_live_page
import demo_page
import demo_pages_used

PAGE = 4096


class Server:
    """Knows where the values lie: key -> (address, bytes)."""

    def __init__(self, places):
        self.places = places

    def ask(self, *words):
        assert words[:2] == ('ISOTHERM', 'LOCATE')
        return [self.places.get(key) for key in words[2:]]


def look(places, heaps=None):
    return demo_pages_used.look(Server(places), [*places, 'absent'], heaps, 1)


class DemoPages(unittest.TestCase):
    def test_a_value_over_two_pages_counts_in_both(self):
        pages = look({'a': [2 * PAGE - 100, 300], 'b': [3 * PAGE, 50]})
        self.assertEqual(pages.used, {1: 100, 2: 200, 3: 50})

    def test_pages_run_between_the_values_but_not_over_gaps(self):
        far = 5 + demo_pages_used.GAP + 1
        pages = look({'a': [2 * PAGE, 1024], 'b': [5 * PAGE, 1024], 'c': [far * PAGE, 2048]})
        self.assertEqual(pages.numbers, [2, 3, 4, 5, far])
        self.assertEqual(pages.utilization, 1 / 3)
        self.assertEqual(pages.share, 1 / 5)

    def test_only_pages_in_dram_are_drawn(self):
        def heap(first, cells):
            return {'address': str(first * PAGE), 'pages_per_cell': '1', 'cells': cells}
        pages = look({'a': [10 * PAGE, 4096], 'b': [31 * PAGE, 8]},
                     {'new': heap(10, '990'), 'hot': heap(20, '9'), 'cold': heap(30, '90')})
        self.assertEqual(pages.numbers, [10, 11, 20, 30])
        self.assertEqual((pages.used, pages.gone), ({10: 4096}, 1))

    def test_lately_is_whole_windows(self):
        windows = [{'seconds': seconds} for seconds in (9, 4, 3)]
        for seconds, expected in ((1, (['a'], 3)), (3, (['a'], 3)), (4, (['a', 'b'], 7)),
                                  (99, (['a', 'b', 'c'], 16))):
            found = demo_pages_used.used_lately(['a 0', 'b 1', 'c 2', 'd 3'], windows, seconds)
            self.assertEqual(found, expected)

    def test_a_colour_is_a_quarter(self):
        self.assertEqual([demo_page.step_of(used) for used in (0, 1, 1024, 1025, 3073, 4096)],
                         [0, 1, 1, 2, 4, 4])

    def test_a_picture_that_cannot_be_drawn_is_told_and_no_more(self):
        with tempfile.TemporaryDirectory() as folder:
            browser = pathlib.Path(folder) / 'chromium'
            page = browser.with_suffix('.html')
            for script, told, patience in (
                    ('#!/bin/false', 'ended with 1', demo_live_page.PATIENCE),
                    ('#!/nowhere', 'No such file', demo_live_page.PATIENCE),
                    ('#!/bin/sh\nexec tail -f /dev/null', 'timed out', 1)):
                browser.write_text(script + '\n', encoding='utf-8')
                browser.chmod(0o700)
                with unittest.mock.patch.object(demo_live_page.shutil, 'which',
                                                return_value=str(browser)), \
                        unittest.mock.patch.object(demo_live_page, 'PATIENCE', patience):
                    problem = demo_live_page.draw(page, page.with_suffix('.png'))
                self.assertIn(told, problem)

    def test_the_course_is_told_at_even_intervals(self):
        course = [(0.5, 10), (3, 20), (3.5, 30), (6.5, 40), (11, 50)]
        self.assertEqual(demo_page.at_intervals(course, 3), [20, 30, 40, 50])
        self.assertEqual(demo_page.at_intervals(course, 12), [50])


if __name__ == '__main__':
    unittest.main()
