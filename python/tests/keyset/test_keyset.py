"""Key sets as mappings, and their other methods."""

import copy

import pytest

from cenote.keyset import Key, KeySet, MergeConflict


@pytest.fixture
def keys():
    return KeySet({'user:/a': '1', 'user:/a/b': '2', 'dir:/a': '3', 'system:/c': b'\x00'})


def test_iterating_gives_keys_in_order(keys):
    assert [key.name for key in keys] == ['dir:/a', 'user:/a', 'user:/a/b', 'system:/c']
    assert keys.keys() == [key.name for key in keys]
    assert keys.values() == list(keys) == [key for _, key in keys.items()]
    assert keys.to_dict() == {
        'dir:/a': '3', 'user:/a': '1', 'user:/a/b': '2', 'system:/c': b'\x00'
    }
    assert dict(keys)['user:/a'] == Key('user:/a', '1')


def test_it_is_a_mapping(keys):
    assert len(keys) == 4 and 'user:/a/' in keys and 'user:/b' not in keys
    assert 5 not in keys and 'no name' not in keys and b'user:/a' in keys
    assert keys['user:/a'].value == keys[1].value == '1'
    assert keys[-1].value == b'\x00'
    assert keys.get('user:/b') is None and keys.get('user:/b', 5) == 5
    keys['user:/b'] = 'new'
    keys['user:/a'] = Key('dir:/x', 'taken', {'m': '1'})
    assert keys['user:/a'] == Key('user:/a', 'taken', {'m': '1'})
    keys['user:/a'] = 'only the value'
    assert keys['user:/a'].meta == {'m': '1'}
    del keys['user:/b']
    for missing in ('user:/b', 'dir:/none'):
        with pytest.raises(KeyError):
            keys[missing]
        with pytest.raises(KeyError):
            del keys[missing]
    with pytest.raises(IndexError):
        keys[4]


def test_slices_are_key_sets(keys):
    names = keys.keys()
    for places in (slice(1, 3), slice(None, None, 2), slice(-2, None), slice(None, None, -1), slice(9, 12)):
        assert isinstance(keys[places], KeySet)
        assert keys[places].keys() == sorted(names[places], key=names.index)


def test_pop_removes_what_it_returns(keys):
    assert keys.pop('user:/a') == Key('user:/a', '1')
    assert 'user:/a' not in keys and 'user:/a/b' in keys
    assert keys.pop('user:/a', None) is None and keys.pop('user:/a', default=5) == 5
    with pytest.raises(KeyError):
        keys.pop('user:/a')
    assert [keys.pop().name for _ in range(3)] == ['system:/c', 'user:/a/b', 'dir:/a']
    with pytest.raises(KeyError, match='empty'):
        keys.pop()


def test_filter_takes_a_predicate(keys):
    strings = keys.filter(lambda key: isinstance(key.value, str))
    assert strings.keys() == ['dir:/a', 'user:/a', 'user:/a/b'] and len(keys) == 4
    assert keys.filter(lambda key: key.namespace == 'proc') == KeySet()
    with pytest.raises(ZeroDivisionError):
        keys.filter(lambda key: 1 / 0)


def test_sets_equal_only_sets(keys):
    assert keys != 5 and keys != {} and not keys == None  # noqa: E711


def test_a_set_can_change_while_it_is_iterated(keys):
    for key in keys:
        del keys[key.name]
    assert len(keys) == 0 and not keys


def test_append_takes_keys_and_sets(keys):
    keys.append(Key('user:/k', 'one'))
    keys.append([Key('user:/l', 'two')])
    keys.append(KeySet({'user:/m': 'three', 'user:/a': 'new'}))
    keys.append({'user:/n': 'four'})
    keys.append(keys)
    values = [keys[f'user:/{part}'].value for part in 'aklmn']
    assert values == ['new', 'one', 'two', 'three', 'four']


def test_lookup_cascades(keys):
    assert keys.lookup('/a').name == 'dir:/a'
    assert keys.lookup('/a/b').name == 'user:/a/b'
    assert keys.lookup('/none') is None
    keys.append(Key('spec:/d', '', {'default': 'x'}))
    assert keys.lookup('/d') == Key('default:/d', 'x')
    assert 'default:/d' in keys


def test_subtrees(keys):
    assert keys.below('user:/a').keys() == ['user:/a', 'user:/a/b']
    assert keys.cut('/a').keys() == ['dir:/a', 'user:/a', 'user:/a/b']
    assert keys.keys() == ['system:/c']
    assert keys.rename('system:/c', 'user:/x/y') == 1
    assert keys.keys() == ['user:/x/y']


def test_copies_are_independent(keys):
    for other in (keys.copy(), copy.copy(keys), copy.deepcopy(keys), KeySet(keys)):
        assert other == keys
        other['user:/a'] = 'changed'
        assert other != keys


def test_merge():
    base = KeySet({'user:/a': '1', 'user:/b': '1'})
    ours = KeySet({'user:/a': '2', 'user:/b': '1'})
    theirs = KeySet({'user:/a': '1', 'user:/b': '1', 'user:/c': '1'})
    assert ours.merge(theirs, base).to_dict() == {'user:/a': '2', 'user:/b': '1', 'user:/c': '1'}
    theirs['user:/a'] = '3'
    with pytest.raises(MergeConflict) as conflict:
        ours.merge(theirs, base)
    assert conflict.value.names == ['user:/a']
    assert ours.merge(theirs, base, strategy='theirs')['user:/a'].value == '3'
    theirs['user:/a'] = '2'
    with pytest.raises(MergeConflict):
        ours.merge(theirs, base)
    assert ours.merge(theirs, base, same_change_agrees=True)['user:/a'].value == '2'


def test_long_sets_have_short_representations():
    keys = KeySet({f'user:/{number}': '' for number in range(1000)})
    assert len(repr(keys)) < 1000 and '1000 keys' in repr(keys)
    assert repr(KeySet({'user:/a': '1'})) == "KeySet([Key('user:/a', '1')])"
