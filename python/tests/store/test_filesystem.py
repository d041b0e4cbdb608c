"""Guarantees of the file system beyond fsspec's own suite."""

import pickle
import re
import urllib.request

import fsspec
import pytest

import cenote
from cenote.store.errors import ChangedError
from cenote.store.filesystem import CenoteFileSystem


@pytest.fixture
def fs(environment):
    return fsspec.filesystem('cenote', skip_instance_cache=True)


@pytest.fixture
def requests(server):
    """The number of completed requests since the last call, by route and method."""
    def count():
        with urllib.request.urlopen(f'{server.url}/metrics') as answer:
            text = answer.read().decode()
        found = re.findall(r'^cenote_http_requests_total\{(.*)\} (\d+)$', text, re.M)
        return {labels: int(number) for labels, number in found if '/metrics' not in labels}

    last = count()

    def since():
        nonlocal last
        before, last = last, count()
        return sum(last.values()) - sum(before.values())

    return since


def test_urls_name_a_store_or_that_of_the_settings(server, environment, lab):
    host = server.url.removeprefix('http://')
    with fsspec.open(f'cenote://{lab}/a.txt', 'w') as file:
        file.write('hello')
    for url in (f'cenote://{lab}/a.txt', f'cenote://{host}{lab}/a.txt', f'cenote+http://{host}{lab}/a.txt'):
        with fsspec.open(url) as file:
            assert file.read() == b'hello'
    fs, path = fsspec.url_to_fs(f'cenote://{host}{lab}/a.txt')
    assert path == f'{lab}/a.txt' and server.url in fs.fsid


def test_credentials_are_not_sent_to_a_url_alone(server, environment, monkeypatch, lab):
    host = server.url.removeprefix('http://')
    fsspec.filesystem('cenote', skip_instance_cache=True).pipe(f'{lab}/a', b'1')
    monkeypatch.setenv('CENOTE_URL', 'http://127.0.0.1:1')
    with pytest.raises((PermissionError, FileNotFoundError)):
        fsspec.open(f'cenote://{host}{lab}/a', skip_instance_cache=True).open()
    given = {'user': 'ada', 'password': 'a secret of the tests', 'skip_instance_cache': True}
    with fsspec.open(f'cenote://{host}{lab}/a', **given) as file:
        assert file.read() == b'1'


def test_trees_are_read_in_one_request(fs, lab, requests):
    files = {f'{lab}/{a}/{b}/{c}.txt': b'1' for a in range(5) for b in range(5) for c in range(4)}
    fs.pipe(files)
    requests()
    assert set(fs.find(lab)) == set(files)
    assert requests() == 2
    assert len(list(fs.walk(lab))) == 31
    assert requests() == 1
    assert fs.du(lab) == 100
    assert requests() == 2
    assert fs.cat_ranges(list(files)[:3], 0, 1) == [b'1'] * 3
    fs.rm(lab, recursive=True)
    assert not fs.exists(lab)


def test_walks_can_be_pruned_and_end_at_a_depth(fs, lab):
    fs.pipe({f'{lab}/a/x/1': b'1', f'{lab}/b/2': b'1', f'{lab}/3': b'1'})
    seen = []
    for path, directories, files in fs.walk(lab):
        seen.append(path.removeprefix(lab))
        if 'a' in directories:
            directories.remove('a')
    assert seen == ['', '/b']
    assert [path.removeprefix(lab) for path, _, _ in fs.walk(lab, topdown=False)] == ['/a/x', '/a', '/b', '']
    assert [path.removeprefix(lab) for path, _, _ in fs.walk(lab, maxdepth=1)] == ['']
    assert fs.find(lab, maxdepth=2, withdirs=True) == [
        lab, f'{lab}/3', f'{lab}/a', f'{lab}/a/x', f'{lab}/b', f'{lab}/b/2'
    ]
    assert fs.glob(f'{lab}/**/[12]') == [f'{lab}/a/x/1', f'{lab}/b/2']


def test_ranges_are_read_from_both_ends(fs, lab):
    fs.pipe(f'{lab}/a', b'0123456789')
    assert fs.cat_file(f'{lab}/a', 2, 4) == b'23'
    assert fs.cat_file(f'{lab}/a', -3) == b'789'
    assert fs.cat_file(f'{lab}/a', 1, -7) == b'12'
    found = fs.cat_ranges([f'{lab}/a', f'{lab}/gone', f'{lab}/a'], [0, 0, -2], [1, 1, None])
    assert found[0] == b'0' and isinstance(found[1], FileNotFoundError) and found[2] == b'89'
    with pytest.raises(FileNotFoundError):
        fs.cat_ranges([f'{lab}/gone'], 0, 1, on_error='raise')
    with fs.open(f'{lab}/a', block_size=4) as file:
        file.seek(-4, 2)
        assert file.read(2) == b'67' and file.tell() == 8


def test_a_large_file_is_published_when_it_is_closed(fs, lab):
    with fs.open(f'{lab}/new/large', 'wb', block_size=1 << 16) as file:
        for _ in range(10):
            file.write(bytes(50_000))
        assert not fs.exists(f'{lab}/new/large')
    assert fs.size(f'{lab}/new/large') == 500_000
    with fs.open(f'{lab}/new/large', 'ab') as file:
        assert file.tell() == 500_000
        file.write(b'end')
    assert fs.tail(f'{lab}/new/large', 3) == b'end'
    with pytest.raises(ZeroDivisionError), fs.open(f'{lab}/new/large', 'wb', block_size=1 << 16) as file:
        file.write(bytes(200_000))
        raise ZeroDivisionError
    assert fs.size(f'{lab}/new/large') == 500_003


def test_a_transaction_publishes_at_its_end_or_never(fs, lab):
    with fs.transaction:
        for name, size in (('small', 5), ('large', 200_000)):
            with fs.open(f'{lab}/{name}', 'wb', block_size=1 << 16) as file:
                file.write(bytes(size))
        assert fs.find(lab) == []
    assert fs.du(lab) == 200_005
    with pytest.raises(ZeroDivisionError), fs.transaction:
        with fs.open(f'{lab}/small', 'wb') as file:
            file.write(b'other')
        raise ZeroDivisionError
    assert fs.cat(f'{lab}/small') == bytes(5)


def test_a_transaction_is_one_commit(fs, store, server, lab):
    with pytest.raises(FileExistsError), fs.transaction:
        for name, mode in (('a', 'wb'), ('b', 'xb'), ('c', 'wb')):
            with fs.open(f'{lab}/{name}', mode) as file:
                file.write(name.encode())
        store.write(f'{lab}/b', b'other')
    assert [each.name for each in store.ls(lab)] == ['b']
    # It continues without a transaction.
    fs.pipe(f'{lab}/a', b'1')
    ticket = store.ticket_add(lab, 'write').ticket
    guest = CenoteFileSystem.of(cenote.connect(server.url, ticket=ticket, config=server.directory / 'config.toml'))
    with guest.transaction:
        for name in 'ac':
            with guest.open(f'{lab}/{name}', 'wb') as file:
                file.write(b'guest')
        assert store.read(f'{lab}/a') == b'1'
    assert store.read(f'{lab}/a') == store.read(f'{lab}/c') == b'guest'


def test_what_is_read_is_one_content(fs, lab):
    fs.pipe(f'{lab}/a', bytes(200_000))
    with fs.open(f'{lab}/a', block_size=1 << 10, cache_type='none') as file:
        file.read(10)
        fs.pipe(f'{lab}/a', b'x' * 200_000)
        with pytest.raises(ChangedError, match='replaced while being read'):
            file.read(10)


def test_many_small_files_are_sent_in_batches(fs, lab, tmp_path, requests):
    for number in range(300):
        (tmp_path / f'from/{number % 3}').mkdir(parents=True, exist_ok=True)
        (tmp_path / f'from/{number % 3}/{number}').write_text(str(number))
    requests()
    fs.put(f'{tmp_path}/from', f'{lab}/to', recursive=True)
    assert requests() < 20
    fs.get(f'{lab}/to', f'{tmp_path}/back', recursive=True)
    assert requests() < 20
    for path in (tmp_path / 'from').rglob('*'):
        back = tmp_path / 'back' / path.relative_to(tmp_path / 'from')
        assert back.is_dir() if path.is_dir() else back.read_bytes() == path.read_bytes()


def test_errors_are_those_of_python(fs, lab):
    fs.pipe(f'{lab}/a', b'1')
    with pytest.raises(FileNotFoundError):
        fs.open(f'{lab}/gone')
    with pytest.raises(IsADirectoryError):
        fs.open(lab)
    with pytest.raises(FileExistsError):
        fs.mkdir(lab)
    fs.makedirs(lab, exist_ok=True)
    with pytest.raises(NotADirectoryError):
        fs.rmdir(f'{lab}/a')
    with pytest.raises(OSError):
        fs.rm(lab)
    fs.touch(f'{lab}/a', truncate=False)
    assert fs.cat(f'{lab}/a') == b'1'
    fs.mkdir(f'{lab}/empty')
    fs.rmdir(f'{lab}/empty')
    fs.mv(f'{lab}/a', f'{lab}/b')
    assert fs.ls(lab, detail=False) == [f'{lab}/b']
    assert fs.isfile(f'{lab}/b') and fs.modified(f'{lab}/b') >= fs.created(f'{lab}/b')


def test_a_file_system_is_sent_to_other_processes_without_secrets(fs, lab):
    fs.pipe(f'{lab}/a', b'1')
    data = pickle.dumps(fs)
    assert b'secret' not in data
    assert pickle.loads(data).cat(f'{lab}/a') == b'1'
    with fs.open(f'{lab}/a') as file:
        assert pickle.loads(pickle.dumps(file)).read() == b'1'
