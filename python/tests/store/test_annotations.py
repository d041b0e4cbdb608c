"""The types, the names and the cost of an import."""

import ast
import importlib.util
import inspect
import pathlib
import subprocess
import sys

import pytest

import cenote.store
from cenote import _cenote

PYTHON = pathlib.Path(__file__).parents[2]


def test_the_synchronous_store_is_generated_from_the_asynchronous_one():
    spec = importlib.util.spec_from_file_location('unasync', PYTHON / 'scripts' / 'unasync.py')
    unasync = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(unasync)
    for source, target in unasync.FILES.items():
        made = unasync.made(source)
        assert (unasync.STORE / target).read_text() == made, 'run python/scripts/unasync.py'


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
    for name in ('numpy', 'fsspec', 'asyncio', 'pandas', 'cenote.store._aio'):
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


def declared(body):
    """The parameters of each function that a stub declares, by its name and that of its class."""
    for node in body:
        if isinstance(node, ast.ClassDef):
            yield from ((f'{node.name}.{name}', names) for name, names in declared(node.body))
        elif isinstance(node, ast.FunctionDef):
            is_property = any(getattr(each, 'id', '') == 'property' for each in node.decorator_list)
            names = [argument.arg for argument in node.args.args]
            defaults = len(node.args.defaults)
            yield node.name, None if is_property else (names, defaults)


def found(module, prefix):
    """The same for the module itself."""
    for name, value in vars(module).items():
        if inspect.isclass(value) and value.__module__.startswith('cenote._cenote'):
            yield f'{prefix}.{name}.__new__', inspect.signature(value) if name != 'Pending' else None
            for member, method in vars(value).items():
                if not member.startswith('__') or member in ('__await__', '__len__'):
                    is_property = inspect.isgetsetdescriptor(method)
                    yield f'{prefix}.{name}.{member}', None if is_property else inspect.signature(method)
        elif inspect.isbuiltin(value):
            yield f'{prefix}.{name}', inspect.signature(value)


def test_the_stub_of_the_native_module_matches_it():
    stub = ast.parse((PYTHON / 'cenote' / '_cenote.pyi').read_text())
    said = dict(declared(stub.body))
    for prefix in ('store', 'gsd'):
        for name, signature in found(getattr(_cenote, prefix), prefix):
            if name.endswith('.__new__'):
                continue
            names, defaults = said.pop(name) or (None, None)
            if signature is None:
                assert names is None, name
                continue
            parameters = signature.parameters.values()
            assert names == [parameter.name for parameter in parameters], name
            assert defaults == sum(parameter.default is not parameter.empty for parameter in parameters), name
    assert {name.rpartition('.')[2] for name in said} == {'__new__'}, said


@pytest.mark.parametrize('checker', [['mypy', '--strict', '--no-warn-return-any'], ['pyright', '--pythonpath', sys.executable]])
def test_the_package_itself_is_checked(checker, tmp_path):
    """The whole package except the wrapper of fsspec, which has no types."""
    made = ['', '_access', '_contents', '_history', '_places', '_tree']
    modules = ['_async', '_connect', '_local', '_model', '_model_access', '_model_places', '_wait', 'errors', 'path']
    modules += [f'{kind}{name}' for name in made for kind in ('_aio', '_sync')]
    files = [str(PYTHON / 'cenote' / 'store' / f'{name}.py') for name in modules]
    (tmp_path / 'pyrightconfig.json').write_text('{"typeCheckingMode": "strict"}')
    run = [sys.executable, '-m', *checker, *files, str(PYTHON / 'cenote' / '_cenote.pyi')]
    done = subprocess.run(run, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
