#!/usr/bin/env python3
"""The package isotherm_report: what it reads, what it draws, and what stands beside it.

    report_test.py PACKAGE
"""

import contextlib
import html.parser
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, sys.argv.pop(1))

from isotherm_report import cards, command, common, page, papers, results  # noqa: E402
from isotherm_report.experiments.tiers import trees  # noqa: E402

EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / 'lab/experiments'
KINDS = {'ycsb', 'tiers', 'sort', 'device', 'google-benchmark', 'limited', 'soak-run',
         'soak-second', 'soak-requests', 'misses', 'miss-sizes', 'pair', 'page-cost', 'guide-cost',
         'plugin-cost', 'utilization', 'miss-ratios', 'redis', 'sort-beside', 'sort-auto',
         'sort-memory', 'filling', 'overview', 'python-sorts', 'ray', 'sort-devices', 'backends',
         'vm'}
from isotherm_report.experiments.ycsb import effectiveness  # noqa: E402

ORIGIN = {'command': 'isotherm bench ycsb --json x', 'processor': 'Some <Processor>',
          'processors': 3, 'memory_bytes': 2**31, 'system': 'Linux 1', 'date': '2026-01-02T03:04Z'}


EXAMPLES = {name: kind.example for name, kind in cards.kinds().items()}


def example_of(kind):
    """Makes results of a kind: its example, with other values."""
    return lambda **more: {**EXAMPLES[kind], **more}


ycsb, tier, sort, device, limited, misses, utilization, redis = map(example_of, (
    'ycsb', 'tiers', 'sort', 'device', 'limited', 'misses', 'utilization', 'redis'))
soak_run, soak_second, soak_requests = map(example_of, ('soak-run', 'soak-second',
                                                        'soak-requests'))
dereferences = example_of('google-benchmark')


def whole():
    """kind -> a result that is complete."""
    return {**EXAMPLES, 'ycsb': ycsb(origin=ORIGIN)}


def made_of(*rows):
    """Sections of some objects."""
    return cards.sections_of([results.understand(row, 'a.jsonl') for row in rows])


class Ids(html.parser.HTMLParser):
    """The identifiers of a page, what it links to, and what it would load."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.loads = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        for name, value in attributes:
            if name == 'id':
                self.ids.append(value)
            if name in ('href', 'xlink:href'):
                self.links.append(value)
            if name in ('src', 'srcset', 'data') or tag in ('link', 'script', 'iframe'):
                self.loads.append((tag, name, value))


class Reading(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def test_knows_each_kind(self):
        for kind, row in whole().items():
            self.assertEqual([each.name for each in cards.kinds().values()
                              if each.known_by <= row.keys()], [kind])
            self.assertEqual(results.understand(row, 'x').kind, kind)
        for other in ({}, {'index': 'art'}, [], 'text', 7, None):
            self.assertIsNone(results.understand(other, 'x'))

    def test_unpacks_what_scripts_wrote_around_it(self):
        found = results.understand({'side': 'on:veto', 'flags': ['--keys', '9'], 'found': ycsb()},
                                   'x')
        self.assertEqual(found.kind, 'ycsb')
        self.assertEqual(effectiveness.command_of(found),
                         'isotherm bench ycsb --keys 9 --manage on --protocol veto')

    def test_reads_objects_lists_and_lines(self):
        (self.at / 'one.json').write_text(json.dumps(ycsb(), indent=1))
        (self.at / 'list.json').write_text(json.dumps([ycsb(), ycsb()]))
        below = self.at / 'below'
        below.mkdir()
        (below / 'lines.jsonl').write_text('\n'.join(json.dumps(tier()) for _ in range(3)) + '\n')
        (self.at / 'notes.txt').write_text('no result')
        found, problems = results.read_folder(self.at)
        self.assertEqual(problems, [])
        self.assertEqual(sorted(each.path for each in found),
                         ['below/lines.jsonl'] * 3 + ['list.json'] * 2 + ['one.json'])

    def test_names_what_it_leaves_out(self):
        (self.at / 'good.jsonl').write_text(json.dumps(tier()) + '\n{"cut": ' + '\n')
        (self.at / 'bad.json').write_text('{')
        (self.at / 'other.json').write_text('{"a": 1}')
        (self.at / 'mixed.json').write_text(json.dumps([ycsb(), {}]))
        (self.at / 'bytes.json').write_bytes(b'\xff\xfe\x00')
        (self.at / 'empty.jsonl').write_text('')
        found, problems = results.read_folder(self.at)
        self.assertEqual(len(found), 2)
        text = '\n'.join(problems)
        for part in ('good.jsonl: line 2', 'bad.json: not JSON', 'other.json: holds no result',
                     'mixed.json: 1 of 2', 'bytes.json: cannot be read', 'empty.jsonl: '):
            self.assertIn(part, text)

    def test_names_and_leaves_out_what_is_incomplete(self):
        for kind, row in whole().items():
            (self.at / 'whole.json').write_text(json.dumps(row))
            self.assertEqual(results.read_folder(self.at)[1], [], kind)
            for field in cards.kinds()[kind].needs:
                row = json.loads(json.dumps(whole()[kind]))
                *outer, last = re.split(r'\.', re.sub(r'\[.?\]', '', field))
                within = row
                for name in outer:
                    within = within[name][0] if isinstance(within[name], list) else within[name]
                del within[last]
                (self.at / 'part.json').write_text(json.dumps([row, row]))
                found, problems = results.read_folder(self.at)
                with self.subTest(kind=kind, field=field):
                    self.assertEqual([each.path for each in found], ['whole.json'])
                    self.assertEqual(problems,
                                     [f'part.json: 2 incomplete: {kind} without {field}'])
            (self.at / 'part.json').unlink(missing_ok=True)  # of a kind that needs nothing
        for row, field in ((ycsb(origin={'command': 'x'}), 'origin.processors'),
                           (device(write=[]), 'write[+].bytes_per_s'), (ycsb(rate=None), 'rate')):
            (self.at / 'part.json').write_text(json.dumps(row))
            found, problems = results.read_folder(self.at)
            self.assertEqual(len(found), 1)
            self.assertIn(field, problems[0])

    def test_emulation_is_told_by_memory_and_by_device(self):
        self.assertTrue(results.understand(tier(), 'x').is_emulated)
        self.assertTrue(results.understand(sort(), 'x').is_emulated)
        self.assertTrue(results.understand(device(device='emu:bd'), 'x').is_emulated)
        for row in (ycsb(), device(), sort(device='', emulated=False)):
            self.assertFalse(results.understand(row, 'x').is_emulated)


class Papers(unittest.TestCase):
    def test_each_figure_names_its_source_and_has_a_range(self):
        for name, paper in papers.everything().items():
            with self.subTest(name):
                self.assertTrue(paper.title and paper.says)
                self.assertTrue(paper.is_goal or re.search(r'figure|section|table', paper.where))
                if paper.low is not None:
                    self.assertLessEqual(paper.low, paper.high)

    def test_sinlk_stands_beside_the_tree_that_it_answers(self):
        said = {(index, load): paper and (paper.low, paper.high)
                for index in ('masstree', 'btree-occ', 'art')
                for load in ('sp-a', 'ycsb-c', 'ycsb-e')
                for paper in [trees.paper_of(index, load)]}
        self.assertEqual(said['masstree', 'sp-a'], (1.50, 1.82))
        self.assertEqual(said['btree-occ', 'sp-a'], (1.50, 1.82))
        self.assertEqual(said['btree-occ', 'ycsb-c'], (1.31, 1.57))
        self.assertEqual(said['art', 'ycsb-c'], (1.32, 1.84))
        self.assertIsNone(said['art', 'sp-a'])  # of ART the paper has no such figure
        self.assertIsNone(said['btree-occ', 'ycsb-e'])  # nor a range of scans


def no_picture(_, file, **_more):
    file.write('<svg/>')


class Cards(unittest.TestCase):
    def test_each_experiment_with_a_card_is_found(self):
        self.assertCountEqual([card.__name__.split('.')[-2] for card in cards.cards()],
                              [path.parent.name for path in EXPERIMENTS.glob('*/card.py')])

    def test_each_kind_of_result_is_known(self):
        self.assertEqual(cards.kinds().keys(), KINDS)
        names = [kind.name for card in cards.cards() for kind in card.KINDS]
        self.assertCountEqual(names, KINDS)  # one card each


class Pictures(unittest.TestCase):
    def test_nothing_vanishes(self):
        rows = list(whole().values())
        shown = {id(result.data) for section in made_of(*rows) for result in section.results}
        self.assertEqual(shown, {id(row) for row in rows})


class Experiments(unittest.TestCase):
    """Tests of sections. Pictures are begun as ever and not saved: saving takes the longest."""

    def setUp(self):
        saving = unittest.mock.patch('matplotlib.figure.Figure.savefig', no_picture)
        saving.start()
        self.addCleanup(saving.stop)

    def titles(self, *rows):
        return [section.title for section in made_of(*rows)]

    def test_sides_of_one_setting_are_compared_and_others_are_not(self):
        both = made_of(ycsb(), ycsb(manage='off', windows=[]))
        self.assertTrue(both[0].title.startswith('Pages and DRAM'))
        self.assertEqual([paper.name for paper in both[0].papers],
                         ['utilization-before', 'utilization-c', 'dram-saved'])
        apart = made_of(ycsb(), ycsb(manage='off', keys=7, windows=[]))
        self.assertNotIn('dram-saved', [paper.name for paper in apart[0].papers])

    def test_overhead_is_of_closed_loops(self):
        rows = [ycsb(manage=manage, rate=0, windows=[]) for manage in ('off', 'on')]
        self.assertEqual(self.titles(*rows), ['Overhead of management'])

    def test_ratios_are_within_a_round(self):
        rows = [tier(seed=seed, placement=placement, throughput_ops_s=rate)
                for seed, placement, rate in ((1, 'interleave', 1e6), (1, 'sinlk', 2e6),
                                              (2, 'sinlk', 9e6), (2, 'interleave', 3e6),
                                              (3, 'sinlk', 5e6))]
        rounds = trees.rounds_of([results.understand(row, 'x') for row in rows])
        self.assertEqual(trees.over_base(rounds, trees.throughput), {'sinlk': [2.0, 3.0]})

    def test_a_turn_without_a_value_is_left_out_and_shifts_no_other(self):
        def turns(*values):
            return [mock(data={} if value is None else {'rate': value}) for value in values]
        mock = unittest.mock.Mock
        self.assertEqual(common.ratios(turns(2, None, 6), turns(1, 5, 3), 'rate'), [2, 2])
        self.assertEqual(common.ratios(turns(2, 4, 6), turns(1, None, 3), 'rate'), [2, 2])

    def test_placements_need_three_and_sweeps_two_values(self):
        three = [tier(placement=name) for name in ('interleave', 'static', 'sinlk')]
        self.assertEqual(self.titles(*three),
                         ['Placement of nodes, btree-occ, 1k records, fast memory 20%'])
        sizes = [tier(placement=name, keys=keys, seed=keys)
                 for keys in (1000, 4000) for name in ('interleave', 'sinlk')]
        self.assertEqual(self.titles(*sizes), ['btree-occ, sp-c, by records'])

    def test_intervals_stand_over_their_mean(self):
        rows = [tier(trigger_ms=trigger, cooling_ms=4 * trigger, throughput_ops_s=rate)
                for trigger, rate in ((500, 3e6), (1000, 1e6))]
        section, = made_of(*rows)
        self.assertEqual(section.title, 'btree-occ, sp-c, by the intervals of SINLK\'s workers')
        self.assertIn('--trigger-ms 500 --cooling-ms 2000', section.commands[0])
        self.assertEqual(self.titles(rows[0]), ['Other runs'])

    def test_runs_of_other_lengths_are_apart(self):
        rows = [tier(placement=name, keys=keys, seed=keys, seconds=keys / 1000)
                for keys in (1000, 4000) for name in ('interleave', 'sinlk')]
        self.assertEqual(self.titles(*rows), ['Other runs'])

    def test_workers_need_to_know_the_warmup(self):
        details = dict.fromkeys(('trigger_seconds', 'promotion_seconds', 'demotion_seconds',
                                 'watermark_seconds'), 0.01)
        section, = made_of(tier(details=details, warmup_seconds=7.0))
        self.assertEqual(section.tables[0][1][0][-5:], ('0.50', '0.50', '0.50', '0.50', '2.00'))
        self.assertEqual(self.titles(tier(details=details)), ['Other runs'])

    def test_sorts_stand_beside_the_papers_ratios(self):
        rows = [sort(side=side, experiment='sortbenchmark', seconds=seconds)
                for side, seconds in (('ems', 6.0), ('onepass', 2.0))]
        section, = made_of(*rows)
        self.assertEqual([paper.name for paper in section.papers], ['sort-onepass'])
        self.assertTrue(section.is_emulated)

    def test_devices_and_dereferences(self):
        profile, = made_of(device())
        self.assertIn(('reads over writes', '2.00', '4'), profile.tables[0][1])
        guides, = made_of(dereferences())
        self.assertEqual(guides.tables[0][1], [('one after the other', '16384B', '+1.00 ns')])

    def test_limits_stand_beside_the_papers_control_group(self):
        section, = made_of(limited(), limited(system='redis:file', is_whole=False, phases=[
            limited()['phases'][1]], ended={'how': 'out of memory', 'phase': 'lowering', 'at': 2}))
        self.assertEqual([paper.name for paper in section.papers],
                         ['limit-unmanaged', 'limit-managed'])
        (head, (managed, killed)), = section.tables
        self.assertEqual(managed, ['35%', 'on', '1', '0.50', '0.01', '2', '7', ''])
        self.assertEqual(killed[3:5] + killed[-1:], ['-', '-', 'out of memory, in phase lowering'])
        self.assertEqual(head[-1], 'remarks')

    def test_a_cut_off_run_is_named(self):
        section, = made_of(limited(is_whole=False))
        self.assertEqual(section.tables[0][1][0][-1], 'cut off')

    def test_utilization_stands_beside_the_workloads_own_figure(self):
        section, = made_of(utilization(best_order=0.8), utilization(mode='track'))
        self.assertEqual([paper.name for paper in section.papers],
                         ['utilization-before', 'utilization-c'])
        self.assertEqual(section.tables[0][1],
                         [['C, 0.5', 'with the target', '1', '50%', '62%', '25%'],
                          ['C, 0.5', 'watched only', '1', '50%', '-', '-']])

    def test_settings_apart_are_sections_apart(self):
        self.assertEqual(len(made_of(misses(), misses(share=50), misses(beside='cold reads'))), 2)

    def test_ratios_to_redis_are_within_a_round(self):
        section, = made_of(redis(), redis(redis={'ops_s': 300.0, 'p50_ms': 1.0, 'p99_ms': 1.0}))
        self.assertEqual(section.tables[0][1][0][2], '1.00 (0.50 .. 1.50)')

    def test_a_soak_is_a_run_of_its_lines(self):
        lines = (soak_run(), soak_second(), soak_second(at=2.0, stats={'dram_bytes': 2**21}),
                 soak_requests(), soak_requests(value=1000))
        section, = made_of(*lines, soak_run(), soak_second())
        self.assertEqual(section.tables[0][1], [
            ('on, YCSB-C', '2', '4', '2', '50%', '100', '4.00'),
            ('on, YCSB-C', '1', '4', '4', '0%', '-', '-')])

    def test_experiments_ask_of_nothing_else_than_results_check(self):
        for kind, row in whole().items():
            heads = {re.split(r'[.\[]', field)[0] for field in cards.kinds()[kind].needs}
            with self.subTest(kind):
                made_of({field: value for field, value in row.items()
                         if field in heads | cards.kinds()[kind].known_by})

    def test_older_rows_have_a_command_of_their_settings(self):
        for kind, row in whole().items():
            with self.subTest(kind):
                for section in made_of(row):
                    for line in section.commands:
                        self.assertNotIn('{', line)
        section, = made_of(whole()['pair'])
        self.assertEqual(section.commands, ['lab/experiments/memory_target/run.py --target 20mb '
                                            '--workloads c --keys 1000 --threads 4'])

    def test_hits_at_a_fixed_rate_stand_apart(self):
        closed = whole()['pair']
        sections = made_of(closed, {**closed, 'rate': 5000.0, 'p999': 1.04})
        self.assertEqual(len(sections), 2)
        self.assertIn('latencies of hits beside 5,000 requests a second', sections[1].title)
        throughput, p999 = (f'{name}, with the target over without' for name in
                            ('throughput', 'p99.9'))
        heads = [head for section in sections for head, _ in section.tables]
        self.assertEqual([throughput in head for head in heads], [True, False])
        self.assertEqual([p999 in head for head in heads], [False, True])

    def test_commands(self):
        told = results.understand(ycsb(origin=ORIGIN), 'x')
        self.assertEqual(effectiveness.command_of(told), ORIGIN['command'])
        rows = [results.understand(tier(placement=name, workload=load), 'x')
                for load in ('sp-a', 'sp-c') for name in ('interleave', 'sinlk')]
        line, = trees.commands_of(trees.rounds_of(rows))
        self.assertIn('--workload sp-a,sp-c --placement interleave,sinlk --fast 20', line)


class Page(unittest.TestCase):
    ROWS = (ycsb(origin=ORIGIN), ycsb(manage='off', index='<b>', windows=[]), device(), sort(),
            *(tier(placement=name) for name in ('interleave', 'static', 'sinlk')))

    @classmethod
    def setUpClass(cls):
        cls.sections = made_of(*cls.ROWS)
        found = [result for section in cls.sections for result in section.results]
        cls.text = page.render('Title & more', command.facts(found), cls.sections,
                               ['bad.json: <wrong>'])

    def test_is_whole_and_loads_nothing(self):
        ids = Ids(self.text)
        self.assertEqual(ids.loads, [])
        self.assertEqual(len(ids.ids), len(set(ids.ids)), 'no identifier stands twice')
        for link in ids.links:
            self.assertTrue(link.startswith('#') and link[1:] in ids.ids, link)
        self.assertIsNone(re.search(r'@import|url\((?!#)', self.text))

    def test_escapes_what_results_say(self):
        self.assertIn('Some &lt;Processor&gt;', self.text)
        self.assertIn('bad.json: &lt;wrong&gt;', self.text)
        self.assertNotIn('<b>', self.text)

    def test_a_table_may_be_without_rows(self):
        self.assertIn('<th scope="col" class="words">why</th>', page.table(('letter', 'why'), []))
        self.assertIn('holds', page.section_html(made_of(device(braid=[]))[0]))

    def test_marks_what_is_emulated(self):
        marked = re.findall(r'<h2>([^<]*)<?/?(?: <span class="emulated">)?', self.text)
        self.assertGreater(len(marked), 3)
        for section in self.sections:
            heading = page.section_html(section).split('</h2>')[0]
            self.assertEqual('class="emulated"' in heading, section.is_emulated, section.title)

    def test_names_the_machine_or_says_that_it_is_not_told(self):
        facts = dict(command.facts([results.understand(row, 'x') for row in self.ROWS[:2]]))
        self.assertEqual(facts['measured on'],
                         '3 x Some <Processor>, 2.0 GiB, Linux 1; 2026-01-02 to 2026-01-02')
        self.assertIn('1 of 2 results', facts['not told'])


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.at = pathlib.Path(folder.name)

    def run_it(self, *words):
        said, error = io.StringIO(), io.StringIO()
        status = 0
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(error):
            try:
                command.main([str(word) for word in words])
            except SystemExit as ended:
                if isinstance(ended.code, str):
                    error.write(ended.code)
                status = 1
        return status, said.getvalue(), error.getvalue()

    def test_is_content_with_one_good_file(self):
        (self.at / 'good.json').write_text(json.dumps(ycsb()))
        (self.at / 'bad.json').write_text('{')
        output = self.at / 'page.html'
        status, said, error = self.run_it(self.at, '--output', output)
        self.assertEqual(status, 0)
        self.assertIn('1 result, ', said)
        self.assertIn('left out: bad.json', error)
        self.assertIn('bad.json', output.read_text())
        self.assertFalse(output.with_name('page.html.part').exists())

    def test_fails_where_nothing_can_be_read(self):
        (self.at / 'bad.json').write_text('{')
        for folder in (self.at, self.at / 'none'):
            status, _, error = self.run_it(folder, '--output', self.at / 'page.html')
            self.assertEqual(status, 1)
            self.assertIn(str(folder), error)
        self.assertFalse((self.at / 'page.html').exists())

    def test_fails_where_it_cannot_write(self):
        (self.at / 'good.json').write_text(json.dumps(ycsb()))
        status, _, error = self.run_it(self.at, '--output', self.at / 'no' / 'page.html')
        self.assertEqual(status, 1)
        self.assertIn('cannot write', error)


if __name__ == '__main__':
    unittest.main(verbosity=1)
