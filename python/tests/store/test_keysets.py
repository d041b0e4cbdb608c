"""Key sets in a store."""

import pytest

from cenote.keyset import KeySet, dump, load


@pytest.mark.usefixtures('environment')
def test_a_key_set_is_read_from_the_store_of_the_settings(server, store, lab):
    keys = KeySet({'user:/a': '1', 'user:/b': 'x' * 200_000})
    store.write(f'{lab}/a.quickdump', dump(keys, parent='user:/'))
    host = server.url.removeprefix('http://')
    for url in (f'cenote://{lab}/a.quickdump', f'cenote://{host}{lab}/a.quickdump'):
        assert load(url, 'user:/') == keys
    store.write(f'{lab}/b.json', '{"c": "2"}')
    assert load(f'cenote://{lab}/b.json', 'user:/')['user:/c'].value == '2'
    with pytest.raises(FileNotFoundError):
        load(f'cenote://{lab}/gone', 'user:/')


def test_a_login_of_the_program_reads_a_key_set(server, store, lab, environment, monkeypatch):
    store.write(f'{lab}/a.json', '{"c": "2"}')
    server.cenote('login', server.url, '--password-stdin', text='a secret of the tests')
    for name in ('CENOTE_URL', 'CENOTE_USER', 'CENOTE_PASSWORD'):
        monkeypatch.delenv(name)
    host = server.url.removeprefix('http://')
    for url in (f'cenote://{lab}/a.json', f'cenote://{host}{lab}/a.json'):
        assert load(url, 'user:/')['user:/c'].value == '2'
    server.cenote('logout', server.url)
