"""Copies of values behave as the original: copy, deepcopy, pickle, and in another process."""

import copy
import multiprocessing
import pickle

import numpy as np
import pytest

from cenote.keyset import Key, KeySet, KeySetError, dump, load

WAYS = [
    copy.copy,
    copy.deepcopy,
    *(lambda value, protocol=protocol: pickle.loads(pickle.dumps(value, protocol))
      for protocol in range(pickle.HIGHEST_PROTOCOL + 1)),
]


@pytest.fixture
def keys():
    first = Key('user:/a', 'text', {'type': 'string', 'comment/#0': 'why'})
    return KeySet([
        first,
        Key('/cascading', 'x'),
        Key('dir:/b', 'shares', first.meta),
        Key('system:/n', None),
        Key(b'user:/\xff', b'\0\xff'),
        Key('user:/u', 'not \udcff utf-8'),
    ])


@pytest.mark.parametrize('way', WAYS)
def test_keys_and_sets(way, keys):
    for key in keys:
        copied = way(key)
        assert copied == key and repr(copied) == repr(key) and hash(copied) == hash(key)
        assert copied.replace(value='other').meta == key.replace(value='other').meta
        assert way(key.meta) == key.meta and list(way(key.meta)) == list(key.meta)
    for some in (keys, keys.below('user:/'), KeySet(), load(dump(keys.below('user:/'), parent='user:/'), 'user:/')):
        copied = way(some)
        assert copied == some and repr(copied) == repr(some)
        copied['user:/new'] = 'only here'
        assert copied != some and 'user:/new' not in some


@pytest.mark.parametrize('way', WAYS)
def test_shared_metadata_stays_shared(way, keys):
    pair = KeySet([keys['user:/a'], Key('user:/b', '', keys['user:/a'].meta)])
    assert dump(way(pair), parent='user:/', format='dump').count(b'$copymeta') == 2


@pytest.mark.parametrize('way', WAYS[1:])
def test_columns_and_errors(way, keys):
    columns, copied = keys.columns(), way(keys.columns())
    for name in ('name_offsets', 'name_data', 'value_offsets', 'value_data', 'kinds'):
        assert np.array_equal(getattr(columns, name), getattr(copied, name))
    with pytest.raises(KeySetError) as error:
        load(b'EKDB', 'user:/')
    copied = way(error.value)
    assert str(copied) == str(error.value) and copied.offset == error.value.offset


def count(keys):
    return len(keys), keys['user:/a'].meta['type'], keys


def test_another_process_gets_equal_values(keys):
    with multiprocessing.get_context('spawn').Pool(1) as pool:
        assert pool.apply(count, (keys,)) == (len(keys), 'string', keys)
