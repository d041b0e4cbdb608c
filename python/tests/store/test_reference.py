"""The reference is made from the docstrings, and their examples are right."""

import doctest
import importlib
import importlib.util
import pathlib

import numpy
import pytest

import cenote
import cenote.gsd.fl
import cenote.gsd.hoomd

PYTHON = pathlib.Path(__file__).parents[2]
MODULES = [
    'cenote', 'cenote.gsd.fl', 'cenote.gsd.hoomd', 'cenote.gsd.pygsd', 'cenote.keyset', 'cenote.lakesuperior',
    'cenote.lakesuperior._repository', 'cenote.lakesuperior.dictionaries.namespaces', 'cenote.lakesuperior.env', 'cenote.store',
    'cenote.store._connect',
    'cenote.store._sync', 'cenote.store._sync_access', 'cenote.store._sync_contents', 'cenote.store._sync_history',
    'cenote.store._sync_places', 'cenote.store._sync_tree', 'cenote.store.errors', 'cenote.store.filesystem', 'cenote.store.path',
]
OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def test_the_reference_is_made_from_the_docstrings():
    spec = importlib.util.spec_from_file_location('reference', PYTHON / 'scripts' / 'reference.py')
    reference = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(reference)
    assert reference.TARGET.read_text() == reference.page(), 'run python/scripts/reference.py'


def examples():
    for name in MODULES:
        yield from doctest.DocTestFinder(exclude_empty=True).find(importlib.import_module(name), name)


EXAMPLES = [example for example in examples() if example.examples]


@pytest.fixture
def ready(server, environment, store, tmp_path, monkeypatch):
    """What the examples are about, in the store and in the working directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr('cenote.lakesuperior.env._current', None)
    (tmp_path / 'run7.csv').write_text('step,energy\n0,-1.5\n1,-3.0\n')
    if store.exists('/lab'):
        store.rm('/lab', recursive=True)
    store.put('run7.csv', '/lab/run7.csv')


def trajectories():
    """Writes those that are read in examples."""
    with cenote.gsd.hoomd.open('traj.gsd', 'w') as traj:
        for step in range(100):
            frame = cenote.gsd.hoomd.Frame()
            frame.configuration.step = 1000 * step
            frame.particles.N = 10
            frame.particles.position = numpy.full((10, 3), step + 1, 'float32')
            frame.particles.velocity = numpy.full((10, 3), step, 'float32')
            traj.append(frame)
    for name in ('a.gsd', 'trajectory.gsd'):
        pathlib.Path(name).write_bytes(pathlib.Path('traj.gsd').read_bytes())


def file(is_read):
    """A file of chunks, to be read or to be written."""
    file = cenote.gsd.fl.open('written.gsd', 'w', 'mine', 'none', [1, 0])
    for _ in range(2 * is_read):
        for name in ('particles/N', 'particles/position', 'position'):
            file.write_chunk(name, numpy.zeros((10, 3)))
        file.end_frame()
    file.flush()
    return file


@pytest.mark.parametrize('example', EXAMPLES, ids=lambda example: example.name)
def test_an_example_is_right(example, ready, server, store):
    example.globs = {'cenote': cenote, 'numpy': numpy, 'store': store}
    if 'gsd' in example.name:
        trajectories()
        example.globs.update(file=file('write' not in example.name), positions=numpy.zeros((10, 3)))
        store.put('a.gsd', '/lab/a.gsd')
    for each in example.examples:
        each.source = each.source.replace('store.example.org', server.url.removeprefix('http://'))
    told = []
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    runner.run(example, out=told.append)
    assert not runner.failures, ''.join(told)


def test_the_verbs_have_examples():
    named = {example.name.rpartition('.')[2] for example in EXAMPLES}
    assert named >= {'stat', 'ls', 'find', 'read', 'write', 'put', 'get', 'upload', 'changes', 'changeset', 'connect', 'Path'}
