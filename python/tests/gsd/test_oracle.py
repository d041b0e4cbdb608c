"""Random operations, on the real library and on ours: the same bytes, the same results.

Runs where the package ``gsd`` is installed. ``GSD_ORACLE_SEEDS`` sets the number of histories.
"""

import os

import numpy
import pytest

import cenote.gsd.fl
import cenote.gsd.hoomd

reference_fl = pytest.importorskip('gsd.fl')
reference_hoomd = pytest.importorskip('gsd.hoomd')

pytestmark = pytest.mark.skipif(
    reference_fl.GSDFile is cenote.gsd.fl.GSDFile, reason='gsd is an alias of ours'
)

SEEDS = range(int(os.environ.get('GSD_ORACLE_SEEDS', '15')))
PATHS = {
    'particles': {'mass': 1, 'position': 3, 'orientation': 4, 'image': 3, 'typeid': 1, 'body': 1},
    'bonds': {'typeid': 1, 'group': 2},
    'angles': {'group': 3},
    'constraints': {'value': 1, 'group': 2},
}
INTEGERS = {'image': numpy.int32, 'typeid': numpy.uint32, 'body': numpy.int32, 'group': numpy.uint32}


def file_operations(rng):
    """A history of one file: (method, arguments)."""
    for _ in range(rng.integers(5, 200)):
        what = rng.choice(['chunk'] * 12 + ['end'] * 6 + ['flush', 'limit', 'reopen'])
        if what == 'chunk':
            dtype = rng.choice(['u1', 'i2', 'u4', 'i8', 'f4', 'f8'])
            shape = rng.integers(0, 9), rng.integers(1, 5)
            name = 'n' * rng.integers(1, 40) + str(rng.integers(0, 60))
            yield 'chunk', (name, rng.integers(0, 100, shape).astype(dtype))
        else:
            yield what, (int(rng.integers(1, 400)),)


def play(module, path, rng):
    """Run a history; return the results of its operations."""
    seen = []
    file = module.open(path, 'w', 'oracle', 'none', [1, 2])
    written = set()
    for what, arguments in file_operations(rng):
        if what == 'chunk' and arguments[0] not in written:
            file.write_chunk(*arguments)
            written.add(arguments[0])
        elif what == 'end':
            file.end_frame()
            written.clear()
        elif what == 'flush':
            file.flush()
            seen.append((file.nframes, file.find_matching_chunk_names('n')))
        elif what == 'limit':
            # The reference misplaces data when the buffer holds more than the new limit.
            file.flush()
            file.maximum_write_buffer_size = arguments[0]
        elif what == 'reopen':
            file.close()
            file = module.open(path, 'r+')
            written.clear()
    file.close()
    return seen


@pytest.mark.parametrize('seed', SEEDS)
def test_files_have_the_same_bytes(tmp_path, seed):
    seen = [
        play(module, tmp_path / name, numpy.random.default_rng(seed))
        for name, module in (('real', reference_fl), ('ours', cenote.gsd.fl))
    ]
    assert seen[0] == seen[1]
    assert (tmp_path / 'real').read_bytes() == (tmp_path / 'ours').read_bytes()


def random_frame(module, rng, logged=False):
    """A frame in which some values are unchanged, some default, some new."""
    frame = module.Frame()
    if rng.random() < 0.8:
        frame.configuration.step = int(rng.integers(0, 3))
    if rng.random() < 0.3:
        frame.configuration.box = rng.choice([1.0, 2.5], 6)
    frame.particles.N = int(rng.choice([3, 3, 3, 4]))
    if rng.random() < 0.3:
        frame.particles.types = ['A', 'B', 'C'][: rng.integers(1, 4)]
    if rng.random() < 0.2:
        frame.particles.type_shapes = [{}, {'type': 'Sphere'}][: rng.integers(1, 3)]
    for path, fields in PATHS.items():
        container = getattr(frame, path)
        if path != 'particles' and rng.random() < 0.7:
            continue
        if path != 'particles':
            container.N = int(rng.integers(0, 3))
        for name, columns in fields.items():
            if rng.random() < 0.5:
                setattr(container, name, random_array(rng, container.N, columns, name))
    # The reference cannot read a log that frame 0 does not have.
    if logged or rng.random() < 0.5:
        frame.log['value'] = rng.integers(0, 3, 1).astype(numpy.float64)
    return frame


def random_array(rng, N, columns, name):
    dtype = INTEGERS.get(name) or rng.choice([numpy.float32, numpy.float64])
    shape = (N,) if columns == 1 else (N, columns)
    values = rng.choice([0, 0, 1, 7] if name in INTEGERS else [0.0, 1.0, 0.1, numpy.nan], shape)
    array = numpy.ascontiguousarray(values).astype(dtype)
    if rng.random() < 0.3:
        array[:] = 1 if name == 'mass' else 0
    return array.tolist() if rng.random() < 0.1 else array


@pytest.mark.parametrize('precision', ['single', 'double'])
@pytest.mark.parametrize('seed', SEEDS)
def test_trajectories_have_the_same_bytes(tmp_path, seed, precision):
    for name, module in (('real', reference_hoomd), ('ours', cenote.gsd.hoomd)):
        rng = numpy.random.default_rng(seed)
        mode = 'w'
        for _ in range(3):
            with module.open(tmp_path / name, mode, precision=precision) as traj:
                traj.extend(random_frame(module, rng) for _ in range(rng.integers(1, 8)))
            mode = 'r+'
    assert (tmp_path / 'real').read_bytes() == (tmp_path / 'ours').read_bytes()


@pytest.mark.parametrize('seed', SEEDS)
def test_trajectories_are_read_alike(tmp_path, seed):
    rng = numpy.random.default_rng(seed)
    with reference_hoomd.open(tmp_path / 'a', 'w') as traj:
        traj.extend(random_frame(reference_hoomd, rng, logged=i == 0) for i in range(8))
    with reference_hoomd.open(tmp_path / 'a') as real, cenote.gsd.hoomd.open(tmp_path / 'a') as our:
        assert len(our) == len(real)
        for index in rng.integers(0, len(real), 12).tolist():
            assert_same_frame(our[index], real[index])


def assert_same_frame(our, real):
    for path in cenote.gsd.hoomd._CONTAINERS:
        ours, reals = getattr(our, path), getattr(real, path)
        for name in reals._default_value:
            value, expected = getattr(ours, name), getattr(reals, name)
            numpy.testing.assert_array_equal(value, expected, err_msg=f'{path}/{name}')
            assert type(value) is type(expected)
            if isinstance(value, numpy.ndarray):
                assert value.dtype == expected.dtype
                assert value.flags.writeable == expected.flags.writeable
