"""The verbs of a store, on a real server."""

import hashlib
import os

import pytest

import cenote
from cenote.store import Grant, Only, Statement


def test_a_content_is_put_read_and_removed(store, lab):
    put = store.write(f'{lab}/deep/a.txt', 'hello', media_type='text/plain')
    assert (put.size, put.kind, put.media_type) == (5, 'object', 'text/plain')
    assert put.sha256 == hashlib.sha256(b'hello').hexdigest()
    assert store.read(f'{lab}/deep/a.txt') == b'hello'
    assert store.read(f'{lab}/deep/a.txt', 1, 3) == b'el'
    assert store.read(f'{lab}/deep/a.txt', 5) == b''
    assert store.append(f'{lab}/deep/a.txt', b' you').size == 9
    assert store.read_many([f'{lab}/deep/a.txt', (f'{lab}/deep/a.txt', 6, None)]) == [b'hello you', b'you']
    found = store.stat(f'{lab}/deep/a.txt')
    assert found.level and found.owner == 'ada' and found.modified.tzinfo is not None
    store.rm(f'{lab}/deep', recursive=True)
    assert not store.exists(f'{lab}/deep/a.txt')


def test_a_tree_is_listed_walked_found_and_counted(store, lab):
    store.mkdir(f'{lab}/a')
    store.batch(lab, {'a/1.csv': b'1', 'a/2.csv': '22', 'b.bin': bytes(300_000)})
    assert [found.name for found in store.ls(lab)] == ['a', 'b.bin']
    paths = [found.path.removeprefix(lab) for found in store.tree(lab)]
    assert paths == ['/a', '/a/1.csv', '/a/2.csv', '/b.bin']
    assert {found.name for found in store.find(lab, name='*.csv')} == {'1.csv', '2.csv'}
    assert store.du(lab) == (3, 1, 300_003)
    found = store.stat_many([f'{lab}/a', f'{lab}/gone'])
    assert found[0].is_collection() and isinstance(found[1], FileNotFoundError)


def test_directories_and_files_round_trip(store, lab, tmp_path):
    source = tmp_path / 'source'
    for name, content in {'x.txt': b'x', 'sub/y.bin': bytes(70 << 20), 'sub/empty/z': b''}.items():
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_bytes(content)
    os.utime(source / 'x.txt', (1, 1))
    sent = []
    assert store.put(source, f'{lab}/copy', progress=sent.append).is_collection()
    assert sum(sent) == (70 << 20) + 1
    received = []
    store.get(f'{lab}/copy', tmp_path / 'back', progress=received.append)
    assert sum(received) == (70 << 20) + 1
    for path in source.rglob('*'):
        back = tmp_path / 'back' / path.relative_to(source)
        assert back.is_dir() if path.is_dir() else back.read_bytes() == path.read_bytes()
    assert (tmp_path / 'back/x.txt').stat().st_mtime == 1
    assert store.put(source / 'x.txt', f'{lab}/one').size == 1
    store.get(f'{lab}/one', tmp_path / 'one')
    assert (tmp_path / 'one').read_bytes() == b'x'


def test_resources_are_moved_copied_and_touched(store, lab):
    store.write(f'{lab}/a', b'1')
    assert store.cp(f'{lab}/a', f'{lab}/b').path == f'{lab}/b'
    assert store.mv(f'{lab}/b', f'{lab}/c').name == 'c'
    with pytest.raises(FileExistsError):
        store.mv(f'{lab}/c', f'{lab}/a')
    store.mv(f'{lab}/c', f'{lab}/a', replace=True)
    assert store.touch(f'{lab}/a').mtime is not None
    store.mkdir(f'{lab}/d/e', parents=True)
    store.cp(f'{lab}/d', f'{lab}/f', recursive=True)
    assert store.exists(f'{lab}/f/e')


def test_descriptions_are_changed_and_searched(store, lab):
    store.write(f'{lab}/a.gsd', b'1')
    store.meta_add(f'{lab}/a.gsd', 'temperature', 300, 'K')
    store.meta_add(f'{lab}/a.gsd', 'sample', 's1')
    store.meta_set(f'{lab}/a.gsd', 'temperature', 310, 'K')
    store.meta_rm(f'{lab}/a.gsd', 'sample', 's1')
    assert store.meta(f'{lab}/a.gsd') == [Statement('temperature', '310', 'K')]
    found = store.find(lab, ('temperature', '>=', '305'), kind='object')
    assert [resource.name for resource in found] == ['a.gsd']
    assert not list(store.find(lab, ('temperature', '>', '400')))
    assert b'310' in store.sparql(f'SELECT ?t {{ <cenote:{lab}/a.gsd> ?p ?t }}')


def test_restricted_entries_are_shown_and_set_as_they_are(store, lab):
    store.mkdir(f'{lab}/below')
    store.write(f'{lab}/below/a', b'1')
    of_class = Grant('public', 'read', 'default', only=Only('http://xmlns.com/foaf/0.1/Document'))
    of_one = Grant('public', 'read', 'default', only=Only(path=f'{lab}/below/a'))
    store.acl_set(f'{lab}/below', of_class, of_one)

    def restricted():
        return [grant for grant in store.acl(f'{lab}/below').grants if grant.only]

    assert [grant.only[:2] for grant in restricted()] == [of_class.only[:2], of_one.only[:2]]
    before = restricted()
    store.acl_set(f'{lab}/below', *before)
    assert restricted() == before
    store.acl_set(f'{lab}/below', *(grant._replace(level='none') for grant in before))
    assert not restricted()


def test_access_is_granted_and_tickets_are_used(server, store, lab):
    server.cenote('user', 'add', 'bob', '--password-stdin', text='a secret of the tests')
    store.write(f'{lab}/shared', b'1')
    bob = server.connect('bob')
    with pytest.raises((PermissionError, FileNotFoundError)):
        bob.read(f'{lab}/shared')
    store.acl_set(f'{lab}/shared', Grant('bob', 'read', 'this'))
    assert bob.read(f'{lab}/shared') == b'1'
    assert ('bob', 'read_object') in [grant[:2] for grant in store.acl(f'{lab}/shared').grants]
    assert bob.whoami().name == 'bob' and store.whoami().role == 'admin'
    ticket = store.ticket_add(f'{lab}/shared', uses=2)
    config = server.directory / 'config.toml'
    guest = cenote.connect(server.url, ticket=ticket.ticket, config=config)
    assert guest.read(f'{lab}/shared') == b'1'
    [listed] = store.tickets(f'{lab}/shared')
    assert listed.ticket is None and listed.level == 'read_object'
    store.ticket_rm(listed)
    with pytest.raises((PermissionError, FileNotFoundError)):
        guest.read(f'{lab}/shared')


def test_versions_are_kept_and_restored(server, store, lab):
    server.cenote('versions', 'policy', lab, 'on-request')
    store.write(f'{lab}/a', b'first')
    store.versions_keep(f'{lab}/a', 'good')
    store.write(f'{lab}/a', b'second')
    [version] = [each for each in store.versions(f'{lab}/a') if each.label == 'good']
    assert store.read(f'{lab}/a', version=version.version) == b'first'
    store.versions_restore(f'{lab}/a', version.version)
    assert store.read(f'{lab}/a') == b'first'


def test_an_upload_is_sent_in_parts(store, lab):
    with store.upload(f'{lab}/parts', 6) as upload:
        upload.put(3, b'def')
        assert upload.parts() == [(3, 3)]
        upload.put(0, b'abc')
    assert store.read(f'{lab}/parts') == b'abcdef'
    with pytest.raises(ZeroDivisionError), store.upload(f'{lab}/none', 6) as upload:
        upload.put(0, b'abc')
        raise ZeroDivisionError
    assert not store.exists(f'{lab}/none')


def test_changes_are_iterated_and_followed(store, lab):
    store.write(f'{lab}/a', b'1')
    seen = list(store.changes(lab))
    assert [change.name for change in seen if change.kind == 'created'][-1] == 'a'
    following = store.changes(lab, seen[-1].position, follow=True)
    store.write(f'{lab}/b', b'1')
    assert next(following).name == 'b'
    store.rm(f'{lab}/a')
    assert next(change for change in following if change.kind == 'removed').name == 'a'


def test_paths_are_like_those_of_pathlib(store, lab):
    path = cenote.Path(lab, store)
    (path / 'x').mkdir()
    assert (path / 'x/a.csv').write_text('a,b\n') == 4
    (path / 'x/y/deep.csv').parent.mkdir()
    (path / 'x/y/deep.csv').write_bytes(b'1')
    assert sorted(each.name for each in path.rglob('*.csv')) == ['a.csv', 'deep.csv']
    assert [each.name for each in path.glob('*/*.csv')] == ['a.csv']
    assert [each.name for each in (path / 'x').iterdir()] == ['a.csv', 'y']
    assert (path / 'x').is_dir() and (path / 'x/a.csv').is_file() and not (path / 'z').exists()
    with (path / 'x/a.csv').open() as file:
        assert file.read() == 'a,b\n'
    with (path / 'written').open('wb') as file:
        file.write(b'1')
    moved = (path / 'written').rename(f'{lab}/moved')
    assert (moved.name, moved.parent, moved.suffix, moved.read_bytes()) == ('moved', path, '', b'1')
    moved.touch()
    with pytest.raises(FileExistsError):
        (path / 'x').mkdir()
    with pytest.raises(TypeError, match='not on this machine'):
        os.fspath(moved)
    moved.unlink()
    moved.unlink(missing_ok=True)
    assert repr(path) == f"Path({lab!r}, Store({store.url!r}, user='ada'))"


def test_a_notebook_shows_tables_without_markup_of_the_names(store, lab):
    store.write(f'{lab}/<b>.txt', b'1')
    html = store.ls(lab)._repr_html_()
    assert '&lt;b&gt;.txt' in html and '<b>.txt' not in html
    assert store.url in store._repr_html_()
    assert '&lt;b&gt;.txt' in cenote.Path(f'{lab}/<b>.txt', store)._repr_html_()
    assert repr(store.stat(f'{lab}/<b>.txt')).startswith(f"Resource(path='{lab}/<b>.txt', kind='object', size=1")
