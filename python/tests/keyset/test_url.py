"""Key sets read from a URL."""

import http.server
import json
import threading

import pytest

from cenote.keyset import KeySet, dump, load

KEYS = KeySet({'user:/a': '1', 'user:/b': 'x' * 200_000})


class Handler(http.server.BaseHTTPRequestHandler):
    """Serves ranges of the server's data; some paths require a login."""

    protocol_version = 'HTTP/1.1'

    def do_GET(self):
        content = self.server.contents.get(self.path)
        if 'private' in self.path and 'Authorization' not in self.headers:
            return self.answer(401, json.dumps({'detail': 'log in'}).encode())
        if content is None:
            return self.answer(404, json.dumps({'detail': 'nothing is there'}).encode())
        first, last = map(int, self.headers['Range'].removeprefix('bytes=').split('-'))
        if first >= len(content):
            return self.answer(416, b'', f'bytes */{len(content)}')
        piece = content[first : last + 1]
        return self.answer(206, piece, f'bytes {first}-{first + len(piece) - 1}/{len(content)}')

    def answer(self, status, body, content_range=None):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        if content_range:
            self.send_header('ETag', '"1"')
            self.send_header('Content-Range', content_range)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def server(monkeypatch):
    for name in ('CENOTE_URL', 'CENOTE_USER', 'CENOTE_PASSWORD', 'CENOTE_TOKEN', 'CENOTE_TICKET'):
        monkeypatch.delenv(name, raising=False)
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Handler)
    server.contents = {}
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    server.at = f'127.0.0.1:{server.server_port}'
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_url_is_read_completely(server):
    for format in ('quickdump', 'dump', 'json', 'toml', 'ini'):
        path = f'/v1/fs/lab/keys.{format}'
        server.contents[path] = dump(KEYS, parent='user:/', format=format)
        assert load(f'cenote://{server.at}/lab/keys.{format}', 'user:/') == KEYS
        assert load(f'http://{server.at}{path}', 'user:/') == KEYS
    server.contents['/v1/fs/keys'] = dump(KEYS, parent='user:/', format='ini')
    assert load(f'cenote+http://{server.at}/keys', 'user:/', 'ini') == KEYS
    with pytest.raises(ValueError, match='format is not known'):
        load(f'cenote://{server.at}/keys', 'user:/')
    server.contents['/v1/fs/none'] = b''
    assert load(f'cenote://{server.at}/none', 'user:/') == KeySet()


def test_a_refusal_explains_how_to_log_in(server, monkeypatch):
    url = f'cenote://{server.at}/private.quickdump'
    with pytest.raises(PermissionError, match='to log in, set CENOTE_URL'):
        load(url, 'user:/')
    with pytest.raises(FileNotFoundError, match='nothing is there'):
        load(f'cenote://{server.at}/gone.quickdump', 'user:/')
    server.contents['/v1/fs/private.quickdump'] = dump(KEYS, parent='user:/')
    monkeypatch.setenv('CENOTE_URL', f'http://{server.at}')
    monkeypatch.setenv('CENOTE_TOKEN', 'a token')
    assert load(url, 'user:/') == KEYS
