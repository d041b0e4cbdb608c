"""Keys: names, values, metadata."""

from collections.abc import Mapping

import pytest

from cenote.keyset import Key, KeySetError, MergeConflict, join


def test_a_key_has_a_canonical_name_and_an_empty_value():
    key = Key('user:/a/../b//#10/')
    assert (key.name, key.value, dict(key.meta)) == ('user:/b/#_10', '', {})
    assert (key.basename, key.namespace) == ('#_10', 'user')
    assert Key('user:/').basename is None


@pytest.mark.parametrize('parts', [(), ('a',), ('a/b', '', '%'), ('..', '.', '\\'), ('#12', '#_12'), ('\udcff',)])
def test_names_are_made_of_raw_parts(parts):
    assert Key(join('user:/app', *parts)).parts == ('app', *parts)
    with pytest.raises(KeySetError, match='NUL'):
        join('user:/app', 'a\0')


@pytest.mark.parametrize('value', ['text', '', 'grün', 'not \udcff utf-8', b'\x00\xff', None])
def test_values_round_trip(value):
    assert Key('user:/a', value).value == value
    assert Key('user:/a').replace(value=value).value == value


def test_binary_keys_have_the_metakey_and_no_empty_bytes():
    assert dict(Key('user:/a', b'x').meta) == {'binary': ''}
    assert Key('user:/a', b'').value is None
    assert dict(Key('user:/a', None).replace(value='text').meta) == {}


def test_names_keep_bytes_that_are_not_utf8():
    key = Key(b'user:/\xff\xfe')
    assert key.name == 'user:/\udcff\udcfe'
    assert Key(key.name) == key


@pytest.mark.parametrize('name', ['', 'a/b', 'sys:/a', '/a\\b', 'user:/a\0'])
def test_invalid_names_are_refused(name):
    with pytest.raises(KeySetError):
        Key(name)


def test_values_of_other_types_are_refused():
    with pytest.raises(TypeError, match='str, bytes or None'):
        Key('user:/a', 5)
    with pytest.raises(KeySetError, match='NUL'):
        Key('user:/a', 'a\0')


def test_metadata_is_an_ordered_mapping():
    meta = Key('user:/a', 'v', {'type': 'long', 'meta:/comment/#0': 'why'}).meta
    assert isinstance(meta, Mapping)
    assert list(meta) == ['comment/#0', 'type']
    assert meta.items() == [('comment/#0', 'why'), ('type', 'long')]
    assert meta.values() == ['why', 'long']
    assert (meta['meta:/type'], meta.get('none'), meta.get('none', 1)) == ('long', None, 1)
    assert 'type' in meta and 'none' not in meta
    assert meta == {'type': 'long', 'comment/#0': 'why'} and len(meta) == 2
    with pytest.raises(KeyError):
        meta['none']
    with pytest.raises(TypeError):
        meta['type'] = 'double'


def test_replace_makes_another_key():
    key = Key('user:/a', 'v', {'m': '1'})
    other = key.replace(name='dir:/b', meta={'n': '2'})
    assert repr(key) == "Key('user:/a', 'v', meta={'m': '1'})"
    assert repr(other) == "Key('dir:/b', 'v', meta={'n': '2'})"
    assert key.replace(name='user:/a') == key != other
    assert key.replace(meta={}).meta == {}
    with pytest.raises(AttributeError):
        key.value = 'w'


def test_keys_order_by_name_and_hash():
    names = ['/b', 'spec:/a', 'user:/a', 'user:/a/b', 'user:/a!', 'system:/']
    keys = [Key(name) for name in names]
    assert sorted(reversed(keys)) == keys
    assert len({Key('user:/a', 'x'), Key('user:/a', 'x')}) == 1
    assert Key('user:/a') != 'user:/a'


def test_errors_are_value_errors():
    assert issubclass(KeySetError, ValueError) and issubclass(MergeConflict, ValueError)
