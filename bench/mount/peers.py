"""What is compared: our mount, dxfuse and `dx cat` of the same server, and rclone of a server of its own."""

import json
import os
import socket
import subprocess
import time

from world import PASSWORD, Proxy, peak_memory, run

#: The collection, which is a project of DNAnexus, that all files are in.
PROJECT = 'bench'


class Ours:
    """A mount through the server, as of another machine: without leases of files."""

    name = 'cenote'

    def __init__(self, world, latency, **_):
        self.world, self.at, self.program = world, world.mnt, world.program
        self.url = Proxy(world.url, latency).url if latency else world.url

    def begin(self):
        self.world.mount('--write', '--no-local', url=self.url)
        self.path = self.at / PROJECT

    def end(self):
        self.world.umount()

    def put(self, name, size):
        """Stores a file of random bytes, as one part."""
        bytes_ = subprocess.Popen(['head', '-c', str(size), '/dev/urandom'], stdout=subprocess.PIPE)
        url = f'{self.world.url}/v1/fs/{PROJECT}/{name}?parents=true'
        run('curl', '-sf', '-o', '/dev/null', '-u', 'ada:a secret', '-T', '-', url, stdin=bytes_.stdout)
        bytes_.wait()

    def read(self, name):
        run('cat', self.path / name, stdout=subprocess.DEVNULL)

    def remove(self, name):
        self.world.cenote('--quiet', 'rm', '-r', '--permanent', f'/{PROJECT}/{name}')

    def memory(self):
        return peak_memory(self.program, self.at)


class Dxfuse(Ours):
    """The mount of DNAnexus, of the same server and files."""

    def __init__(self, world, latency, program):
        super().__init__(world, latency)
        self.program = program
        version = subprocess.run([program, '-version'], capture_output=True, text=True).stdout.strip()
        self.name = f'dxfuse {version}'
        self.at, self.state = world.dir / 'dxfuse', world.dir / 'dxfuse-state'
        self.at.mkdir(exist_ok=True)
        self.token = token(world, f'bench-{latency}-{version}')

    def begin(self):
        run(self.program, '-stateFolder', self.state, '-limitedWrite', self.at, PROJECT,
            env=environment(self), stdout=subprocess.DEVNULL)
        self.path = self.at / PROJECT

    def end(self):
        run('fusermount3', '-u', self.at)
        # Its process ends once all is uploaded.
        while peak_memory(self.program, self.at):
            time.sleep(0.01)


class DxCat:
    """The command-line client of DNAnexus, which only reads here."""

    name = '`dx cat`'

    def __init__(self, world, latency, program):
        self.world, self.program = world, program
        self.url = Proxy(world.url, latency).url if latency else world.url
        self.token = token(world, f'bench-{latency}-dx')

    def begin(self):
        pass

    def end(self):
        pass

    def read(self, name):
        own = {**environment(self), 'DX_USER_CONF_DIR': str(self.world.dir / 'dx')}
        run(self.program, 'cat', f'{PROJECT}:/{name}', env=own, stdout=subprocess.DEVNULL)

    def memory(self):
        return 0


class Rclone:
    """`rclone mount` of `rclone serve webdav`, which serves a directory of the same disk without syncing it: none of our openings is a
    protocol that rclone can write to."""

    def __init__(self, world, latency, program):
        self.world, self.program = world, program
        version = subprocess.run([program, 'version'], capture_output=True, text=True).stdout.split()[1]
        self.name = f'rclone {version}'
        self.root, self.at, self.path = (world.dir / name for name in ('webdav', 'rclone', 'rclone'))
        for directory in (self.root, self.at):
            directory.mkdir(exist_ok=True)
        self.env = {**world.env, 'RCLONE_CONFIG': os.devnull}
        with socket.create_server(('127.0.0.1', 0)) as free:
            self.address = '127.0.0.1:{}'.format(free.getsockname()[1])
        self.url = Proxy(f'http://{self.address}', latency).url if latency else f'http://{self.address}'

    def start(self, *arguments):
        command = [self.program, *map(str, arguments)]
        return subprocess.Popen(command, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def begin(self):
        # It remembers what directories had for five minutes.
        self.server = self.start('serve', 'webdav', self.root, '--addr', self.address)
        wait_until(lambda: is_listening(self.address))
        # Without its cache of files a close waits for the upload.
        self.process = self.start('mount', ':webdav:', self.at, '--webdav-url', self.url, '--vfs-cache-mode', 'off')
        wait_until(lambda: os.path.ismount(self.at))

    def end(self):
        run('fusermount3', '-u', self.at)
        self.process.wait()
        self.server.terminate()
        self.server.wait()

    def read(self, name):
        run('cat', self.path / name, stdout=subprocess.DEVNULL)

    def remove(self, name):
        run('rm', '-rf', self.root / name)

    def memory(self):
        return peak_memory(self.program, self.at)


def environment(client):
    """What tells a client of DNAnexus which server to use, and as whom."""
    host, port = client.url.removeprefix('http://').split(':')
    login = json.dumps({'auth_token_type': 'Bearer', 'auth_token': client.token})
    server = {'DX_APISERVER_HOST': host, 'DX_APISERVER_PORT': port, 'DX_APISERVER_PROTOCOL': 'http'}
    return {**client.world.env, **server, 'DX_SECURITY_CONTEXT': login}


def token(world, name):
    """A token; the login of the mounts cannot make one that outlives it."""
    user = {'CENOTE_USER': 'ada', 'CENOTE_PASSWORD': PASSWORD.decode(), 'CENOTE_CONFIG': os.devnull}
    return world.cenote('token', 'add', name, env=user).stdout.decode().split()[1]


def is_listening(address):
    host, port = address.split(':')
    try:
        socket.create_connection((host, int(port))).close()
        return True
    except OSError:
        return False


def wait_until(holds):
    while not holds():
        time.sleep(0.01)
