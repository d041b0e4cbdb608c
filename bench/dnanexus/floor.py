"""A server that discards what a client sends, and sends zeros: the lower bound is the time of `dx` itself.

It implements as much of the API as is needed to upload, download and print one file. The file has the requested size, in parts as
`dx upload` sends them.
"""

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PROJECT = 'project-' + '0' * 24
FILE = 'file-' + '0' * 24
#: The parts that `dx` sends and reads.
PART = 16 << 20
CHUNK = 1 << 20
PARAMETERS = {
    'minimumPartSize': 5 << 20,
    'maximumPartSize': 5 << 30,
    'emptyLastPartAllowed': True,
    'maximumNumParts': 10_000,
    'maximumFileSize': 5 << 40,
}


def digest_of_zeros(size):
    return hashlib.md5(bytes(size)).hexdigest()


class Floor:
    """Runs in a thread of this process until `stop`."""

    def __init__(self, size):
        self.size = size
        self.parts = {}
        handler = type('Handler', (Handler,), {'floor': self})
        self.server = ThreadingHTTPServer(('127.0.0.1', 0), handler)
        self.server.daemon_threads = True
        self.port = self.server.server_address[1]
        self.url = f'http://127.0.0.1:{self.port}'
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def zeros(self):
        """The parts of a file of zeros."""
        sizes = [min(PART, self.size - at) for at in range(0, self.size, PART)]
        digests = {size: digest_of_zeros(size) for size in set(sizes)}
        return {
            str(number): {'size': size, 'md5': digests[size], 'state': 'complete'}
            for number, size in enumerate(sizes, 1)
        }

    def answer(self, path, given):
        """The response to a call."""
        method = path.rsplit('/', 1)[-1]
        if path == '/file/new':
            self.parts = {}
            return {'id': FILE}
        if method == 'upload':
            part = {'size': given['size'], 'md5': given['md5'], 'state': 'complete'}
            self.parts[str(given['index'])] = part
            return {'url': f'{self.url}/part', 'headers': {}, 'expires': 1 << 42}
        if method == 'download':
            return {'url': f'{self.url}/zeros', 'headers': {}, 'expires': 1 << 42}
        if method == 'describe' and path.startswith('/project'):
            shown = {'id': PROJECT, 'class': 'project', 'name': 'floor', 'level': 'ADMINISTER'}
            return {**shown, 'folders': ['/'], 'fileUploadParameters': PARAMETERS}
        if method in ('describe', 'findDataObjects'):
            found = {'id': FILE, 'project': PROJECT, 'describe': self.describe()}
            return found['describe'] if method == 'describe' else {'results': [found], 'next': None}
        return {'id': path.split('/')[1], 'results': [], 'next': None, 'objects': [], 'folders': []}

    def describe(self):
        size = sum(part['size'] for part in self.parts.values())
        return {
            'id': FILE,
            'project': PROJECT,
            'class': 'file',
            'name': 'zeros',
            'folder': '/',
            'state': 'closed',
            'archivalState': 'live',
            'size': size,
            'parts': self.parts,
            'drive': None,
        }


class Handler(BaseHTTPRequestHandler):
    """One kept connection."""

    protocol_version = 'HTTP/1.1'
    floor = None

    def log_message(self, *_):
        pass

    def finish_with(self, body=b'', status=200, **headers):
        self.send_response(status)
        self.send_header('Content-Length', str(len(body)))
        for name, value in headers.items():
            self.send_header(name.replace('_', '-'), value)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        given = self.rfile.read(int(self.headers.get('Content-Length', 0)))
        answer = self.floor.answer(self.path, json.loads(given or b'{}'))
        self.finish_with(json.dumps(answer).encode(), Content_Type='application/json')

    def do_PUT(self):
        left, buffer = int(self.headers['Content-Length']), bytearray(CHUNK)
        while left:
            left -= self.rfile.readinto(memoryview(buffer)[: min(left, CHUNK)])
        self.finish_with()

    def do_GET(self):
        size = self.floor.size
        first, last = 0, size - 1
        requested = self.headers.get('Range')
        if requested:
            first, last = (int(end) for end in requested.removeprefix('bytes=').split('-'))
        self.send_response(206 if requested else 200)
        self.send_header('Content-Length', str(last - first + 1))
        self.send_header('Content-Range', f'bytes {first}-{last}/{size}')
        self.end_headers()
        zeros, left = bytes(CHUNK), last - first + 1
        while left:
            self.wfile.write(zeros[: min(left, CHUNK)])
            left -= min(left, CHUNK)
