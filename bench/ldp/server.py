"""The servers that are measured: a cenote of this run, and peers that run already."""

import base64
import http.client
import os
import re
import signal
import subprocess
import time
import uuid
from pathlib import Path
from urllib.parse import urlsplit

PASSWORD = 'a bench password'


class Peer:
    """A server at an address below which resources can be made: `NAME=URL`."""

    def __init__(self, name, url):
        parts = urlsplit(url)
        self.name = name
        self.host = parts.netloc
        self.root = parts.path.rstrip('/')
        self.headers = {'User-Agent': 'bench-ldp'}

    def connect(self):
        return Connection(self)

    def peak_memory(self):
        """Bytes; none if it is not known."""
        return None

    def on_disk(self):
        return None

    def stop(self):
        pass


class Cenote(Peer):
    """A server on a store of its own, at its Fedora address."""

    def __init__(self, program, directory):
        self.store = Path(directory) / 'store'
        initialise = [program, 'init', self.store, '--admin', 'ada', '--password-stdin']
        subprocess.run(initialise, input=PASSWORD.encode(), check=True, stdout=subprocess.DEVNULL)
        command = [program, 'serve', self.store, '--listen', '127.0.0.1:0']
        log = Path(directory) / 'log'
        self.process = subprocess.Popen(command, stdout=log.open('wb'), stderr=subprocess.STDOUT)
        super().__init__('cenote', self.address(log) + '/rest')
        login = base64.b64encode(f'ada:{PASSWORD}'.encode()).decode()
        self.headers['Authorization'] = f'Basic {login}'

    def address(self, log):
        """The address that the server writes once it answers."""
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
    """One kept connection. A request that is not answered as expected ends the run."""

    def __init__(self, server):
        self.server = server
        self.http = http.client.HTTPConnection(server.host)

    def timed(self, method, path, body=None, expected=(200, 201, 204), **headers):
        """Milliseconds to the end of the answer, those to its first byte, and the answer with its body."""
        headers = {**self.server.headers, **headers}
        begun = time.perf_counter()
        self.http.request(method, path, body, headers)
        answer = self.http.getresponse()
        first = answer.read(1)
        first_at = time.perf_counter()
        text = first + answer.read()
        ended = time.perf_counter()
        if answer.status not in expected:
            raise SystemExit(f'{self.server.name}: {method} {path}: {answer.status} {text[:200]}')
        return (ended - begun) * 1000, (first_at - begun) * 1000, answer, text

    def make_container(self):
        """The path of a new container."""
        path = f'{self.server.root}/{uuid.uuid4()}'
        link = '<http://www.w3.org/ns/ldp#BasicContainer>; rel="type"'
        self.timed('PUT', path, b'', Link=link, **{'Content-Type': 'text/turtle'})
        return path


def load_average():
    return os.getloadavg()[0]
