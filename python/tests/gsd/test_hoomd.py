"""Trajectories: differences from the reference, and additions to it."""

import copy
import pickle

import numpy
import pytest

import cenote.gsd.fl
import cenote.gsd.hoomd
from cenote.gsd.hoomd import Frame


def moving(step, N=4):
    frame = Frame()
    frame.configuration.step = step
    frame.particles.N = N
    frame.particles.position = numpy.full((N, 3), step, dtype=numpy.float32)
    return frame


@pytest.fixture
def path(tmp_path):
    """Ten frames; frame 0 has masses, which the others inherit, except frame 5, of another N."""
    path = tmp_path / 'traj.gsd'
    with cenote.gsd.hoomd.open(path, 'w') as traj:
        for step in range(10):
            frame = moving(step, N=5 if step == 5 else 4)
            if step == 0:
                frame.particles.mass = numpy.array([1, 2, 3, 4], dtype=numpy.float32)
            frame.log['energy'] = numpy.array([step * 0.5])
            traj.append(frame)
    return path


def test_an_inherited_array_is_that_of_the_initial_frame(path):
    with cenote.gsd.hoomd.open(path) as traj:
        frame = traj[3]
        assert frame.particles.mass is traj._initial_frame.particles.mass
        assert frame.particles.mass is traj[4].particles.mass
        assert not frame.particles.mass.flags.writeable
        assert frame.particles.position.flags.writeable
        assert traj[5].particles.mass.tolist() == [1] * 5


def test_a_frame_outlives_its_file(path):
    with cenote.gsd.hoomd.open(path) as traj:
        frame = traj[3]
    assert frame.particles.mass.tolist() == [1, 2, 3, 4]
    assert frame.bonds.N == 0
    assert frame.configuration.box.tolist() == [1, 1, 1, 0, 0, 0]


def test_the_attributes_of_a_frame_can_be_listed(path):
    with cenote.gsd.hoomd.open(path) as traj:
        frame = traj[3]
    assert list(vars(Frame())) == ['log', *cenote.gsd.hoomd._CONTAINERS]
    assert set(vars(frame.particles)) == set(cenote.gsd.hoomd.ParticleData._default_value)
    assert set(vars(frame.bonds)) == {'M', 'N', 'types', 'typeid', 'group'}
    assert set(vars(frame)) == {'log', *cenote.gsd.hoomd._CONTAINERS}
    with pytest.raises(AttributeError, match="'ParticleData' object has no attribute 'weight'"):
        _ = frame.particles.weight


@pytest.mark.parametrize('duplicate', [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
def test_frames_can_be_copied(path, duplicate):
    with cenote.gsd.hoomd.open(path) as traj:
        frame = duplicate(traj[3])
    assert type(frame) is Frame
    assert frame.particles.mass.tolist() == [1, 2, 3, 4]
    assert frame.particles.position.tolist() == [[3, 3, 3]] * 4
    frame.particles.mass = None
    assert frame.particles.mass is None


def test_indices_are_any_integers(path):
    with cenote.gsd.hoomd.open(path) as traj:
        assert traj[numpy.int64(3)].configuration.step == 3
        assert traj[numpy.int8(-1)].configuration.step == 9
        for wrong in (10, -11):
            with pytest.raises(IndexError):
                traj[wrong]
        for wrong in ('0', 1.0, None):
            with pytest.raises(TypeError):
                traj[wrong]


def test_an_invalid_frame_leaves_nothing(path):
    before = path.read_bytes()
    with cenote.gsd.hoomd.open(path, 'r+') as traj:
        frame = moving(10)
        frame.particles.velocity = numpy.zeros((7, 3))
        with pytest.raises(ValueError, match='reshape'):
            traj.append(frame)
        frame = moving(10)
        frame.particles.types = ['A', 'A']
        with pytest.raises(ValueError, match='unique'):
            traj.append(frame)
    assert path.read_bytes() == before


def test_text_is_not_only_ascii(tmp_path):
    frame = moving(0)
    frame.particles.types = ['α', 'B']
    frame.log['note'] = 'température'
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd', 'w') as traj:
        traj.append(frame)
        traj.append(moving(1))
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd') as traj:
        assert traj[1].particles.types == ['α', 'B']
        assert traj[1].log['note'] == 'température'


def test_values_may_be_anything_numpy_accepts(tmp_path):
    frame = moving(0, N=2)
    frame.particles.position = ((1, 2, 3), (4, 5, 6))
    frame.particles.typeid = [1, 0]
    frame.particles.types = ('A', 'B')
    frame.particles.velocity = numpy.asfortranarray(numpy.ones((2, 3)))
    frame.particles.mass = numpy.array([2, 3])[::-1]
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd', 'w') as traj:
        traj.append(frame)
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd') as traj:
        read = traj[0].particles
        assert read.position.tolist() == [[1, 2, 3], [4, 5, 6]]
        assert read.position.dtype == numpy.float32
        assert read.typeid.tolist() == [1, 0]
        assert read.types == ['A', 'B']
        assert read.velocity.tolist() == [[1, 1, 1]] * 2
        assert read.mass.tolist() == [3, 2]


def test_a_log_that_frame_0_does_not_have(tmp_path):
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd', 'w') as traj:
        traj.append(moving(0))
        frame = moving(1)
        frame.log['late'] = numpy.array([1.0])
        traj.append(frame)
        traj.append(moving(2))
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd') as traj:
        assert [list(frame.log) for frame in traj] == [[], ['late'], []]


def test_all_logs_at_once(tmp_path):
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd', 'w') as traj:
        for step in range(3):
            frame = moving(step)
            frame.log['one'] = numpy.array([step * 1.5])
            frame.log['row'] = numpy.array([[step, 1, 2]])
            frame.log['text'] = f'step {step}'
            if step == 0:
                frame.log['first'] = numpy.array([7, 8])
            traj.append(frame)
    log = cenote.gsd.hoomd.read_log(tmp_path / 'a.gsd')
    assert log['configuration/step'].tolist() == [0, 1, 2]
    assert log['log/one'].tolist() == [0, 1.5, 3]
    assert log['log/row'].tolist() == [[[0, 1, 2]], [[1, 1, 2]], [[2, 1, 2]]]
    assert log['log/text'].tolist() == ['step 0', 'step 1', 'step 2']
    assert log['log/first'].tolist() == [[7, 8]] * 3
    scalars = cenote.gsd.hoomd.read_log(tmp_path / 'a.gsd', scalar_only=True)
    assert set(scalars) == {'configuration/step', 'log/one', 'log/row', 'log/text'}


def test_logs_of_another_type_later_are_converted(tmp_path):
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd', 'w') as traj:
        for value in (numpy.array([1.5]), numpy.array([2], dtype=numpy.int32)):
            frame = moving(0)
            frame.log['x'] = value
            traj.append(frame)
    assert cenote.gsd.hoomd.read_log(tmp_path / 'a.gsd')['log/x'].tolist() == [1.5, 2.0]


def test_one_quantity_over_many_frames(path):
    with cenote.gsd.hoomd.open(path) as traj:
        positions = traj.read_many('particles/position', slice(0, 5))
        assert positions.shape == (5, 4, 3)
        assert positions[:, 0, 0].tolist() == [0, 1, 2, 3, 4]
        assert traj.read_many('log/energy')[:, 0].tolist() == [i * 0.5 for i in range(10)]
        assert traj.read_many('particles/mass', [0, -1]).tolist() == [[1, 2, 3, 4]] * 2
        assert traj.read_many('particles/mass', [5]).tolist() == [[1] * 5]
        assert traj.read_many('particles/charge', [1]).tolist() == [[0] * 4]
        assert traj[2:4].read_many('particles/position')[:, 0, 0].tolist() == [2, 3]


@pytest.mark.parametrize('rows', [slice(1, 3), slice(2, None), slice(None, -1), slice(-2, None)])
def test_some_particles_over_many_frames(path, rows):
    with cenote.gsd.hoomd.open(path) as traj:
        whole = traj.read_many('particles/mass', slice(0, 4))
        part = traj.read_many('particles/mass', slice(0, 4), rows=rows, threads=3)
        numpy.testing.assert_array_equal(part, whole[:, rows])


def test_quantities_that_cannot_be_one_array(path):
    with cenote.gsd.hoomd.open(path) as traj:
        with pytest.raises(ValueError, match='5 x 3 float32 in frame 5 but 4 x 3'):
            traj.read_many('particles/position')
        with pytest.raises(KeyError):
            traj.read_many('log/none')
        with pytest.raises(IndexError):
            traj.read_many('log/energy', [10])
        with pytest.raises(ValueError, match='at least one frame'):
            traj.read_many('log/energy', [])


def test_large_fields_of_frame_0_are_inherited_too(tmp_path):
    N = 200_000
    mass = numpy.arange(N, dtype=numpy.float32)
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd', 'w') as traj:
        for step in range(3):
            frame = moving(step, N)
            frame.particles.mass = mass
            traj.append(frame)
    size = (tmp_path / 'a.gsd').stat().st_size
    assert size < 4 * N * (3 * 3 + 2), 'the masses are written once'
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd') as traj:
        frames = list(traj)
    assert frames[2].particles.mass is frames[1].particles.mass
    for frame in frames:
        numpy.testing.assert_array_equal(frame.particles.mass, mass)
    assert not frames[2].particles.mass.flags.writeable


def test_minus_zero_and_nan_compare_as_numbers(tmp_path):
    with cenote.gsd.hoomd.open(tmp_path / 'a.gsd', 'w') as traj:
        for value in (1.0, -0.0, numpy.nan, numpy.nan, 1.0):
            frame = Frame()
            frame.particles.N = 1
            frame.particles.charge = numpy.array([value], dtype=numpy.float32)
            frame.particles.mass = numpy.array([numpy.nan], dtype=numpy.float32)
            traj.append(frame)
    with cenote.gsd.fl.open(tmp_path / 'a.gsd', 'r') as file:
        assert [file.chunk_exists(i, 'particles/charge') for i in range(5)] == [
            True, True, True, True, False,
        ]
        assert all(file.chunk_exists(i, 'particles/mass') for i in range(5))


def test_a_truncated_trajectory_starts_over(path):
    with cenote.gsd.hoomd.open(path, 'r+') as traj:
        assert len(traj) == 10
        _ = traj[1]
        traj.truncate()
        assert len(traj) == 0
        traj.append(moving(7))
        traj.append(moving(8))
    with cenote.gsd.hoomd.open(path) as traj:
        assert [frame.configuration.step for frame in traj] == [7, 8]
        assert traj[1].particles.mass.tolist() == [1] * 4


def test_a_trajectory_needs_one_of_our_files():
    class Other:
        schema = 'hoomd'
        schema_version = (1, 4)

    with pytest.raises(TypeError, match='cenote.gsd.fl'):
        cenote.gsd.hoomd.HOOMDTrajectory(Other())
