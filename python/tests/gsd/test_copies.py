"""Copies of values behave as the original: copied, pickled, and from another process."""

import concurrent.futures
import copy
import io
import multiprocessing
import pickle

import numpy
import pytest

import cenote.gsd.fl
import cenote.gsd.hoomd
import cenote.gsd.pygsd
from cenote.gsd.hoomd import Frame

CONTAINERS = tuple(cenote.gsd.hoomd._CONTAINERS)
#: Earlier ones know no `bytes`, which memory as a file needs.
PROTOCOLS = range(2, pickle.HIGHEST_PROTOCOL + 1)


class NotedFrame(Frame):
    """A subclass with an attribute of its own."""


def identity(value):
    """Sent to a worker process, which sends it back."""
    return value


@pytest.fixture(scope='module')
def worker():
    """A process that shares nothing with this one."""
    context = multiprocessing.get_context('spawn')
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        yield lambda value: pool.submit(identity, value).result(timeout=60)


def pickled(protocol):
    return lambda value: pickle.loads(pickle.dumps(value, protocol))


DUPLICATES = {
    'copy': copy.copy,
    'deepcopy': copy.deepcopy,
    **{f'pickle {protocol}': pickled(protocol) for protocol in PROTOCOLS},
    'twice': lambda value: copy.deepcopy(pickled(2)(copy.copy(value))),
    'worker': None,
}


@pytest.fixture(params=DUPLICATES)
def duplicate(request):
    """A way to copy a value."""
    return DUPLICATES[request.param] or request.getfixturevalue('worker')


def full_frame(step, N):
    """A frame in which every container has values."""
    frame = Frame()
    frame.configuration.step = step
    frame.configuration.box = [3, 4, 5, 0.5, 0, 0]
    frame.particles.N = N
    frame.particles.types = ['A', 'B']
    frame.particles.type_shapes = [{'type': 'Sphere', 'diameter': 2}, {}]
    frame.particles.mass = numpy.arange(N, dtype=numpy.float32)
    frame.particles.position = numpy.full((N, 3), step, dtype=numpy.float32)
    frame.particles.body = numpy.arange(N, dtype=numpy.int32)
    for name, width in {'bonds': 2, 'angles': 3, 'dihedrals': 4, 'impropers': 4, 'pairs': 2}.items():
        container = getattr(frame, name)
        container.N = 2
        container.types = ['x', 'y']
        container.typeid = [1, 0]
        container.group = [list(range(width)), list(range(width))]
    frame.constraints.N = 1
    frame.constraints.value = [2.5]
    frame.constraints.group = [[0, 1]]
    frame.log['energy'] = numpy.array([step * 0.5])
    frame.log['note'] = f'step {step}'
    return frame


@pytest.fixture
def path(tmp_path):
    """Frame 0 has all values, 1 and 3 inherit them, and 2 has another N; frame 4 has few values."""
    path = tmp_path / 'a.gsd'
    with cenote.gsd.hoomd.open(path, 'w') as traj:
        for step, N in enumerate([5, 5, 6, 5]):
            frame = full_frame(step, N)
            if step == 3:
                frame.particles.mass = None
                frame.bonds.N = 0
                frame.bonds.typeid = frame.bonds.group = None
            traj.append(frame)
        frame = Frame()
        frame.configuration.step = 9
        traj.append(frame)
    return path


def values(part):
    return {name: getattr(part, name) for name in vars(part)}


def assert_same(found, expected):
    """The same type, attributes and values, all the way down."""
    assert type(found) is type(expected)
    if isinstance(expected, numpy.ndarray):
        assert found.dtype == expected.dtype
        numpy.testing.assert_array_equal(found, expected)
    elif isinstance(expected, dict):
        assert list(found) == list(expected)
        for name in expected:
            assert_same(found[name], expected[name])
    elif isinstance(expected, cenote.gsd.hoomd.Part):
        assert values(found).keys() == values(expected).keys()
        for name, value in values(expected).items():
            assert_same(getattr(found, name), value)
    else:
        assert found == expected


def appended_to(path, frame, first=None):
    """The bytes of a file with this frame, after another one of the same writer."""
    with cenote.gsd.hoomd.open(path, 'w') as traj:
        traj.append(first or full_frame(0, 5))
        traj.append(frame)
    return path.read_bytes()


@pytest.mark.parametrize('number', range(5))
def test_a_copy_of_a_frame_equals_the_frame(path, duplicate, number):
    with cenote.gsd.hoomd.open(path) as traj:
        # The copy does not depend on which attributes were accessed before.
        found, expected = duplicate(traj[number]), traj[number]
    assert_same(found, expected)


@pytest.mark.parametrize('container', CONTAINERS)
@pytest.mark.parametrize('number', [0, 2, 3, 4])
def test_a_copy_of_a_container_equals_the_container(path, duplicate, container, number):
    with cenote.gsd.hoomd.open(path) as traj:
        found, expected = duplicate(getattr(traj[number], container)), getattr(traj[number], container)
    assert_same(found, expected)


@pytest.mark.parametrize('number', range(5))
def test_a_copy_of_a_frame_is_written_like_the_frame(path, tmp_path, duplicate, number):
    other = tmp_path / 'other.gsd'
    with cenote.gsd.hoomd.open(path) as traj:
        for first in (None, Frame()):
            expected = appended_to(other, traj[number], first)
            assert appended_to(other, duplicate(traj[number]), first) == expected


def test_a_copy_in_another_file_keeps_its_values(path, tmp_path, duplicate):
    first = full_frame(77, 1)
    first.particles.charge = [8]
    with cenote.gsd.hoomd.open(path) as traj, cenote.gsd.hoomd.open(tmp_path / 'b.gsd', 'w') as other:
        other.append(first)
        other.extend(duplicate(traj[number]) for number in range(5))
    with cenote.gsd.hoomd.open(path) as traj, cenote.gsd.hoomd.open(tmp_path / 'b.gsd') as other:
        for number in range(5):
            for name in CONTAINERS:
                assert_same(getattr(other[number + 1], name), getattr(traj[number], name))


def test_changing_a_deep_copy_does_not_change_the_original(path):
    with cenote.gsd.hoomd.open(path) as traj:
        frame = traj[1]
        changed = copy.deepcopy(frame)
        changed.particles.mass[:] = 7
        changed.particles.types.append('C')
        changed.log['energy'][0] = -1
        assert_same(frame, traj[1])


def test_a_copy_of_ones_own_frame(duplicate):
    for frame in (Frame(), full_frame(3, 4)):
        assert_same(duplicate(frame), frame)
    frame = NotedFrame()
    frame.note = 'mine'
    frame.particles.note = 'mine, too'
    found = duplicate(frame)
    assert (type(found), found.note, found.particles.note) == (NotedFrame, 'mine', 'mine, too')


def test_a_large_field_of_frame_0_is_in_the_copy(tmp_path, duplicate):
    N = 300_000
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd', 'w') as traj:
        for step in range(2):
            frame = Frame()
            frame.configuration.step = step
            frame.particles.N = N
            frame.particles.mass = numpy.arange(N, dtype=numpy.float32)
            traj.append(frame)
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd') as traj:
        assert_same(duplicate(traj[1]).particles, traj[1].particles)


def opened(path, how):
    """A trajectory of a file, opened in one of the possible ways."""
    if how == 'path':
        return cenote.gsd.hoomd.open(path)
    if how == 'pygsd':
        file = cenote.gsd.pygsd.GSDFile(path.open('rb'))
    elif how == 'pygsd memory':
        file = cenote.gsd.pygsd.GSDFile(io.BytesIO(path.read_bytes()))
    else:
        file = cenote.gsd.fl.open(io.BytesIO(path.read_bytes()), 'r')
    return cenote.gsd.hoomd.HOOMDTrajectory(file)


@pytest.mark.parametrize('how', ['path', 'pygsd', 'pygsd memory', 'memory'])
def test_a_copy_of_a_trajectory_reads_the_same(path, duplicate, how):
    traj = opened(path, how)
    found = duplicate(traj)
    assert len(found) == len(traj)
    assert found.precision == traj.precision
    for number in (3, 0, -1):
        assert_same(found[number], traj[number])
    numpy.testing.assert_array_equal(found.read_many('log/energy', [0, 3]), [[0], [1.5]])
    view = duplicate(traj[1:4:2])
    assert [frame.configuration.step for frame in view] == [1, 3]
    steps = iter(traj)
    next(steps)
    assert [frame.configuration.step for frame in duplicate(steps)] == [0, 1, 2, 3, 9]


@pytest.mark.parametrize('how', ['path', 'pygsd', 'pygsd memory', 'memory'])
def test_a_copy_of_a_file_reads_the_same(path, duplicate, how):
    file = opened(path, how).file
    found = duplicate(file)
    assert type(found) is type(file)
    assert (found.nframes, found.mode, found.schema, found.schema_version) == (5, 'r', 'hoomd', (2, 0))
    assert found.read_chunk(2, 'log/note') == 'step 2'
    found.close()
    if duplicate is not copy.copy:
        assert file.nframes == 5


def test_a_copy_of_a_closed_file_reopens_it(path, duplicate):
    file = cenote.gsd.fl.open(path, 'r')
    file.close()
    assert duplicate(file).nframes == 5


def test_files_being_written_cannot_be_copied(path, duplicate):
    with cenote.gsd.hoomd.open(path, 'r+') as traj:
        for value in (traj, traj.file, traj[:2]):
            if duplicate is copy.copy and value is not traj.file:
                continue
            with pytest.raises(pickle.PickleError, match='Only read only'):
                duplicate(value)
