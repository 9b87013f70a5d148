#!/usr/bin/env python3
"""The package isotherm: arrays of numpy, tables of Arrow, and files of tables.

    tables_test.py PACKAGES...     folders that hold isotherm, numpy and pyarrow
"""

import datetime
import decimal
import pathlib
import random
import sys
import tempfile
import unittest

while len(sys.argv) > 1:
    sys.path.insert(0, sys.argv.pop())

import numpy as np  # noqa: E402
import pyarrow as pa  # noqa: E402
import pyarrow.compute as pc  # noqa: E402
import pyarrow.csv  # noqa: E402
import pyarrow.parquet as pq  # noqa: E402

import isotherm  # noqa: E402

FORMATS = {'.arrow': 'ipc', '.parquet': 'parquet'}
SEED = random.randrange(2**32)
print(f'seed {SEED}')


class Arrays(unittest.TestCase):
    def setUp(self):
        self.r = np.random.default_rng(SEED)

    def test_numbers_and_times(self):
        for kind in ('?', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2', 'f4', 'f8',
                     'M8[s]', 'm8[ns]', 'S3'):
            dtype = np.dtype(kind)
            for rows in 0, 1, 1000, 300_000:
                raw = self.r.integers(0, 256, rows * dtype.itemsize, np.uint8)
                array = (raw.view('i1') > 0) if kind == '?' else raw.view(dtype)
                with self.subTest(kind=kind, rows=rows):
                    np.testing.assert_array_equal(isotherm.sort(array), np.sort(array))
        array = np.array([0.0, np.nan, -0.0, -np.inf, -np.nan, np.inf, 5e-324, -5e-324])
        np.testing.assert_array_equal(isotherm.sort(array), np.sort(array))

    def test_records(self):
        kind = np.dtype([('name', 'S5'), ('n', 'i2'), ('x', 'f4'), ('rest', 'V9')])
        array = np.zeros(20_000, kind)
        array['name'] = self.r.choice([b'a', b'b', b'ab', b''], len(array))
        array['n'] = self.r.integers(-5, 5, len(array))
        array['x'] = self.r.choice([0.0, -0.0, 1.5, np.nan, -np.inf], len(array))
        array['rest'] = self.r.integers(0, 256, 9 * len(array), np.uint8).view('V9')
        place = np.arange(len(array))
        nan = np.isnan(array['x'])
        order = np.lexsort((place, np.where(nan, 0, -array['x']), nan, array['n']))
        for each in array, array[::1], np.repeat(array, 2)[::2]:
            found = isotherm.sort(each, by=['n', ('x', 'descending')])
            self.assertEqual(found.tobytes(), array[order].tobytes())
        found = isotherm.sort(array, by='name')
        self.assertEqual(found.tobytes(), array[np.argsort(array['name'], kind='stable')].tobytes())
        pair = np.array([(2, 1), (1, 9), (1, 3)], [('a', 'i4'), ('b', 'i4')])
        self.assertEqual(isotherm.sort(pair).tolist(), [(1, 3), (1, 9), (2, 1)])

    def test_refusals(self):
        for error, array, by in ((ValueError, np.zeros((2, 2)), None),
                                 (TypeError, np.array([None]), None),
                                 (TypeError, np.array(['text']), None),
                                 (TypeError, np.zeros(3, 'c16'), None),
                                 (TypeError, np.zeros(3, '>i4'), None),
                                 (TypeError, np.ma.array([2, 1], mask=[0, 1]), None),
                                 (KeyError, np.zeros(3, [('a', 'i4')]), 'b'),
                                 (KeyError, np.zeros(3), 'b'),
                                 (ValueError, np.zeros(3, [('a', 'i4')]), []),
                                 (ValueError, np.zeros(3, [('a', 'i4')]), [('a', 'up')])):
            with self.subTest(array=array), self.assertRaises(error):
                isotherm.sort(array, by=by)
        with self.assertRaises(TypeError):
            isotherm.sort(np.zeros(3), reverse=True)


def columns(r, rows):
    """Columns of each type that can be a key, with few different values and some of none."""
    day = datetime.date(2026, 1, 1)
    texts = ['', 'a', 'ab', 'a\0', 'a\1', 'b' * 300, 'é', 'z']
    of = {'i32': (pa.int32(), [-2**31, -1, 0, 7]), 'u64': (pa.uint64(), [0, 1, 2**64 - 1]),
          'f64': (pa.float64(), [0.0, -0.0, -1.5, float('inf'), float('nan')]),
          'bool': (pa.bool_(), [True, False]),
          'text': (pa.string(), texts), 'large': (pa.large_string(), texts),
          'bytes': (pa.binary(), [b'', b'\0', b'\0\0', b'\xff']),
          'fixed': (pa.binary(3), [b'abc', b'ab\0']),
          'date': (pa.date32(), [day, day + datetime.timedelta(9)]),
          'time': (pa.timestamp('us'),
                   [datetime.datetime(1900, 1, 1), datetime.datetime(2030, 1, 1)]),
          'decimal': (pa.decimal128(20, 2), [decimal.Decimal('-3.25'), decimal.Decimal(10**17)])}
    return {name: pa.array([r.choice([None, *values]) for _ in range(rows)], kind)
            for name, (kind, values) in of.items()}


class Tables(unittest.TestCase):
    def setUp(self):
        self.r = random.Random(SEED)

    def check(self, table, by):
        keys = [(each, 'ascending') if isinstance(each, str) else each for each in by]
        order = pc.sort_indices(table, sort_keys=keys)
        self.assertTrue(isotherm.sort(table, by=by).column('row').equals(
            pa.chunked_array([table.column('row').take(order).combine_chunks()])
            if isinstance(table, pa.Table) else table.column('row').take(order)), by)

    def test_every_type_in_both_directions(self):
        for nones in True, False:
            data = columns(self.r, 3000)
            if not nones:
                data = {name: each.fill_null(each.drop_null()[0]) for name, each in data.items()}
            table = pa.table({**data, 'row': range(3000)})
            for name in data:
                for direction in 'ascending', 'descending':
                    with self.subTest(name=name, direction=direction, nones=nones):
                        self.check(table, [(name, direction)])

    def test_several_keys_pieces_and_slices(self):
        table = pa.table({**columns(self.r, 5000), 'row': range(5000)})
        pieces = pa.concat_tables([table.slice(0, 701), table.slice(701, 0), table.slice(701)])
        for each in table, pieces, pieces.slice(650, 999), table.to_batches()[0].slice(13, 777):
            for by in (['text', ('f64', 'descending'), 'date'], ['i32', ('bytes', 'descending')],
                       [('bool', 'descending'), 'large', 'decimal']):
                with self.subTest(by=by):
                    self.check(each, by)

    def test_more_types(self):
        table = pa.table({'d': pa.array(['b', 'a', None, 'b']).dictionary_encode(),
                          'n': pa.nulls(4), 'v': pa.array([-1, 2, 0, -8], pa.float16())})
        self.assertEqual(isotherm.sort(table, by=['n', 'd', 'v'])['v'].to_pylist(), [2, -8, -1, 0])
        batch = table.to_batches()[0]
        self.assertIsInstance(isotherm.sort(batch, by='v'), pa.RecordBatch)
        self.assertEqual(isotherm.sort(table.slice(0, 0), by='v').num_rows, 0)

    def test_refusals(self):
        table = pa.table({'a': [1], 'list': [[1]]})
        for error, by in (TypeError, None), (KeyError, 'b'), (TypeError, 'list'), (ValueError, []):
            with self.subTest(by=by), self.assertRaises(error):
                isotherm.sort(table, by=by)


class FilesOfTables(unittest.TestCase):
    def setUp(self):
        self.r = random.Random(SEED)
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def table(self, rows):
        day = datetime.date(2026, 1, 1)
        return pa.table({
            'town': [self.r.choice(['a', 'b', 'b', 'b', None]) for _ in range(rows)],
            'amount': [self.r.randrange(1000) / 4 for _ in range(rows)],
            'day': [day + datetime.timedelta(self.r.randrange(99)) for _ in range(rows)],
            'row': range(rows)})

    def test_more_than_fits_and_less(self):
        table = self.table(30_000)
        by = ['town', ('amount', 'descending')]
        expected = isotherm.sort(table, by=by).to_pylist()
        pq.write_table(table, self.folder / 'in.parquet', row_group_size=500)
        for memory in '100kb', '1gb':
            source = self.folder / 'in.parquet'
            for suffix in '.arrow', '.csv', '.parquet':
                target = self.folder / f'out{suffix}'
                with self.subTest(memory=memory, suffix=suffix):
                    self.assertEqual(isotherm.sort_table(source, target, by, memory=memory), 30_000)
                    if suffix == '.csv':
                        self.assertEqual(pyarrow.csv.read_csv(target)['row'].to_pylist(),
                                         [each['row'] for each in expected])
                    else:
                        found = pa.dataset.dataset(target, format=FORMATS[suffix]).to_table()
                        self.assertEqual(found.cast(table.schema).to_pylist(), expected)
                source = target
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()),
                         ['in.parquet', 'out.arrow', 'out.csv', 'out.parquet'])

    def test_equal_and_presorted_keys(self):
        for values in [7] * 20_000, range(20_000), [None] * 19_999 + [1]:
            table = pa.table({'key': pa.array(values, pa.int64()), 'row': range(20_000)})
            pq.write_table(table, self.folder / 'in.parquet', row_group_size=300)
            isotherm.sort_table(self.folder / 'in.parquet', self.folder / 'out.parquet', 'key',
                                memory=60_000)
            self.assertEqual(pq.read_table(self.folder / 'out.parquet').to_pylist(),
                             isotherm.sort(table, by='key').to_pylist())

    def test_rows_that_are_larger_than_the_memory(self):
        table = pa.table({'key': [3, 1, 2], 'text': ['x' * 100_000] * 3})
        with pa.ipc.new_file(self.folder / 'in.arrow', table.schema) as file:
            file.write_table(table, max_chunksize=1)
        isotherm.sort_table(self.folder / 'in.arrow', self.folder / 'out.arrow', 'key', memory=6000)
        self.assertEqual(pa.ipc.open_file(self.folder / 'out.arrow').read_all()['key'].to_pylist(),
                         [1, 2, 3])

    def test_nothing_is_left_of_a_failure(self):
        pq.write_table(self.table(10), self.folder / 'in.parquet')
        for error, source, target, by in (
                (ValueError, 'in.parquet', 'out.txt', 'town'),
                (KeyError, 'in.parquet', 'out.csv', 'none'),
                (FileNotFoundError, 'none.parquet', 'out.csv', 'town')):
            with self.subTest(target=target), self.assertRaises(error):
                isotherm.sort_table(self.folder / source, self.folder / target, by)
        self.assertEqual([path.name for path in self.folder.iterdir()], ['in.parquet'])


if __name__ == '__main__':
    unittest.main()
