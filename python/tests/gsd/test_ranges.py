"""Reading trajectories behind HTTP."""

import base64
import errno
import http.server
import re
import threading
from urllib.parse import urlsplit

import numpy
import pytest

import cenote.gsd.fl
import cenote.gsd.hoomd
from cenote.gsd._ranges import secrets


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers ranges of `server.data`, and does what `server.fault` says."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers)))
        if self.server.faults:
            return self.server.faults.pop()(self)
        start, end = map(int, re.match(r'bytes=(\d+)-(\d+)', self.headers['Range']).groups())
        if self.headers.get('If-Match', self.server.tag) != self.server.tag:
            return self.answer(412, b'')
        data = self.server.data[start : end + 1]
        total = len(self.server.data)
        self.answer(206, data, {'Content-Range': f'bytes {start}-{start + len(data) - 1}/{total}'})

    def answer(self, status, data, headers=None):
        self.send_response(status)
        for name, value in {**(headers or {}), 'ETag': self.server.tag}.items():
            self.send_header(name, value)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


@pytest.fixture
def server(tmp_path):
    path = tmp_path / 'a.gsd'
    with cenote.gsd.hoomd.open(path, 'w') as traj:
        for step in range(400):
            frame = cenote.gsd.hoomd.Frame()
            frame.configuration.step = step
            frame.particles.N = 100
            frame.particles.position = numpy.full((100, 3), step, dtype=numpy.float32)
            frame.log['energy'] = numpy.array([step * 0.5])
            traj.append(frame)
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.data, server.tag, server.seen, server.faults = path.read_bytes(), '"1"', [], []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def url(server, scheme='cenote', who=''):
    return f'{scheme}://{who}127.0.0.1:{server.server_port}/lab/run 7/a.gsd'.replace(' ', '%20')


@pytest.mark.parametrize('scheme', ['cenote', 'cenote+http'])
def test_frames_are_read_by_ranges(server, scheme):
    traj = cenote.gsd.hoomd.open(url(server, scheme))
    assert len(traj) == 400
    assert traj[200].particles.position[0, 0] == 200
    read = sum(size_of(headers) for _, headers in server.seen)
    assert read < len(server.data), 'not the whole file'
    assert {path for path, _ in server.seen} == {'/v1/fs/lab/run%207/a.gsd'}


def size_of(headers):
    start, end = map(int, re.match(r'bytes=(\d+)-(\d+)', headers['Range']).groups())
    return end + 1 - start


def test_reading_in_order_takes_few_requests(server):
    traj = cenote.gsd.hoomd.open(url(server, 'http'))
    assert [frame.configuration.step for frame in traj] == list(range(400))
    assert len(server.seen) < 10
    assert traj.read_many('log/energy').shape == (400, 1)
    assert cenote.gsd.hoomd.read_log(url(server))['log/energy'][7] == 3.5


def test_threads_read_at_the_same_time(server):
    traj = cenote.gsd.hoomd.open(url(server))
    wrong = []

    def read(start):
        for index in range(start, 400, 7):
            if traj[index].particles.position[0, 0] != index:
                wrong.append(index)

    threads = [threading.Thread(target=read, args=(i,), daemon=True) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert not any(thread.is_alive() for thread in threads)
    assert not wrong


def nobody(monkeypatch):
    for name in ('CENOTE_URL', 'CENOTE_TOKEN', 'CENOTE_USER', 'CENOTE_PASSWORD', 'CENOTE_TICKET'):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ('who', 'environment', 'expected'),
    [
        ('ada:pa%20ss@', {}, 'Basic ' + base64.b64encode(b'ada:pa ss').decode()),
        ('', {'CENOTE_TOKEN': 't0ken'}, 'Bearer t0ken'),
        (
            '',
            {'CENOTE_USER': 'ada', 'CENOTE_PASSWORD': 'x'},
            'Basic ' + base64.b64encode(b'ada:x').decode(),
        ),
        ('', {}, None),
    ],
)
def test_who_asks(server, monkeypatch, who, environment, expected):
    nobody(monkeypatch)
    monkeypatch.setenv('CENOTE_URL', f'http://127.0.0.1:{server.server_port}/')
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    file = cenote.gsd.fl.open(url(server, who=who), 'r')
    assert server.seen[0][1].get('Authorization') == expected
    assert 'pa%20ss' not in file.name


@pytest.mark.parametrize('home', [None, '/srv/store', 'http://127.0.0.1:1', 'https://example.org'])
def test_what_the_environment_says_is_for_its_store_only(server, monkeypatch, home):
    nobody(monkeypatch)
    for name in ('CENOTE_TOKEN', 'CENOTE_USER', 'CENOTE_PASSWORD', 'CENOTE_TICKET'):
        monkeypatch.setenv(name, 'a secret')
    if home:
        monkeypatch.setenv('CENOTE_URL', home)
    cenote.gsd.fl.open(url(server), 'r')
    assert not {'Authorization', 'Cenote-Ticket'} & set(server.seen[0][1])
    server.faults.append(lambda handler: handler.answer(401, b''))
    with pytest.raises(PermissionError, match='told to CENOTE_URL only'):
        cenote.gsd.fl.open(url(server), 'r')


def test_nobody_else_hears_in_clear_text_who_asks(monkeypatch):
    nobody(monkeypatch)
    plain = urlsplit('cenote+http://store.example.org:8470/a.gsd')
    assert secrets(plain, False) == ({}, False)
    with pytest.raises(ValueError, match='in clear text'):
        cenote.gsd.fl.open('cenote+http://ada:x@store.example.org:8470/a.gsd', 'r')
    monkeypatch.setenv('CENOTE_TOKEN', 't0ken')
    assert secrets(plain, False) == ({}, True)
    monkeypatch.setenv('CENOTE_URL', 'https://store.example.org:8470')
    with pytest.raises(ValueError, match='in clear text'):
        cenote.gsd.fl.open('cenote+http://store.example.org:8470/a.gsd', 'r')
    monkeypatch.setenv('CENOTE_URL', 'http://store.example.org:8470')
    assert secrets(plain, False) == ({'Authorization': 'Bearer t0ken'}, False)


def test_credentials_are_for_stores_only(server, monkeypatch):
    monkeypatch.setenv('CENOTE_TOKEN', 't0ken')
    cenote.gsd.fl.open(url(server, 'http'), 'r')
    assert 'Authorization' not in server.seen[0][1]


def test_content_that_was_replaced_is_not_mixed(server):
    traj = cenote.gsd.hoomd.open(url(server))
    server.tag = '"2"'
    with pytest.raises(OSError, match='replaced while it was read'):
        traj[300]


@pytest.mark.parametrize(
    ('status', 'error'), [(404, FileNotFoundError), (401, PermissionError), (403, PermissionError)]
)
def test_refusals(server, status, error):
    server.faults.append(lambda handler: handler.answer(status, b'{"detail": "because"}'))
    with pytest.raises(error, match='because') as raised:
        cenote.gsd.hoomd.open(url(server))
    assert raised.value.filename == url(server)


def test_a_server_without_ranges(server):
    server.faults.append(lambda handler: handler.answer(200, server.data))
    with pytest.raises(OSError, match='no byte ranges') as raised:
        cenote.gsd.hoomd.open(url(server))
    assert raised.value.errno == errno.EOPNOTSUPP


def test_a_server_that_falters_is_asked_again(server):
    def hang_up(handler):
        handler.close_connection = True

    server.faults += [hang_up, lambda handler: handler.answer(503, b'')]
    assert len(cenote.gsd.hoomd.open(url(server))) == 400
    # Two that failed, the start of the file, and its index.
    assert len(server.seen) == 4


def test_a_url_is_only_read(server):
    with pytest.raises(ValueError, match="Only mode 'r'"):
        cenote.gsd.hoomd.open(url(server), 'r+')


@pytest.mark.parametrize('address', ['cenote://', 'cenote:///lab/a.gsd', 'http://:80/a'])
def test_a_url_names_a_host(address):
    with pytest.raises(ValueError, match='does not name a host'):
        cenote.gsd.hoomd.open(address)


def test_a_server_that_is_not_there_is_named(server):
    address = url(server)
    server.server_close()
    with pytest.raises(ConnectionRefusedError) as raised:
        cenote.gsd.hoomd.open(address)
    assert raised.value.filename == address
