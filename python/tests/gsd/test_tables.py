"""Logs as tables of pandas, trajectories as datasets of xarray."""

import subprocess
import sys

import numpy
import pytest

import cenote.gsd.hoomd

FRAMES, PARTICLES = 30, 40


@pytest.fixture
def path(tmp_path):
    path = tmp_path / 'traj.gsd'
    generator = numpy.random.default_rng(7)
    with cenote.gsd.hoomd.open(path, 'w') as traj:
        for step in range(FRAMES):
            frame = cenote.gsd.hoomd.Frame()
            frame.configuration.step = step * 10
            frame.configuration.box = [4, 4, 4 + step, 0, 0, 0]
            frame.particles.N, frame.particles.types = PARTICLES, ['A', 'B']
            frame.particles.typeid = [0] * 30 + [1] * 10
            frame.particles.position = generator.uniform(-1, 1, (PARTICLES, 3)).astype('float32')
            if step % 2:
                frame.particles.orientation = generator.uniform(0, 1, (PARTICLES, 4)).astype('float32')
            frame.bonds.N, frame.bonds.group = 2, [[0, 1], [1, 2]]
            frame.log['energy'] = numpy.array([-1.5 * step])
            frame.log['md/pressure'] = numpy.arange(6.0) + step
            traj.append(frame)
    return path


def test_a_log_is_a_table(path):
    pandas = pytest.importorskip('pandas')
    logged = cenote.gsd.hoomd.read_log(path)
    table = cenote.gsd.hoomd.read_log(path, as_frame=True)
    assert isinstance(table, pandas.DataFrame) and table.index.name == 'step'
    assert table.index.tolist() == list(range(0, 300, 10))
    assert list(table)[:2] == ['log/energy', 'log/md/pressure[0]'] and table.shape == (FRAMES, 7)
    assert (table['log/energy'] == logged['log/energy']).all()
    assert (table['log/md/pressure[5]'] == logged['log/md/pressure'][:, 5]).all()
    scalars = cenote.gsd.hoomd.read_log(path, scalar_only=True, as_frame=True)
    assert list(scalars) == ['log/energy'] and scalars['log/energy'].loc[100] == -15


def test_a_trajectory_is_a_dataset(path):
    xarray = pytest.importorskip('xarray')
    traj = cenote.gsd.hoomd.open(path)
    data = traj.to_xarray()
    assert isinstance(data, xarray.Dataset) and data.sizes['frame'] == FRAMES
    assert data.attrs['types'] == ['A', 'B'] and data.step[3] == 30
    assert data.position.dims == ('frame', 'particle', 'xyz')
    assert data.orientation.dims == ('frame', 'particle', 'quaternion')
    assert data.typeid.dims == ('frame', 'particle')
    assert data.box.dims == ('frame', 'box') and data.box[5, 2] == 9
    assert data['bonds.group'].dims == ('frame', 'bond', 'bond_member')
    assert data['log.energy'].dims[0] == 'frame' and data['log.md.pressure'].shape == (FRAMES, 6)
    for name in ('position', 'orientation', 'typeid'):
        whole = numpy.stack([getattr(frame.particles, name) for frame in traj])
        assert (data[name].values == whole).all()


KEYS = [
    {'frame': 5}, {'frame': -1}, {'frame': slice(3, 20, 4)}, {'frame': slice(None, None, -7)},
    {'frame': [9, 2, 2]}, {'frame': []}, {'particle': 7}, {'particle': slice(5, 25, 3)},
    {'particle': slice(20, 3, -2)}, {'particle': [1, 30]}, {'xyz': 1}, {'xyz': [2, 0]},
    {'frame': 3, 'particle': slice(2, 9), 'xyz': 0}, {'frame': [1, 4], 'particle': [0, 5], 'xyz': slice(1, 3)},
    {'frame': slice(4, 4)}, {'particle': slice(9, 9)},
]


@pytest.mark.parametrize('key', KEYS, ids=str)
def test_selections_equal_those_of_the_whole_array(path, key):
    pytest.importorskip('xarray')
    lazy = cenote.gsd.hoomd.open(path).to_xarray(['particles/position']).position
    loaded = lazy.copy(deep=True).load()
    assert lazy.isel(key).identical(loaded.isel(key))


def test_dask_computes_on_chunks(path):
    pytest.importorskip('xarray')
    dask = pytest.importorskip('dask')
    data = cenote.gsd.hoomd.open(path).to_xarray()
    with dask.config.set(scheduler='threads'):
        assert data.chunk(frame=10).typeid.sum().compute() == FRAMES * 10
        assert data.chunk(frame=7)['log.energy'].min().compute() == -1.5 * (FRAMES - 1)


def test_a_dataset_is_shown_without_reading_it(path):
    pytest.importorskip('xarray')
    reads = []

    class Source:
        size = path.stat().st_size

        def read_range(self, offset, length):
            reads.append(length)
            return path.read_bytes()[offset : offset + length]

    data = cenote.gsd.hoomd.open(Source()).to_xarray()
    assert 'position' in repr(data) and len(reads) <= 2


def test_frames_of_different_sizes_cannot_be_one_array(path):
    pytest.importorskip('xarray')
    with cenote.gsd.hoomd.open(path, 'a') as traj:
        frame = cenote.gsd.hoomd.Frame()
        frame.particles.N = 3
        traj.append(frame)
    traj = cenote.gsd.hoomd.open(path)
    with pytest.raises(ValueError, match='from 3 to 40 particles'):
        traj.to_xarray()
    assert traj.to_xarray(['log/energy']).sizes['frame'] == FRAMES + 1


def test_an_empty_trajectory_is_an_empty_dataset(tmp_path):
    pytest.importorskip('xarray')
    cenote.gsd.hoomd.open(tmp_path / 'empty.gsd', 'w').close()
    assert cenote.gsd.hoomd.open(tmp_path / 'empty.gsd').to_xarray().sizes['frame'] == 0


def test_pandas_and_xarray_are_optional(path):
    code = f'''
import sys
sys.modules['pandas'] = sys.modules['xarray'] = None
import cenote.gsd.hoomd
traj = cenote.gsd.hoomd.open({str(path)!r})
for call in (traj.to_xarray, lambda: cenote.gsd.hoomd.read_log({str(path)!r}, as_frame=True)):
    try:
        call()
    except ImportError as error:
        print(error)
'''
    done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert done.stdout.count('pip install') == 2, done.stderr
