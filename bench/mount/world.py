"""A server with a store of its own, its mount, and a proxy that adds latency."""

import contextlib
import os
import pathlib
import queue
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time

MIB = 1 << 20
PASSWORD = b'a secret'


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


def seconds(work):
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


def peak_memory(program, at):
    """MiB that the process of this program that serves the mount at a directory has had at most; 0 if there is none."""
    for process in pathlib.Path('/proc').glob('[0-9]*'):
        try:
            command = (process / 'cmdline').read_bytes().decode(errors='replace').split('\0')
            if os.path.basename(command[0]) == os.path.basename(program) and str(at) in command:
                peak = re.search(r'VmHWM:\s+(\d+)', (process / 'status').read_text())
                return int(peak[1]) // 1024
        except (OSError, TypeError):
            continue
    return 0


class Proxy:
    """Forwards connections, delaying each direction by half of the latency."""

    def __init__(self, url, latency):
        self.port, self.delay = int(url.rsplit(':', 1)[1].rstrip('/')), latency / 2
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.url = f'http://127.0.0.1:{self.listener.getsockname()[1]}'
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            server = socket.create_connection(('127.0.0.1', self.port))
            for pair in ((client, server), (server, client)):
                for end in pair:
                    end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self.pump, args=pair, daemon=True).start()

    def pump(self, source, sink):
        # Bounded: a fast sender waits for a slow receiver, as on a network.
        waiting = queue.Queue(maxsize=256)

        def send():
            data = b'x'
            while data:
                due, data = waiting.get()
                time.sleep(max(0, due - time.monotonic()))
                try:
                    sink.sendall(data) if data else sink.shutdown(socket.SHUT_WR)
                except OSError:
                    # The receiver is gone: what the sender still sends is dropped.
                    with contextlib.suppress(OSError):
                        source.shutdown(socket.SHUT_RDWR)

        threading.Thread(target=send, daemon=True).start()
        data = b'x'
        while data:
            try:
                data = source.recv(MIB)
            except OSError:
                data = b''
            waiting.put((time.monotonic() + self.delay, data))


class World:
    """A store with a server; it is mounted at `mnt` of a directory that also has what it is compared with."""

    def __init__(self, program, directory):
        self.program = os.path.abspath(program)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix='bench-mount-', dir=directory))
        for name in ('home', 'mnt', 'local'):
            (self.dir / name).mkdir()
        self.mnt = self.dir / 'mnt'
        self.env = {**os.environ, 'HOME': str(self.dir / 'home'), 'CENOTE_CONFIG': str(self.dir / 'config')}
        for name in ('CENOTE_TOKEN', 'CENOTE_USER'):
            self.env.pop(name, None)
        (self.dir / 'config').write_text('')
        (self.dir / 'leases').write_text('[limits]\nlocal_file_leases = 256\n')
        (self.dir / 'no-leases').write_text('')
        self.cenote('--quiet', 'init', 'store', '--admin', 'ada', '--password-stdin', input=PASSWORD)
        self.serve('leases')

    def serve(self, settings):
        """Starts the server; with the settings `leases` a mount may read the files of the store itself."""
        self.server = subprocess.Popen(
            [self.program, 'serve', 'store', '--listen', '127.0.0.1:0', '--settings', settings],
            cwd=self.dir, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.url = self.server.stdout.readline().decode().split()[-1]
        self.env['CENOTE_URL'] = self.url
        self.login(self.url)

    def stop(self):
        self.server.terminate()
        self.server.wait()

    def login(self, url):
        self.cenote('login', url, '--user', 'ada', '--password-stdin', input=PASSWORD)

    def cenote(self, *arguments, input=None, env=None):
        command = [self.program, *map(str, arguments)]
        return subprocess.run(command, cwd=self.dir, env={**self.env, **(env or {})}, input=input,
                              stdout=subprocess.PIPE, check=True)

    def mount(self, *options, url=None):
        url = url or self.url
        if url != self.url:
            self.login(url)
        return seconds(lambda: self.cenote('mount', self.mnt, *options, env={'CENOTE_URL': url}))

    def umount(self):
        self.cenote('umount', self.mnt)

    def warm(self):
        """Reads the larger files of the store, so that its disk is not measured."""
        for path in (self.dir / 'store').rglob('*'):
            if path.is_file() and path.stat().st_size > MIB:
                run('cat', path, stdout=subprocess.DEVNULL)

    def close(self):
        subprocess.run(['umount', '-l', self.mnt], stderr=subprocess.DEVNULL)
        self.stop()
        shutil.rmtree(self.dir)
