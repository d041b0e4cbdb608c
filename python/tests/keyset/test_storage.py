"""Files and bytes in every format."""

import os
import pathlib

import pytest

from cenote.keyset import Key, KeySet, KeySetError, dump, load

PARENT = 'user:/app'
GOLDEN = pathlib.Path(__file__).parents[3] / 'crates/keyset/tests/fixtures'


@pytest.fixture
def keys():
    shared = Key(PARENT, 'parent', {'shared': 'yes'})
    return KeySet([
        shared,
        Key(f'{PARENT}/a', 'text', shared.meta),
        Key(f'{PARENT}/b/#_10', b'\x00\xff'),
        Key(f'{PARENT}/c', None),
    ])


@pytest.mark.parametrize('format', ['quickdump', 'dump', 'json', 'toml', 'ini'])
def test_every_format_round_trips_every_key(keys, format, tmp_path):
    content = dump(keys, parent=PARENT, format=format)
    assert load(content, PARENT, format) == keys
    path = tmp_path / f'keys.{format}'
    assert dump(keys, path, PARENT) is None
    assert path.read_bytes() == content
    assert load(path, PARENT) == load(str(path), PARENT) == keys


def test_shared_metadata_stays_shared(keys):
    assert dump(keys, parent=PARENT, format='dump').count(b'$copymeta') == 1
    again = load(dump(keys, parent=PARENT), PARENT)
    assert dump(again, parent=PARENT, format='dump').count(b'$copymeta') == 1


@pytest.mark.parametrize('kind', [bytes, bytearray, memoryview])
def test_the_format_is_detected_from_the_content(keys, kind):
    for format in ('quickdump', 'dump'):
        assert load(kind(dump(keys, parent=PARENT, format=format)), PARENT) == keys
    assert load(kind(b''), PARENT) == KeySet()


@pytest.mark.parametrize('format', ['quickdump', 'dump'])
def test_golden_files_are_rewritten_to_the_byte(format):
    content = (GOLDEN / f'shared_meta.{format}').read_bytes()
    keys = load(content, 'user:/tests/golden')
    assert dump(keys, parent='user:/tests/golden', format=format) == content
    assert keys['user:/tests/golden/bin1'].value == b'1'


def test_errors_report_their_location(keys):
    with pytest.raises(KeySetError, match='at byte 8') as error:
        load(b'EKDB\0\0\0\x03\x09ab', PARENT)
    assert error.value.offset == 8
    twice = b'EKDB\0\0\0\x03\x03as\x031\0\x03as\x032\0'
    assert load(twice, PARENT)['user:/app/a'].value == '2'
    with pytest.raises(KeySetError, match='twice'):
        load(twice, PARENT, strict=True)
    with pytest.raises(KeySetError, match='not below the parent'):
        dump(keys, parent='user:/other')


def test_missing_files_are_reported(keys, tmp_path):
    with pytest.raises(FileNotFoundError):
        load(tmp_path / 'none', PARENT)
    with pytest.raises(OSError):
        dump(keys, tmp_path / 'none' / 'a', PARENT)
    with pytest.raises(ValueError, match='give `format`'):
        load(b'{}', PARENT)
    with pytest.raises(ValueError, match='quickdump, dump'):
        load(b'', PARENT, 'yaml')
    with pytest.raises(TypeError, match='parent'):
        dump(keys)


def test_files_are_replaced_with_their_mode(keys, tmp_path):
    path = tmp_path / 'keys.dump'
    path.write_bytes(b'old')
    path.chmod(0o600)
    dump(keys, path, PARENT)
    assert load(path, PARENT) == keys
    assert path.stat().st_mode & 0o777 == 0o600
    assert os.listdir(tmp_path) == ['keys.dump']
