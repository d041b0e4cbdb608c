"""Failures are typed exceptions with the server's hint, and leave nothing half written."""

import errno
import http.server
import json
import pickle
import socket
import threading

import pytest

import cenote
from cenote.store import errors


def test_each_failure_is_a_standard_python_exception(server, store, lab):
    store.write(f'{lab}/a', b'1')
    cases = [
        (FileNotFoundError, 'NotFoundError', lambda: store.read(f'{lab}/gone')),
        (FileExistsError, 'ExistsError', lambda: store.mkdir(f'{lab}/a')),
        (OSError, 'NotEmptyError', lambda: store.rm(lab)),
        (IsADirectoryError, 'WrongKindError', lambda: store.read(lab)),
        (ValueError, 'InvalidError', lambda: store.stat('no/path')),
        (ValueError, 'InvalidError', lambda: store.read(f'{lab}/a', -1)),
        (ValueError, 'InvalidError', lambda: store.read_many([(f'{lab}/a', 0, -1)])),
        (OSError, 'ChangedError', lambda: store.write(f'{lab}/a', b'', if_match='"x"')),
        (ValueError, 'InvalidError', lambda: list(store.find(lab, ('a', '~~', 'b')))),
    ]
    for python, name, call in cases:
        with pytest.raises(python) as raised:
            call()
        assert type(raised.value).__name__ == name
        assert raised.value.errno and raised.value.kind
    with pytest.raises(errors.NotEmptyError) as raised:
        store.rm(lab)
    assert raised.value.hint and 'hint: ' in str(raised.value)
    again = pickle.loads(pickle.dumps(raised.value))
    assert (type(again), str(again), again.hint) == (type(raised.value), str(raised.value), raised.value.hint)


def test_a_wrong_login_and_a_revoked_token_are_refused(server, lab):
    config = server.directory / 'config.toml'
    with pytest.raises(PermissionError) as raised:
        cenote.connect(server.url, user='ada', password='wrong', config=config).whoami()
    assert isinstance(raised.value, errors.UnauthenticatedError)
    token = json.loads(server.cenote('token', 'add', 'test', '--json'))
    short = cenote.connect(server.url, token=token['token'], config=config)
    assert short.whoami().name == 'ada'
    server.cenote('token', 'rm', token['id'])
    with pytest.raises(errors.UnauthenticatedError):
        short.whoami()


def test_settings_are_those_of_the_program(server, environment, monkeypatch, tmp_path):
    assert cenote.connect().whoami().name == 'ada'
    monkeypatch.delenv('CENOTE_PASSWORD')
    with pytest.raises(errors.UnauthenticatedError, match='password of ada is required') as raised:
        cenote.connect()
    assert 'cenote login' in raised.value.hint
    monkeypatch.setenv('CENOTE_TOKEN', 'a token')
    monkeypatch.delenv('CENOTE_USER')
    with pytest.raises(errors.InvalidError, match='is not sent to'):
        cenote.connect('http://127.0.0.1:1')
    for name in ('CENOTE_URL', 'CENOTE_TOKEN'):
        monkeypatch.delenv(name)
    with pytest.raises(errors.InvalidError, match='no store given'):
        cenote.connect()
    with pytest.raises(errors.InvalidError, match='not the address of a server') as raised:
        cenote.connect(str(tmp_path))
    assert 'cenote serve' in raised.value.hint


def test_a_login_of_the_program_is_used(server, environment, monkeypatch):
    server.cenote('login', server.url, '--password-stdin', text='a secret of the tests')
    for name in ('CENOTE_URL', 'CENOTE_USER', 'CENOTE_PASSWORD'):
        monkeypatch.delenv(name)
    store = cenote.connect()
    assert store.whoami().name == 'ada' and "user='ada'" in repr(store)
    server.cenote('logout', server.url)


def test_a_secret_in_clear_text_is_warned_of():
    with pytest.warns(UserWarning, match='in clear text'):
        cenote.connect('http://store.example.org', token='x')


def test_another_server_is_recognised(server):
    with socket.create_server(('127.0.0.1', 0)) as listener:
        port = listener.getsockname()[1]
    store = cenote.connect(f'http://127.0.0.1:{port}', config=server.directory / 'config.toml', token='x')
    with pytest.raises(ConnectionError) as raised:
        store.whoami()
    assert isinstance(raised.value, errors.UnreachableError) and raised.value.hint


def test_some_of_many_files_fail_by_name(store, lab, tmp_path):
    (tmp_path / 'a').write_bytes(b'1')
    (tmp_path / 'gone').symlink_to('nowhere')
    with pytest.raises(errors.TransferError) as raised:
        store.put(tmp_path, f'{lab}/some', follow=True)
    assert [path for path, _ in raised.value.failures] == ['gone']
    assert [each.name for each in store.ls(f'{lab}/some')] == ['a']


def test_an_exception_of_a_callback_is_raised(store, lab, tmp_path):
    (tmp_path / 'a').write_bytes(b'1')
    with pytest.raises(ZeroDivisionError):
        store.put(tmp_path / 'a', f'{lab}/a', progress=lambda moved: moved / 0)


def test_who_is_not_logged_in_is_told_so(server, store, lab):
    config = server.directory / 'config.toml'
    anonymous = cenote.connect(server.url, config=config)
    for call in (lambda: anonymous.ls(lab), lambda: anonymous.write(f'{lab}/a', b'1'), lambda: anonymous.user_add('eve')):
        with pytest.raises((FileNotFoundError, PermissionError)) as raised:
            call()
        assert 'not logged in' in raised.value.hint
    with pytest.raises(FileNotFoundError) as raised:
        store.ls(f'{lab}/gone')
    assert 'not logged in' not in raised.value.hint


def test_failures_of_this_machine_have_its_numbers(store, lab, tmp_path):
    store.write(f'{lab}/a', b'1')
    (tmp_path / 'file').write_text('1')
    for target, python, number in [
        (tmp_path, IsADirectoryError, errno.EISDIR),
        (tmp_path / 'file/a', NotADirectoryError, errno.ENOTDIR),
        (tmp_path / 'gone/a', FileNotFoundError, errno.ENOENT),
    ]:
        with pytest.raises(python) as raised:
            store.get(f'{lab}/a', target)
        assert raised.value.errno == number and isinstance(raised.value, errors.Error)


class Nonsense(http.server.BaseHTTPRequestHandler):
    """Answers everything with a page, as the start page of another service."""

    def do_GET(self):
        self.send_response(self.server.status)
        self.send_header('Content-Type', 'text/html')
        self.end_headers()
        self.wfile.write(b'<html>Welcome</html>')

    do_PUT = do_POST = do_GET

    def log_message(self, *_):
        pass


@pytest.mark.parametrize('status', [200, 404, 500])
def test_a_server_of_another_kind_is_told_apart(server, status):
    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Nonsense) as other:
        other.status = status
        threading.Thread(target=other.serve_forever, daemon=True).start()
        store = cenote.connect(f'http://127.0.0.1:{other.server_port}', config=server.directory / 'config.toml', token='x')
        calls = [
            store.whoami, store.ls, lambda: store.stat('/a'), lambda: store.exists('/a'), lambda: store.read('/a'),
            lambda: store.write('/a', b'1'), lambda: list(store.tree('/')), lambda: list(store.find(name='a')),
            lambda: next(store.changes(follow=True)), lambda: store.get('/a', 'a'),
        ]
        for call in calls:
            with pytest.raises(errors.ProtocolError) as raised:
                call()
            assert 'cenote server' in raised.value.hint
        other.shutdown()


def test_a_right_that_is_missing_is_told_from_a_path_that_is_missing(server, store, lab):
    server.cenote('user', 'add', 'guest', '--password-stdin', text='a secret of the tests')
    guest = server.connect('guest')
    store.write(f'{lab}/shared', b'1')
    store.acl_set(f'{lab}/shared', ('guest', 'read', 'this'))
    for refused in (
        lambda: guest.write(f'{lab}/shared', b'2'), lambda: guest.append(f'{lab}/shared', b'2'),
        lambda: guest.rm(f'{lab}/shared'), lambda: guest.meta_set(f'{lab}/shared', 'a', '1'),
        lambda: guest.acl_set(f'{lab}/shared', ('guest', 'own', 'this')), lambda: guest.user_add('eve'),
    ):
        with pytest.raises(PermissionError) as raised:
            refused()
        assert isinstance(raised.value, errors.DeniedError) and raised.value.kind == 'denied'
    with pytest.raises(FileNotFoundError):
        guest.read(lab)
    assert store.read(f'{lab}/shared') == b'1'
    store.user_rm('guest')


@pytest.mark.parametrize('path', ['', 'lab', '/a//b', '/a/../b', '/a\0b', '/' + 'x' * 2000])
def test_a_path_that_is_none_is_invalid(store, path):
    calls = [
        store.stat, store.read, store.mkdir, store.rm, store.ls, lambda path: store.write(path, b'1'),
        lambda path: store.put(__file__, path), lambda path: list(store.tree(path)),
    ]
    for call in calls:
        with pytest.raises(errors.InvalidError) as raised:
            call(path)
        assert isinstance(raised.value, ValueError) and isinstance(raised.value, OSError)


def test_a_ticket_that_is_used_up_is_refused(server, store, lab):
    store.write(f'{lab}/a', b'1')
    ticket = store.ticket_add(f'{lab}/a', uses=1).ticket
    guest = cenote.connect(server.url, ticket=ticket, config=server.directory / 'config.toml')
    assert guest.read(f'{lab}/a') == b'1'
    with pytest.raises((PermissionError, FileNotFoundError)):
        guest.read(f'{lab}/a')
