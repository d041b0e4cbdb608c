"""Whole directories are copied to where fsspec would copy them: its own local file system is the reference."""

import itertools
import os

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem

#: Which target there is before, and whether source and target end with a slash.
CASES = list(itertools.product(('missing', 'empty', 'filled'), (False, True), (False, True)))


@pytest.fixture
def fs(environment):
    return fsspec.filesystem('cenote', skip_instance_cache=True)


@pytest.fixture
def source(tmp_path):
    """A directory of files, directories, empty ones, and links."""
    root = tmp_path / 'from'
    for path in ('a', 'deep/er/b', 'deep/c', 'with space/%41+é', 'deep.txt'):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(path)
    (root / 'empty/er').mkdir(parents=True)
    (root / 'link').symlink_to('a')
    (root / 'linked').symlink_to('deep')
    return root


def below(root):
    """The paths below a directory, each with its content, or none."""
    found = {}
    for path in root.rglob('*'):
        found[str(path.relative_to(root))] = None if path.is_dir() else path.read_text()
    return found


def prepare(fs, target, state):
    if state != 'missing':
        fs.makedirs(target, exist_ok=True)
    if state == 'filled':
        fs.pipe_file(f'{target}/a', b'old')
        fs.pipe_file(f'{target}/kept', b'kept')


def expected(source, root, state, slashes):
    """What fsspec itself makes of the same copy, between local directories."""
    local, target = LocalFileSystem(auto_mkdir=True), f'{root}/reference/to'
    os.makedirs(f'{root}/reference')
    prepare(local, target, state)
    local.put(f'{source}{"/" * slashes[0]}', f'{target}{"/" * slashes[1]}', recursive=True)
    return below(root / 'reference')


@pytest.mark.parametrize('case', CASES)
def test_a_directory_is_put_where_fsspec_would_put_it(fs, lab, tmp_path, source, case):
    state, *slashes = case
    prepare(fs, f'{lab}/to', state)
    fs.put(f'{source}{"/" * slashes[0]}', f'{lab}/to{"/" * slashes[1]}', recursive=True)
    found = {}
    for path, info in fs.find(lab, withdirs=True, detail=True).items():
        if path != lab:
            is_file = info['type'] == 'file'
            found[path.removeprefix(f'{lab}/')] = fs.cat(path).decode() if is_file else None
    assert found == expected(source, tmp_path, state, slashes)


@pytest.mark.parametrize('case', CASES)
def test_a_collection_is_got_to_where_fsspec_would_put_it(fs, lab, tmp_path, source, case):
    state, *slashes = case
    (source / 'link').unlink()
    (source / 'linked').unlink()
    fs.put(str(source), f'{lab}/from', recursive=True)
    local, target = LocalFileSystem(), f'{tmp_path}/got/to'
    os.makedirs(f'{tmp_path}/got')
    prepare(local, target, state)
    fs.get(f'{lab}/from{"/" * slashes[0]}', f'{target}{"/" * slashes[1]}', recursive=True)
    assert below(tmp_path / 'got') == expected(source, tmp_path, state, slashes)


def test_a_failed_file_is_reported_and_the_others_are_copied(fs, lab, tmp_path, source):
    (source / 'deep/dangling').symlink_to('nothing')
    with pytest.raises(FileNotFoundError, match='dangling'):
        fs.put(f'{source}/', f'{lab}/to', recursive=True)
    assert fs.cat(f'{lab}/to/deep/er/b') == b'deep/er/b'
    (tmp_path / 'back/deep/er/b').mkdir(parents=True)
    with pytest.raises(OSError):
        fs.get(f'{lab}/to/', f'{tmp_path}/back', recursive=True)
    assert (tmp_path / 'back/deep/c').read_text() == 'deep/c'


def test_progress_counts_files(fs, lab, tmp_path, source):
    for copy in (
        lambda callback: fs.put(f'{source}/', f'{lab}/to', recursive=True, callback=callback),
        lambda callback: fs.get(f'{lab}/to/', f'{tmp_path}/back', recursive=True, callback=callback),
    ):
        callback = fsspec.callbacks.Callback()
        copy(callback)
        assert callback.size == callback.value == 6


def test_links_in_the_store_are_left_out(server, fs, lab, tmp_path):
    (tmp_path / 'from').mkdir()
    (tmp_path / 'from/a').write_text('1')
    (tmp_path / 'from/link').symlink_to('a')
    server.cenote('put', '--recursive', tmp_path / 'from', f'{lab}/from')
    assert {info['type'] for info in fs.ls(f'{lab}/from')} == {'file', 'link'}
    fs.get(f'{lab}/from', f'{tmp_path}/to', recursive=True)
    assert below(tmp_path / 'to') == {'a': '1'}
