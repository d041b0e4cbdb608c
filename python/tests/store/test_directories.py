"""Whole directories, put and got by a store: links, files that are unchanged, and the past."""

import os

import pytest

import cenote
from cenote.store import errors


@pytest.fixture
def source(tmp_path):
    """A directory with links to a file, to a directory, to itself, and to nothing."""
    root = tmp_path / 'source'
    for name in ('a', 'd/b'):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    for link, target in {'to-a': 'a', 'to-d': 'd', 'd/up': '..', 'gone': 'nowhere'}.items():
        (root / link).symlink_to(target)
    return root


def below(root):
    """The paths below a directory: the target of a link, and the text of a file."""
    found = {}
    for folder, names, files in os.walk(root):
        for path in (os.path.join(folder, name) for name in names + files):
            link = os.path.islink(path)
            text = os.readlink(path) if link else None if os.path.isdir(path) else open(path).read()
            found[os.path.relpath(path, root)] = (link, text)
    return found


def test_links_are_put_and_got_as_links(store, lab, source, tmp_path):
    store.put(source, f'{lab}/copy')
    assert {each.name: each.target for each in store.ls(f'{lab}/copy')}['to-d'] == 'd'
    store.get(f'{lab}/copy', tmp_path / 'back')
    assert below(tmp_path / 'back') == below(source)
    position = list(store.changes(lab))[-1].position
    store.put(source, f'{lab}/copy')
    assert not list(store.changes(lab, position))
    # A link is replaced, and a file in its place is reported.
    (tmp_path / 'back/to-a').unlink()
    (tmp_path / 'back/to-a').symlink_to('elsewhere')
    (tmp_path / 'back/gone').unlink()
    (tmp_path / 'back/gone').write_text('mine')
    with pytest.raises(errors.TransferError) as raised:
        store.get(f'{lab}/copy', tmp_path / 'back')
    assert [path for path, _ in raised.value.failures] == ['gone']
    assert isinstance(raised.value.failures[0][1], FileExistsError)
    assert (tmp_path / 'back/to-a').read_text() == 'a' and (tmp_path / 'back/gone').read_text() == 'mine'


def test_links_are_followed_on_request(store, lab, source):
    for name in ('d/up', 'gone'):
        (source / name).unlink()
    store.put(source, f'{lab}/copy', follow=True)
    assert store.read(f'{lab}/copy/to-d/b') == b'd/b' and store.read(f'{lab}/copy/to-a') == b'a'
    assert store.du(f'{lab}/copy').objects == 4


def test_nothing_is_written_through_a_link(store, lab, tmp_path):
    store.write(f'{lab}/copy/d/b', b'1')
    (tmp_path / 'outside').mkdir()
    (tmp_path / 'back').mkdir()
    (tmp_path / 'back/d').symlink_to('../outside')
    with pytest.raises(NotADirectoryError, match='nothing is written through it'):
        store.get(f'{lab}/copy', tmp_path / 'back')
    assert not list((tmp_path / 'outside').iterdir())


def test_files_that_are_unchanged_are_not_got_again(store, lab, source, tmp_path):
    store.put(source, f'{lab}/copy')
    received = []
    for expected in (4, 4):
        store.get(f'{lab}/copy', tmp_path / 'back', progress=received.append)
        assert sum(received) == expected
    (tmp_path / 'back/a').write_text('X')
    (tmp_path / 'back/d/b').chmod(0o600)
    store.get(f'{lab}/copy', tmp_path / 'back', progress=received.append)
    assert sum(received) == 8 and below(tmp_path / 'back') == below(source)
    assert (tmp_path / 'back/d/b').stat().st_mode == (source / 'd/b').stat().st_mode


@pytest.fixture
def before(store, lab):
    """A moment at which there were other contents, and one that is not kept."""
    store.versions_policy(lab, 'each-change')
    store.trash_keep(lab, 86_400)
    for name, text in {'in/a': 'first', 'in/d/b': 'deep'}.items():
        store.write(f'{lab}/{name}', text)
    position = list(store.changes(lab))[-1].position
    store.write(f'{lab}/in/a', 'second one')
    store.write(f'{lab}/in/c', 'new')
    store.rm(f'{lab}/in/d', recursive=True)
    return position


def test_the_past_is_got(store, lab, before, tmp_path):
    store.get(f'{lab}/in', tmp_path / 'back', as_of=before)
    assert below(tmp_path / 'back') == {'a': (False, 'first'), 'd': (False, None), 'd/b': (False, 'deep')}
    store.get(f'{lab}/in/a', tmp_path / 'a', as_of=before)
    assert (tmp_path / 'a').read_text() == 'first'
    with pytest.raises(FileNotFoundError):
        store.get(f'{lab}/in/c', tmp_path / 'c', as_of=before)
    assert not (tmp_path / 'c').exists()


def test_what_is_no_longer_kept_is_reported(store, lab, tmp_path):
    store.write(f'{lab}/in/a', b'1')
    store.write(f'{lab}/in/b', b'2')
    position = list(store.changes(lab))[-1].position
    store.rm(f'{lab}/in/a', permanent=True)
    with pytest.raises(errors.TransferError) as raised:
        store.get(f'{lab}/in', tmp_path / 'back', as_of=position)
    assert [(path, error.kind) for path, error in raised.value.failures] == [(f'{lab}/in/a', 'expired')]
    assert below(tmp_path / 'back') == {'b': (False, '2')}


def test_a_path_of_the_past_is_read(store, lab, before):
    path = cenote.Path(f'{lab}/in', store, as_of=before)
    assert (path / 'a').read_text() == 'first' and (path / 'a').stat().size == 5
    assert sorted(each.name for each in path.iterdir()) == ['a', 'd']
    assert [each.read_bytes() for each in path.rglob('b')] == [b'deep']
    assert (path / 'd').is_dir() and not (path / 'c').exists() and (path / 'a').parent == path
    assert path != cenote.Path(f'{lab}/in', store) and f'as_of={before!r}' in repr(path)
    with (path / 'a').open() as file:
        assert file.read() == 'first'
    for change in (path.rmdir, (path / 'a').unlink, (path / 'x').mkdir, (path / 'a').touch):
        with pytest.raises(OSError, match='can only be read'):
            change()
    with pytest.raises(OSError, match='can only be read'):
        (path / 'a').open('w')


def test_versions_are_labelled_and_pruned(store, lab):
    store.versions_policy(lab, 'each-change', keep=3)
    for text in ('1', '2', '3', '4', '5', '6'):
        store.write(f'{lab}/a', text)
    kept = store.versions(f'{lab}/a')
    assert len(kept) == 3
    store.versions_label(f'{lab}/a', kept[-1].version, 'good')
    store.versions_prune(f'{lab}/a', keep=0)
    assert [version.label for version in store.versions(f'{lab}/a')] == ['good']
    store.versions_label(f'{lab}/a', kept[-1].version, None)
    assert [version.label for version in store.versions(f'{lab}/a')] == [None]


def test_words_are_found(store, lab):
    store.write(f'{lab}/Water box.txt', b'1')
    store.write(f'{lab}/other', b'1')
    store.meta_set(f'{lab}/other', 'note', 'two boxes')
    assert [found.name for found in store.find(lab, text='"water box"')] == ['Water box.txt']
    assert {found.name for found in store.find(lab, text='box*')} == {'Water box.txt', 'other'}
    position = list(store.changes(lab))[-1].position
    store.rm(f'{lab}/other')
    assert len(list(store.find(lab, text='box*'))) == 1
    assert len(list(store.find(lab, text='box*', as_of=position))) == 2
