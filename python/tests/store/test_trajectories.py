"""Trajectories written to a store, and read while they grow."""

import os
import pickle
import signal
import subprocess
import sys

import numpy
import pytest

import cenote.gsd.fl
import cenote.gsd.hoomd
from cenote.gsd import _stage
from cenote.store import errors

pytestmark = pytest.mark.usefixtures('environment')


@pytest.fixture
def url(server, lab):
    return f'{server.url.replace("http://", "cenote://")}{lab}/run7/traj.gsd'


def frame(step, particles=50):
    made = cenote.gsd.hoomd.Frame()
    made.configuration.step = step
    made.particles.N = particles
    made.particles.types = ['A', 'B']
    generator = numpy.random.default_rng(step)
    made.particles.position = generator.uniform(-1, 1, (particles, 3)).astype('float32')
    made.log['energy'] = numpy.array([-1.5 * step])
    return made


def twice(tmp_path, url, work):
    """The bytes of a file after the same work on a local one and on one in a store."""
    for name in (tmp_path / 'local.gsd', url):
        work(name)
    return (tmp_path / 'local.gsd').read_bytes()


def path_of(url):
    return '/' + url.split('/', 3)[3]


@pytest.mark.parametrize('flush', [0, 1, 7])
def test_the_bytes_are_those_of_a_local_file(store, url, tmp_path, flush):
    def work(name):
        with cenote.gsd.hoomd.open(name, 'w') as traj:
            for step in range(200):
                traj.append(frame(step))
                if flush and step % flush == 0 and step < 40:
                    traj.flush()
        with cenote.gsd.hoomd.open(name, 'a') as traj:
            assert len(traj) == 200
            traj.extend(frame(step) for step in range(200, 300))
            assert traj[5].configuration.step == 5
        with cenote.gsd.hoomd.open(name, 'r+') as traj:
            traj.append(frame(300, particles=70))

    assert twice(tmp_path, url, work) == store.read(path_of(url))
    traj = cenote.gsd.hoomd.open(url)
    assert (len(traj), traj[300].particles.N, traj[299].configuration.step) == (301, 70, 299)


def test_large_chunks_and_truncation_are_sent_immediately(store, url, tmp_path):
    large = numpy.arange(3 << 20, dtype='float64')

    def work(name):
        with cenote.gsd.fl.open(name, 'w', 'mine', 'none', [1, 0]) as file:
            for number in range(3):
                file.write_chunk(f'chunk/{number}', large + number)
                file.write_chunk('note', 'text')
                file.end_frame()
            assert file.nframes == 0
            file.flush()
            assert file.read_chunk(2, 'chunk/2', rows=slice(5, 6)).tolist() == [7.0]
        with cenote.gsd.fl.open(name, 'r+') as file:
            file.truncate()
            file.write_chunk('small', numpy.arange(10))
            file.end_frame()

    assert twice(tmp_path, url, work) == store.read(path_of(url))


def test_unpublished_frames_are_invisible(store, url):
    traj = cenote.gsd.hoomd.open(url, 'w')
    traj.append(frame(0))
    assert not store.exists(path_of(url))
    traj.flush()
    published = store.stat(path_of(url))
    traj.append(frame(1))
    assert store.stat(path_of(url)).etag == published.etag
    assert len(traj) == 1 and len(cenote.gsd.hoomd.open(url)) == 1
    assert repr(traj) == f'<HOOMDTrajectory {url!r}, 1 frames>'
    traj.close()
    assert repr(traj) == f'<HOOMDTrajectory {url!r}, closed>'
    assert len(cenote.gsd.hoomd.open(url)) == 2
    # There is nothing to publish.
    etag = store.stat(path_of(url)).etag
    cenote.gsd.hoomd.open(url, 'r+').close()
    assert store.stat(path_of(url)).etag == etag


def test_a_reader_follows_a_trajectory_that_grows(url, tmp_path):
    for name in (tmp_path / 'local.gsd', url):
        writer = cenote.gsd.hoomd.open(name, 'w')
        writer.append(frame(0))
        writer.flush()
        reader = cenote.gsd.hoomd.open(name)
        for step in range(1, 400):
            writer.append(frame(step))
            if step % 133 == 0:
                writer.flush()
                reader.refresh()
                assert len(reader) == step + 1
                assert reader[-1].configuration.step == step
                assert reader[0].particles.types == ['A', 'B']
        assert len(pickle.loads(pickle.dumps(reader))) == len(reader)
        writer.close()
        reader.refresh()
        assert len(reader) == 400 and reader.read_many('log/energy').shape == (400, 1)
        with pytest.raises(ValueError, match='open for writing'):
            cenote.gsd.hoomd.open(name, 'r+').refresh()
        reader.close()
        with pytest.raises(ValueError, match='not open'):
            reader.refresh()


def test_modes_are_those_of_local_files(store, url, tmp_path):
    path = path_of(url)
    for mode, error in [('r+', FileNotFoundError), ('r', FileNotFoundError), ('q', ValueError)]:
        with pytest.raises(error):
            cenote.gsd.hoomd.open(url, mode)
    with pytest.raises(ValueError, match='Provide application'):
        cenote.gsd.fl.open(url, 'w')
    assert not store.exists(path)
    cenote.gsd.hoomd.open(url, 'x').close()
    with pytest.raises(FileExistsError):
        cenote.gsd.hoomd.open(url, 'x')
    with pytest.raises(RuntimeError, match='incorrect schema'):
        cenote.gsd.fl.open(url, 'r+', schema='other')
    store.write(path, b'no trajectory')
    with pytest.raises(RuntimeError, match='Not a GSD file'):
        cenote.gsd.hoomd.open(url, 'r+')
    assert store.read(path) == b'no trajectory'
    with pytest.raises(IsADirectoryError):
        cenote.gsd.hoomd.open(url.rpartition('/')[0], 'a')
    with pytest.raises(ValueError, match="Only mode 'r'"):
        cenote.gsd.hoomd.open(url.replace('cenote', 'http'), 'w')


def test_the_store_of_the_settings_needs_no_host(lab):
    with cenote.gsd.hoomd.open(f'cenote://{lab}/traj.gsd', 'w') as traj:
        traj.extend([frame(0, particles=20_000), frame(1, particles=20_000)])
    traj = cenote.gsd.hoomd.open(f'cenote://{lab}/traj.gsd')
    assert pickle.loads(pickle.dumps(traj))[1].configuration.step == 1
    with cenote.gsd.hoomd.open(f'cenote://{lab}/traj.gsd', 'a') as more:
        more.append(frame(2))
    with pytest.raises(errors.ChangedError, match='replaced while being read'):
        traj[1].particles.position
    traj.refresh()
    assert len(traj) == 3


def test_a_login_of_the_program_reads_and_writes(server, url, monkeypatch):
    server.cenote('login', server.url, '--password-stdin', text='a secret of the tests')
    for name in ('CENOTE_URL', 'CENOTE_USER', 'CENOTE_PASSWORD'):
        monkeypatch.delenv(name)
    with cenote.gsd.hoomd.open(url, 'w') as traj:
        traj.append(frame(0))
    assert len(pickle.loads(pickle.dumps(cenote.gsd.hoomd.open(url)))) == 1
    server.cenote('logout', server.url)
    with pytest.raises(OSError):
        cenote.gsd.hoomd.open(url)


def test_of_two_writers_the_second_is_refused(store, url):
    first = cenote.gsd.hoomd.open(url, 'w')
    first.append(frame(0))
    first.flush()
    second = cenote.gsd.hoomd.open(url, 'r+')
    second.append(frame(1))
    first.append(frame(1))
    first.flush()
    with pytest.raises(errors.ChangedError, match='changed by somebody else') as raised:
        second.flush()
    assert raised.value.hint
    with pytest.raises(errors.ChangedError):
        second.close()
    first.close()
    assert len(cenote.gsd.hoomd.open(url)) == 2
    created = cenote.gsd.hoomd.open(url + '2', 'x')
    store.write(path_of(url) + '2', b'1')
    with pytest.raises(FileExistsError):
        created.close()
    assert store.read(path_of(url) + '2') == b'1'


def test_missing_write_access_is_reported_on_opening(server, store, url, monkeypatch):
    server.cenote('user', 'add', 'eve', '--password-stdin', text='a secret of the tests')
    monkeypatch.setenv('CENOTE_USER', 'eve')
    with pytest.raises(PermissionError):
        cenote.gsd.hoomd.open(url, 'w')
    monkeypatch.setenv('CENOTE_URL', 'http://127.0.0.1:1')
    with pytest.raises((PermissionError, FileNotFoundError)):
        cenote.gsd.hoomd.open(url, 'w')


PROGRAM = '''
import os, sys
import cenote.gsd.hoomd
traj = cenote.gsd.hoomd.open(sys.argv[1], 'w')
def append(step):
    frame = cenote.gsd.hoomd.Frame()
    frame.configuration.step = step
    frame.particles.N = 1000
    traj.append(frame)
append(0)
traj.flush()
append(1)
'''


@pytest.mark.parametrize(
    ('end', 'frames'),
    [
        ('print("ready", flush=True); sys.stdin.read()', 1),
        ('os._exit(0)', 1),
        ('', 2),
        ('raise SystemExit(3)', 2),
        ('child = os.fork()\nif child == 0: sys.exit()\nos.waitpid(child, 0)\nos._exit(0)', 1),
    ],
)
def test_the_end_of_a_program_preserves_published_frames(server, url, end, frames):
    run = subprocess.Popen(
        [sys.executable, '-c', PROGRAM + end, url],
        env=server.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )
    if 'ready' in end:
        assert run.stdout.readline() == 'ready\n'
        run.send_signal(signal.SIGKILL)
    run.communicate(timeout=60)
    assert len(cenote.gsd.hoomd.open(url)) == frames


def test_a_restarted_server_receives_all_frames(own_server, monkeypatch, tmp_path):
    for name, value in own_server.environment().items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(_stage, 'WAITING', 1 << 16)
    url = own_server.url.replace('http://', 'cenote://') + '/lab/traj.gsd'
    with cenote.gsd.hoomd.open(url, 'w') as traj, cenote.gsd.hoomd.open(tmp_path / 'a', 'w') as local:
        traj.append(frame(0))
        own_server.stop()
        # It waits until the server is back.
        for step in range(1, 5):
            traj.append(frame(step, particles=2000))
        with pytest.raises(errors.UnreachableError):
            traj.flush()
        own_server.start()
        traj.flush()
        local.extend([frame(0), *(frame(step, particles=2000) for step in range(1, 5))])
    store = own_server.connect()
    assert store.read('/lab/traj.gsd') == (tmp_path / 'a').read_bytes()


def test_a_writer_belongs_to_its_process(url):
    traj = cenote.gsd.hoomd.open(url, 'w')
    child = os.fork()
    if child == 0:
        code = 1
        try:
            traj.flush()
        except OSError:
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    traj.append(frame(0))
    traj.close()
    assert len(cenote.gsd.hoomd.open(url)) == 1
