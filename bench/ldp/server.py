"""The servers being measured: a cenote started by this run, and peers that are already running."""

import base64
import os
import re
import signal
import socket
import subprocess
import time
import uuid
from pathlib import Path
from urllib.parse import urlsplit

PASSWORD = 'a bench password'


class Peer:
    """A server at an address below which resources can be created: `NAME=URL`. If the URL ends with a slash, so do its containers."""

    def __init__(self, name, url):
        parts = urlsplit(url)
        self.name = name
        self.host = parts.netloc
        self.root = parts.path.rstrip('/')
        self.slash = '/' if parts.path.endswith('/') else ''
        self.headers = {'User-Agent': 'bench-ldp'}

    def connect(self):
        return Connection(self)

    def peak_memory(self):
        """Bytes; `None` if unknown."""
        return None

    def on_disk(self):
        return None

    #: Bytes on disk of an empty store: the space that is kept back for the catalog, which is no data.
    empty = None

    def stop(self):
        pass


class Cenote(Peer):
    """A server with its own store, at its Fedora address."""

    def __init__(self, program, directory):
        self.store = Path(directory) / 'store'
        initialise = [program, 'init', self.store, '--admin', 'ada', '--password-stdin']
        subprocess.run(initialise, input=PASSWORD.encode(), check=True, stdout=subprocess.DEVNULL)
        command = [program, 'serve', self.store, '--listen', '127.0.0.1:0']
        log = Path(directory) / 'log'
        self.process = subprocess.Popen(command, stdout=log.open('wb'), stderr=subprocess.STDOUT)
        super().__init__('cenote', self.address(log) + '/rest')
        self.empty = self.on_disk()
        login = base64.b64encode(f'ada:{PASSWORD}'.encode()).decode()
        self.headers['Authorization'] = f'Basic {login}'

    def address(self, log):
        """The address that the server prints once it is ready."""
        while self.process.poll() is None:
            found = re.search(r'http://[0-9.:]+', log.read_text())
            if found:
                return found[0]
            time.sleep(0.01)
        raise SystemExit(f'the server did not start: {log.read_text()}')

    def peak_memory(self):
        status = Path(f'/proc/{self.process.pid}/status').read_text()
        return int(re.search(r'VmHWM:\s+(\d+)', status)[1]) << 10

    def on_disk(self):
        return sum(file.stat().st_blocks * 512 for file in self.store.rglob('*') if file.is_file())

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(60)


class Connection:
    """One persistent connection. An unexpected response ends the run.

    It reads from the socket itself: with `http.client` a HEAD takes 0.13 ms more and a GET 0.17, for parsing headers. If a server
    closes it after a response (LAKEsuperior does), the next one is opened before the clock starts.
    """

    def __init__(self, server):
        self.server = server
        self.open()

    def open(self):
        host, port = self.server.host.rsplit(':', 1)
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.left = b''

    def timed(self, method, path, body=None, expected=(200, 201, 204), **headers):
        """Milliseconds to the end of the response, those to its first byte, its status, and its body."""
        headers = {'Host': self.server.host, **self.server.headers, **headers}
        if body is not None:
            headers['Content-Length'] = len(body)
        head = ''.join(f'{name}: {value}\r\n' for name, value in headers.items())
        request = f'{method} {path} HTTP/1.1\r\n{head}\r\n'.encode() + (body or b'')
        begun = time.perf_counter()
        self.socket.sendall(request)
        answer, self.left = self.left, b''
        while b'\r\n\r\n' not in answer:
            answer += self.more()
        first_at = time.perf_counter()
        head, _, rest = answer.partition(b'\r\n\r\n')
        text = self.body(head, rest, method)
        ended = time.perf_counter()
        status = int(head[9:12])
        if status not in expected:
            raise SystemExit(f'{self.server.name}: {method} {path}: {status} {text[:200]}')
        if b'\r\nconnection: close' in head.lower():
            self.socket.close()
            self.open()
        return (ended - begun) * 1000, (first_at - begun) * 1000, status, text

    def more(self):
        got = self.socket.recv(1 << 20)
        if not got:
            raise SystemExit(f'{self.server.name}: the connection ended')
        return got

    def body(self, head, rest, method):
        lowered = head.lower()
        if method == 'HEAD' or lowered[9:12] == b'204':
            self.left = rest
            return b''
        if b'transfer-encoding: chunked' in lowered:
            return self.chunks(rest)
        length = re.search(rb'content-length: *(\d+)', lowered)
        return self.exactly(int(length[1]), rest)

    def exactly(self, length, rest):
        parts, missing = [rest], length - len(rest)
        while missing > 0:
            parts.append(self.more())
            missing -= len(parts[-1])
        whole = b''.join(parts)
        self.left = whole[length:]
        return whole[:length]

    def chunks(self, rest):
        parts = []
        while True:
            while b'\r\n' not in rest:
                rest += self.more()
            size, _, rest = rest.partition(b'\r\n')
            length = int(size.split(b';')[0], 16)
            parts.append(self.exactly(length + 2, rest)[:length])
            rest, self.left = self.left, b''
            if length == 0:
                self.left = rest
                return b''.join(parts)

    def make_container(self):
        """The path of a new container."""
        path = f'{self.server.root}/{uuid.uuid4()}{self.server.slash}'
        link = '<http://www.w3.org/ns/ldp#BasicContainer>; rel="type"'
        self.timed('PUT', path, b'', Link=link, **{'Content-Type': 'text/turtle'})
        return path


def load_average():
    return os.getloadavg()[0]


def touch_memory(size):
    """A virtual machine may give unused memory back to its host, and get it again slowly: a page for each fault. Free memory that was
    just used is fast, for every client alike."""
    touched = b'\1' * size
    del touched
