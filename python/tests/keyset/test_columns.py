"""Key sets as arrays and Arrow tables."""

import numpy as np
import pytest

from cenote.keyset import Key, KeySet, dump, load


@pytest.fixture
def keys():
    keys = KeySet([
        Key('user:/a/b', 'text'),
        Key('user:/a/ü', b'\x00\x01'),
        Key('user:/a/z', None),
        Key('user:/a', ''),
    ])
    return load(dump(keys, parent='user:/a'), 'user:/a')


def strings(offsets, data):
    pairs = zip(offsets, offsets[1:], strict=False)
    return [bytes(data[start:end]) for start, end in pairs]


def test_columns_hold_names_values_and_kinds(keys):
    columns = keys.columns()
    assert len(columns) == 4
    names = strings(columns.name_offsets, columns.name_data)
    assert [name.decode() for name in names] == keys.keys()
    assert strings(columns.value_offsets, columns.value_data) == [b'', b'text', b'', b'\x00\x01']
    assert columns.kinds.tolist() == [0, 0, 2, 1]
    assert columns.name_offsets.dtype == np.int64 and columns.name_data.dtype == np.uint8


def test_an_empty_set_has_empty_columns():
    columns = KeySet().columns()
    assert len(columns) == 0 and columns.name_offsets.tolist() == [0]


def test_arrow_tables(keys):
    pyarrow = pytest.importorskip('pyarrow')
    table = keys.to_arrow()
    assert table.column('name').to_pylist() == keys.keys()
    assert table.column('value').to_pylist() == [b'', b'text', None, b'\x00\x01']
    assert table.column('binary').to_pylist() == [False, False, True, True]
    keys.append(Key(b'user:/a/\xff'))
    assert keys.to_arrow().schema.field('name').type == pyarrow.large_binary()
    assert KeySet().to_arrow().num_rows == 0
