"""The types, the names and what an import costs."""

import importlib.util
import inspect
import pathlib
import subprocess
import sys

import pytest

import cenote.store

PYTHON = pathlib.Path(__file__).parents[2]


def test_the_waiting_store_is_made_from_the_awaited_one():
    spec = importlib.util.spec_from_file_location('unasync', PYTHON / 'scripts' / 'unasync.py')
    unasync = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(unasync)
    made = unasync.made()
    assert (unasync.STORE / '_sync.py').read_text() == made, 'run python/scripts/unasync.py'


def test_everything_public_has_a_docstring():
    for name in cenote.store.__all__:
        value = getattr(cenote.store, name)
        assert inspect.getdoc(value), name
        for member, method in inspect.getmembers(value, inspect.isfunction):
            if not member.startswith('_'):
                assert inspect.getdoc(method), f'{name}.{member}'


def test_importing_the_package_imports_little():
    code = 'import sys, cenote; print(*sys.modules)'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert 'cenote' in loaded
    for name in ('numpy', 'fsspec', 'asyncio', 'pandas', 'cenote._cenote', 'cenote.store', 'cenote.gsd'):
        assert name not in loaded, name
    code = 'import sys, cenote; cenote.connect; print(*sys.modules)'
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True, check=True)
    for name in ('numpy', 'fsspec', 'asyncio', 'pandas'):
        assert name not in done.stdout.split(), name


EXAMPLE = '''
import asyncio

import cenote
from cenote.store import AsyncStore, NotFoundError, Resource, Store


def sync(store: Store) -> list[str]:
    resource: Resource = store.put('a.csv', '/lab/a.csv')
    try:
        content: bytes = store.read(resource.path)
    except NotFoundError as error:
        print(error.hint, len(error.kind))
        content = b''
    print(content.decode(), (cenote.Path('/lab', store) / 'a.csv').read_text())
    return [found.path for found in store.find('/lab', ('t', '>=', '300'), kind='object')]


async def tasks(store: AsyncStore) -> None:
    sizes = [found.size or 0 async for found in store.tree('/lab')]
    print(sum(sizes), (await store.stat('/lab')).modified)


sync(cenote.connect())
asyncio.run(tasks(cenote.connect_async()))
'''


@pytest.mark.parametrize('checker', [['mypy', '--strict'], ['pyright', '--pythonpath', sys.executable]])
def test_a_program_is_checked_strictly(checker, tmp_path):
    (tmp_path / 'pyrightconfig.json').write_text('{"typeCheckingMode": "strict"}')
    (tmp_path / 'program.py').write_text(EXAMPLE)
    run = [sys.executable, '-m', *checker, 'program.py']
    done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    (tmp_path / 'program.py').write_text(EXAMPLE + 'cenote.connect().read(3)\n')
    done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode != 0 and f'program.py:{EXAMPLE.count(chr(10)) + 1}' in done.stdout
