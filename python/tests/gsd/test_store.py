"""Reading trajectories from a real server."""

import os
import re
import subprocess
import sys
import urllib.request

import numpy
import pytest
from program import PASSWORD, program

import cenote.gsd.hoomd

FRAMES = 400

pytestmark = pytest.mark.skipif(
    program() is None,
    reason='no program to serve a store: `cargo build -p cenote-cli`, or name it in CENOTE_PROGRAM',
)


class Store:
    """A store, and its server."""

    def __init__(self, directory):
        self.directory = directory
        (directory / 'config.toml').write_text('')
        self.run('init', directory / 'store', '--admin', 'ada', '--password-stdin', text=PASSWORD)
        serve = [program(), 'serve', directory / 'store', '--listen', '127.0.0.1:0']
        self.server = subprocess.Popen(
            serve, env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.url = self.server.stdout.readline().strip().removeprefix('listening on ')

    def environment(self):
        """The environment of the program, without the settings of this machine."""
        who = {'CENOTE_USER': 'ada', 'CENOTE_PASSWORD': PASSWORD}
        own = {name: value for name, value in os.environ.items() if not name.startswith('CENOTE_')}
        url = {'CENOTE_URL': self.url, **who} if hasattr(self, 'url') else {}
        return {**own, 'CENOTE_CONFIG': str(self.directory / 'config.toml'), **url}

    def run(self, *arguments, text='', **environment):
        done = subprocess.run(
            [program(), *map(str, arguments)],
            env={**self.environment(), **environment},
            input=text,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done

    def address(self, path):
        """The URL of a path, for `open`."""
        return f'{self.url.replace("http://", "cenote://")}{path}'

    def sent(self):
        """The number of completed requests for bytes, and of bytes sent, since the start."""
        with urllib.request.urlopen(f'{self.url}/metrics') as answer:
            text = answer.read().decode()
        line = r'^cenote_http_requests_total\{route="/v1/fs/.*method="GET".*\} (\d+)$'
        requests = re.findall(line, text, re.M)
        sent = re.search(r'^cenote_http_sent_bytes_total (\d+)', text, re.M)
        return sum(map(int, requests)), int(sent[1])

    def stop(self):
        self.server.terminate()
        self.server.wait(timeout=30)
        self.server.stdout.close()


@pytest.fixture(scope='module')
def store(tmp_path_factory):
    directory = tmp_path_factory.mktemp('store')
    path = directory / 'traj.gsd'
    with cenote.gsd.hoomd.open(path, 'w') as traj:
        for step in range(FRAMES):
            frame = cenote.gsd.hoomd.Frame()
            frame.configuration.step = step
            frame.particles.N = 1000
            frame.particles.position = numpy.full((1000, 3), step, dtype=numpy.float32)
            traj.append(frame)
    store = Store(directory)
    store.size = path.stat().st_size
    store.run('put', path, ':/traj.gsd')
    yield store
    store.stop()


@pytest.fixture
def who(monkeypatch, store):
    """Sends a request as the administrator."""
    monkeypatch.setenv('CENOTE_URL', store.url)
    monkeypatch.delenv('CENOTE_TOKEN', raising=False)
    monkeypatch.delenv('CENOTE_TICKET', raising=False)
    monkeypatch.setenv('CENOTE_USER', 'ada')
    monkeypatch.setenv('CENOTE_PASSWORD', PASSWORD)


def test_one_frame_is_read_without_the_others(store, who):
    requests, sent = store.sent()
    traj = cenote.gsd.hoomd.open(store.address('/traj.gsd'))
    assert len(traj) == FRAMES
    assert (traj[321].particles.position == 321).all()
    requests, sent = (after - before for after, before in zip(store.sent(), (requests, sent)))
    assert sent < store.size / 10, f'{sent} of {store.size} bytes'
    assert 1 <= requests <= 5


def test_reading_in_order_reads_ahead(store, who):
    requests, _ = store.sent()
    traj = cenote.gsd.hoomd.open(store.address('/traj.gsd'))
    for step, frame in enumerate(traj):
        assert frame.configuration.step == step
        assert frame.particles.position[0, 0] == step
    assert 1 <= store.sent()[0] - requests < FRAMES / 20
    assert traj.read_many('particles/position', slice(0, 400, 100), rows=slice(0, 1)).shape == (4, 1, 3)


def test_a_file_that_is_replaced_is_not_mixed(store, who):
    store.run('cp', ':/traj.gsd', ':/changing.gsd')
    traj = cenote.gsd.hoomd.open(store.address('/changing.gsd'))
    store.run('put', __file__, ':/changing.gsd')
    with pytest.raises(OSError, match='replaced while being read'):
        traj[300]


def test_refusals_of_the_store(store, who, monkeypatch):
    with pytest.raises(FileNotFoundError, match='nothing is at /gone.gsd'):
        cenote.gsd.hoomd.open(store.address('/gone.gsd'))
    with pytest.raises(OSError, match='has no content'):
        cenote.gsd.hoomd.open(store.address('/'))
    monkeypatch.setenv('CENOTE_PASSWORD', 'another')
    with pytest.raises(PermissionError):
        cenote.gsd.hoomd.open(store.address('/traj.gsd'))


def test_tokens_and_tickets_give_access(store, who, monkeypatch):
    token = store.run('token', 'add', 'test', '--level', 'read', '--json').stdout
    ticket = store.run('ticket', 'add', '/traj.gsd', '--json').stdout
    for name in ('CENOTE_USER', 'CENOTE_PASSWORD'):
        monkeypatch.delenv(name)
    with pytest.raises(OSError):
        cenote.gsd.hoomd.open(store.address('/traj.gsd'))
    with monkeypatch.context() as context:
        context.setenv('CENOTE_TOKEN', re.search(r'"token": ?"([^"]+)"', token)[1])
        assert len(cenote.gsd.hoomd.open(store.address('/traj.gsd'))) == FRAMES
    monkeypatch.setenv('CENOTE_TICKET', re.search(r'"ticket": ?"([^"]+)"', ticket)[1])
    assert len(cenote.gsd.hoomd.open(store.address('/traj.gsd'))) == FRAMES


def test_the_program_opens_an_interpreter_on_a_file_in_the_store(store):
    done = store.run(
        'gsd', 'read', ':/traj.gsd',
        text='print(len(traj), handle.nframes, traj[7].configuration.step)',
        CENOTE_PYTHON=sys.executable,
    )
    assert f'{FRAMES} {FRAMES} 7\n' in done.stdout
    assert f'Number of frames: {FRAMES}' in done.stderr


def test_a_chunk_from_the_store_can_be_loaded_with_numpy(store, who, tmp_path):
    url = f'{store.url}/v1/gsd/chunk?path=/traj.gsd&frame=9&name=particles/position&rows=10:12'
    manager = urllib.request.HTTPPasswordMgrWithPriorAuth()
    manager.add_password(None, store.url, 'ada', PASSWORD, is_authenticated=True)
    opener = urllib.request.build_opener(urllib.request.HTTPBasicAuthHandler(manager))
    with opener.open(url) as answer:
        (tmp_path / 'rows.npy').write_bytes(answer.read())
    assert numpy.load(tmp_path / 'rows.npy').tolist() == [[9.0, 9.0, 9.0]] * 2
