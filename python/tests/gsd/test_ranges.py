"""Reading trajectories behind HTTP."""

import base64
import contextlib
import copy
import errno
import http.server
import pickle
import re
import threading
from urllib.parse import urlsplit

import numpy
import pytest

import cenote.gsd.fl
import cenote.gsd.hoomd
from cenote.gsd._ranges import LONGEST_WAIT, Ranges, secrets


class FakeClock:
    """A clock that does not wait."""

    def __init__(self):
        self.slept = []

    def sleep(self, seconds):
        self.slept.append(seconds)

    def now(self):
        return 1_000_000_000 + sum(self.slept)

    def random(self):
        return 0.5


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves ranges of `server.data`, with the fault `server.fault`."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        self.server.seen.append((self.path, dict(self.headers)))
        if self.server.faults:
            return self.server.faults.pop()(self)
        self.answer_range()

    def answer_range(self):
        start, end = map(int, re.match(r'bytes=(\d+)-(\d+)', self.headers['Range']).groups())
        if self.headers.get('If-Match', self.server.tag) != self.server.tag:
            return self.answer(412, b'')
        data = self.server.data[start : end + 1]
        total = len(self.server.data)
        self.answer(206, data, {'Content-Range': f'bytes {start}-{start + len(data) - 1}/{total}'})

    def answer(self, status, data, headers=None):
        self.send_response(status)
        for name, value in {'ETag': self.server.tag, **(headers or {})}.items():
            if value is not None:
                self.send_header(name, value)
        self.send_header('Content-Length', str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args):
        pass


@pytest.fixture(scope='module')
def trajectory(tmp_path_factory):
    """The bytes of a trajectory."""
    path = tmp_path_factory.mktemp('ranges') / 'a.gsd'
    with cenote.gsd.hoomd.open(path, 'w') as traj:
        for step in range(400):
            frame = cenote.gsd.hoomd.Frame()
            frame.configuration.step = step
            frame.particles.N = 100
            frame.particles.position = numpy.full((100, 3), step, dtype=numpy.float32)
            frame.log['energy'] = numpy.array([step * 0.5])
            traj.append(frame)
    return path.read_bytes()


@contextlib.contextmanager
def serving(data):
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.daemon_threads = True
    server.data, server.tag, server.seen, server.faults = data, '"1"', [], []
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def server(trajectory):
    with serving(trajectory) as server:
        yield server


@pytest.fixture
def other(trajectory):
    """Another server with the same content."""
    with serving(trajectory) as server:
        yield server


def patient(address):
    """A trajectory that is read without waiting, and its clock."""
    clock = FakeClock()
    file = cenote.gsd.fl.open(Ranges(address, clock), 'r')
    return cenote.gsd.hoomd.HOOMDTrajectory(file), clock


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
def test_credentials_are_sent(server, monkeypatch, who, environment, expected):
    nobody(monkeypatch)
    monkeypatch.setenv('CENOTE_URL', f'http://127.0.0.1:{server.server_port}/')
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    file = cenote.gsd.fl.open(url(server, who=who), 'r')
    assert server.seen[0][1].get('Authorization') == expected
    assert 'pa%20ss' not in file.name


@pytest.mark.parametrize('home', [None, '/srv/store', 'http://127.0.0.1:1', 'https://example.org'])
def test_credentials_of_the_environment_are_sent_only_to_their_store(server, monkeypatch, home):
    nobody(monkeypatch)
    for name in ('CENOTE_TOKEN', 'CENOTE_USER', 'CENOTE_PASSWORD', 'CENOTE_TICKET'):
        monkeypatch.setenv(name, 'a secret')
    if home:
        monkeypatch.setenv('CENOTE_URL', home)
    cenote.gsd.fl.open(url(server), 'r')
    assert not {'Authorization', 'Cenote-Ticket'} & set(server.seen[0][1])
    server.faults.append(lambda handler: handler.answer(401, b''))
    with pytest.raises(PermissionError, match='sent to CENOTE_URL only'):
        cenote.gsd.fl.open(url(server), 'r')


def test_credentials_are_not_sent_unencrypted_to_other_machines(monkeypatch):
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


def test_credentials_are_sent_only_to_stores(server, monkeypatch):
    monkeypatch.setenv('CENOTE_TOKEN', 't0ken')
    cenote.gsd.fl.open(url(server, 'http'), 'r')
    assert 'Authorization' not in server.seen[0][1]


def test_content_that_was_replaced_is_not_mixed(server):
    traj = cenote.gsd.hoomd.open(url(server))
    server.tag = '"2"'
    with pytest.raises(OSError, match='replaced while being read'):
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
    with pytest.raises(OSError, match='not support byte ranges') as raised:
        cenote.gsd.hoomd.open(url(server))
    assert raised.value.errno == errno.EOPNOTSUPP


def hang_up(handler):
    handler.close_connection = True


def busy(status, **headers):
    return lambda handler: handler.answer(status, b'', headers)


def test_a_failing_server_is_retried(server):
    server.faults += [hang_up, busy(503)]
    traj, clock = patient(url(server))
    assert len(traj) == 400
    # Two failed requests, the start of the file, and its index.
    assert len(server.seen) == 4
    assert len(clock.slept) == 2


@pytest.mark.parametrize('status', [429, 500, 502, 503, 504])
def test_a_busy_server_is_retried_after_a_pause(server, status):
    traj, clock = patient(url(server, 'http'))
    server.faults += [busy(status)] * 4
    assert traj[300].configuration.step == 300
    assert len(clock.slept) == 4
    assert all(2 * one == pytest.approx(next) for one, next in zip(clock.slept, clock.slept[1:]))


@pytest.mark.parametrize('asked', ['7', 'Sun, 09 Sep 2001 01:46:47 GMT'])
def test_a_server_can_set_the_pause(server, asked):
    server.faults.append(busy(429, **{'Retry-After': asked}))
    assert patient(url(server, 'http'))[1].slept == [7]


@pytest.mark.parametrize('asked', [str(LONGEST_WAIT + 1), 'Mon, 09 Sep 2030 01:46:47 GMT'])
def test_pauses_are_limited(server, asked):
    server.faults.append(busy(503, **{'Retry-After': asked}))
    with pytest.raises(OSError, match='503'):
        patient(url(server, 'http'))


@pytest.mark.parametrize('asked', ['-1', 'soon', '', 'Mon, 09 Sep 1999 01:46:47 GMT'])
def test_an_invalid_pause_is_replaced_by_the_default(server, asked):
    server.faults.append(busy(503, **{'Retry-After': asked}))
    assert patient(url(server, 'http'))[1].slept == [pytest.approx(0.15)]


def test_a_server_that_stays_busy_is_an_error(server):
    traj, clock = patient(url(server))
    server.faults += [busy(503)] * 50
    with pytest.raises(OSError, match='503'):
        traj[300]
    assert 1 < len(clock.slept) < 10


@pytest.mark.parametrize('status', [400, 404, 410, 501])
def test_permanent_errors_are_not_retried(server, status):
    server.faults.append(lambda handler: handler.answer(status, b''))
    with pytest.raises(OSError):
        cenote.gsd.hoomd.open(url(server))
    assert len(server.seen) == 1


def moved(target, status=302):
    """Responds to every request with a redirect."""
    return lambda handler: handler.answer(status, b'', {'Location': target, 'ETag': None})


def redirect_all(server, target, status=302):
    class Always(list):
        def pop(self):
            return moved(target, status)

    server.faults = Always([True])


@pytest.mark.parametrize('status', [301, 302, 303, 307, 308])
def test_redirects_are_followed(server, other, status):
    redirect_all(server, url(other, 'http'), status)
    traj, _ = patient(url(server, 'http'))
    assert traj[200].particles.position[0, 0] == 200
    assert len(server.seen) == 1, 'where the content is, is asked once'


def test_a_redirect_may_be_relative(server):
    server.faults.append(moved('../other/place.gsd?v=1'))
    patient(url(server, 'http'))
    assert server.seen[1][0] == '/lab/other/place.gsd?v=1'


def test_an_expired_address_is_requested_again(server, other):
    redirect_all(server, url(other, 'http'))
    traj, _ = patient(url(server, 'http'))
    other.faults.append(lambda handler: handler.answer(403, b'expired'))
    assert traj[300].configuration.step == 300
    assert len(server.seen) == 2


@pytest.mark.parametrize('scheme', ['cenote', 'http'])
def test_credentials_are_sent_only_to_their_server(server, other, monkeypatch, scheme):
    nobody(monkeypatch)
    monkeypatch.setenv('CENOTE_URL', f'http://127.0.0.1:{server.server_port}')
    monkeypatch.setenv('CENOTE_TICKET', 'a ticket')
    server.faults += [moved(url(other, 'http', 'eve:guess@')), moved('/again')]
    patient(url(server, scheme, 'ada:secret@'))
    secret = {'Authorization', 'Cenote-Ticket'} if scheme == 'cenote' else {'Authorization'}
    assert len(server.seen) == 2
    assert all(secret <= set(headers) for _, headers in server.seen)
    assert not any({'Authorization', 'Cenote-Ticket'} & set(headers) for _, headers in other.seen)


def test_credentials_are_sent_again_to_their_server(server, other, monkeypatch):
    nobody(monkeypatch)
    server.faults.append(moved(url(other, 'http')))
    other.faults.append(moved(url(server, 'http')))
    patient(url(server, 'http', 'ada:secret@'))
    assert ['Authorization' in headers for _, headers in server.seen] == [True] * len(server.seen)
    assert 'Authorization' not in other.seen[0][1]


def test_redirects_are_limited(server):
    redirect_all(server, '/round')
    with pytest.raises(OSError, match='redirects more than 10 times'):
        patient(url(server, 'http'))


@pytest.mark.parametrize('target', ['file:///etc/passwd', 'ftp://127.0.0.1/a', 'http://:80/a'])
def test_invalid_redirects_are_refused(server, target):
    server.faults.append(moved(target))
    with pytest.raises(OSError, match='the server redirects to'):
        patient(url(server, 'http'))


def test_redirects_from_tls_to_plain_http_are_refused():
    ranges = object.__new__(Ranges)
    ranges._prepare('https://example.org/a.gsd', FakeClock())
    with pytest.raises(OSError, match='from HTTPS to HTTP'):
        ranges._redirected(ranges._home, 'http://example.org/a.gsd')
    assert ranges._redirected(ranges._home, '//example.net/b?c').url() == 'https://example.net:443/b?c'


def wrong(**headers):
    """The requested bytes, with other headers."""

    def answer(handler):
        real = handler.answer
        handler.answer = lambda status, data, own=None: real(status, data, {**(own or {}), **headers})
        handler.answer_range()

    return answer


#: What an answer may say that is not what was asked for, of the content that was pinned.
WRONG = {
    'another tag': ({'ETag': '"2"'}, 'replaced while being read'),
    'no tag': ({'ETag': None}, 'replaced while being read'),
    'another size': ({'Content-Range': 'bytes 0-9/99'}, 'replaced while being read'),
    'another range': ({'Content-Range': 'bytes 0-65535/{size}'}, 'not those from'),
    'no range': ({'Content-Range': None}, 'did not send the range'),
    'an unknown size': ({'Content-Range': 'bytes 0-9/*'}, 'did not send the range'),
    'nonsense': ({'Content-Range': 'lines 1-2/3'}, 'did not send the range'),
    'compressed': ({'Content-Encoding': 'gzip'}, 'compressed'),
}


@pytest.mark.parametrize('what', WRONG)
def test_every_response_is_checked(server, what):
    headers, said = WRONG[what]
    size = str(len(server.data))
    headers = {name: value and value.replace('{size}', size) for name, value in headers.items()}
    traj, _ = patient(url(server, 'http'))
    assert traj[0].configuration.step == 0
    server.faults.append(wrong(**headers))
    with pytest.raises(OSError, match=said) as raised:
        traj[300]
    assert raised.value.filename == url(server, 'http')


@pytest.mark.parametrize('tag', ['W/"1"', None])
def test_a_server_without_a_strong_tag(server, tag):
    server.tag = tag
    traj, _ = patient(url(server, 'http'))
    assert traj[200].configuration.step == 200
    assert not any('If-Match' in headers for _, headers in server.seen)
    server.data += b'x'
    with pytest.raises(OSError, match='replaced while being read'):
        traj[399]


def test_a_range_may_arrive_in_pieces(server):
    def half(handler):
        start, end = map(int, re.match(r'bytes=(\d+)-(\d+)', handler.headers['Range']).groups())
        data = handler.server.data[start : (start + end) // 2]
        size = len(handler.server.data)
        handler.answer(206, data, {'Content-Range': f'bytes {start}-{start + len(data) - 1}/{size}'})

    traj, _ = patient(url(server, 'http'))
    server.faults += [half] * 3
    assert (traj[300].particles.position == 300).all()


@pytest.mark.parametrize(
    ('scheme', 'who', 'hint'),
    [
        ('cenote', '', 'set CENOTE_URL=http://127.0.0.1:'),
        ('cenote', 'ada:x@', 'check CENOTE_TOKEN'),
        ('http', '', 'write https://USER:PASSWORD@HOST'),
    ],
)
def test_a_hint_explains_how_to_log_in(server, monkeypatch, scheme, who, hint):
    nobody(monkeypatch)
    server.faults.append(lambda handler: handler.answer(401, b'{"detail": "log in"}'))
    with pytest.raises(PermissionError, match=re.escape(hint)):
        cenote.gsd.fl.open(url(server, scheme, who), 'r')


DUPLICATES = {
    'copy': copy.copy,
    'deepcopy': copy.deepcopy,
    'pickle': lambda value: pickle.loads(pickle.dumps(value)),
}


@pytest.mark.parametrize('duplicate', DUPLICATES.values(), ids=DUPLICATES)
def test_a_remote_trajectory_can_be_copied(server, monkeypatch, duplicate):
    nobody(monkeypatch)
    traj = cenote.gsd.hoomd.open(url(server, who='ada:secret@'))
    again = duplicate(traj)
    assert again.file.name == traj.file.name
    assert again[300].configuration.step == 300
    assert server.seen[-1][1]['Authorization'] == server.seen[0][1]['Authorization']
    server.tag = '"2"'
    with pytest.raises(OSError, match='replaced while being read'):
        duplicate(traj)[399]


def test_secrets_of_the_environment_are_not_pickled(server, monkeypatch):
    nobody(monkeypatch)
    monkeypatch.setenv('CENOTE_URL', f'http://127.0.0.1:{server.server_port}')
    monkeypatch.setenv('CENOTE_TOKEN', 'a t0ken')
    traj = cenote.gsd.hoomd.open(url(server))
    data = pickle.dumps(traj)
    assert b't0ken' not in data
    assert pickle.loads(data)[3].configuration.step == 3
    assert server.seen[-1][1]['Authorization'] == 'Bearer a t0ken'


def test_urls_of_other_servers_are_read_only(server):
    with pytest.raises(ValueError, match="Only mode 'r'"):
        cenote.gsd.hoomd.open(url(server).replace('cenote', 'http'), 'r+')


@pytest.mark.parametrize('address', ['cenote://', 'http://:80/a'])
def test_a_url_needs_a_host(address):
    with pytest.raises(ValueError, match='does not name a host'):
        cenote.gsd.hoomd.open(address)


def test_an_unreachable_server_is_named(server):
    address = url(server)
    server.server_close()
    with pytest.raises(ConnectionRefusedError) as raised:
        cenote.gsd.hoomd.open(address)
    assert raised.value.filename == address
