"""Measures `dx` on a server of this machine, beside its own floor and beside the program.

    bench.py CENOTE [--mib 1024] [--children 1000000] [--rounds 3] [--dir DIR] [--dxfuse PROGRAM]… [--json FILE]

The floor (floor.py) is a server that discards what it gets and sends zeros. Rounds are interleaved: each one runs every client once, and
a row is the median. Files are in DIR, by default in memory. With `--dxfuse`, which needs root, each such program mounts the
project.
"""

import argparse
import http.client
import io
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time

from floor import PROJECT, Floor

sys.path.append(str(pathlib.Path(__file__).parent.parent / 'ldp'))
from server import PASSWORD, Cenote, load_average, touch_memory  # noqa: E402

MIB = 1 << 20
#: Objects in a request of the batch that fills the store.
BATCH = 20_000
#: Objects that have the property, among all.
WITH_PROPERTY = 100
ENTRIES = 10_000


class Dx:
    """`dx` with its own environment."""

    def __init__(self, url, token, project, directory):
        host, port = url.removeprefix('http://').rsplit(':', 1)
        self.project, self.directory = project, pathlib.Path(directory)
        self.environment = {
            'PATH': os.environ['PATH'],
            'HOME': str(directory),
            'LANG': 'C.UTF-8',
            'DX_USER_CONF_DIR': str(directory),
            'DX_APISERVER_HOST': host,
            'DX_APISERVER_PORT': port,
            'DX_APISERVER_PROTOCOL': 'http',
            'DX_PROJECT_CONTEXT_ID': project,
            'DX_SECURITY_CONTEXT': json.dumps({'auth_token_type': 'Bearer', 'auth_token': token}),
        }

    def run(self, *arguments, **streams):
        program = pathlib.Path(sys.executable).parent / 'dx'
        return subprocess.run([program, *map(str, arguments)], env=self.environment, check=True, **streams)

    def upload(self, file, name):
        """The id of a file uploaded from standard input."""
        with open(file, 'rb') as data:
            done = self.run('upload', '--wait', '-', '--path', f'/{name}', '--brief', stdin=data, stdout=subprocess.PIPE)
        return done.stdout.decode().strip()

    def download(self, file):
        path = self.directory / 'downloaded'
        self.run('download', f'{self.project}:{file}', '-o', path, '-f', '--no-progress', stdout=subprocess.DEVNULL)
        path.unlink()

    def cat(self, file):
        self.run('cat', f'{self.project}:{file}', stdout=subprocess.DEVNULL)


class Program:
    """The program `cenote` on the same server."""

    def __init__(self, program, url):
        self.program = program
        own = {name: value for name, value in os.environ.items() if not name.startswith('CENOTE_')}
        who = {'CENOTE_URL': url, 'CENOTE_USER': 'ada', 'CENOTE_PASSWORD': PASSWORD, 'CENOTE_CONFIG': os.devnull}
        self.environment = {**own, **who}

    def run(self, *arguments, **streams):
        command = [self.program, '--quiet', *map(str, arguments)]
        return subprocess.run(command, env=self.environment, check=True, **streams)


class Api:
    """One kept connection to the server, with a token."""

    def __init__(self, server, token):
        self.http = http.client.HTTPConnection(server.host)
        self.token = token

    def send(self, method, path, body, media_type='application/json', **headers):
        headers = {'Content-Type': media_type, 'Authorization': f'Bearer {self.token}', **headers}
        self.http.request(method, path, body, headers)
        answer = self.http.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(f'{method} {path}: {answer.status} {text[:300]}')
        return text

    def call(self, resource, **given):
        return json.loads(self.send('POST', f'/{resource}', json.dumps(given)))


def seconds(work, *arguments):
    begun = time.perf_counter()
    work(*arguments)
    return time.perf_counter() - begun


def transfers(options, directory, program, dx):
    """Uploads, downloads and prints a file through each client in turn."""
    size = options.mib * MIB
    data = directory / 'data'
    data.write_bytes(bytes(size))
    floor = Floor(size)
    on_floor = Dx(floor.url, 'none', PROJECT, directory)
    rows = {}

    def timed(row, client, work, *arguments):
        touch_memory(3 * size)
        rows.setdefault(row, {}).setdefault(client, []).append(seconds(work, *arguments))

    for number in range(options.rounds):
        uploaded = []
        timed('upload', 'floor', lambda: on_floor.upload(data, 'zeros'))
        timed('upload', 'dx', lambda: uploaded.append(dx.upload(data, f'f{number}')))
        timed('upload', 'cenote', program.run, 'put', data, ':/bench/put')
        floor.parts = floor.zeros()
        for row, on in (('download', 'download'), ('cat', 'cat')):
            timed(row, 'floor', getattr(on_floor, on), 'file-' + '0' * 24)
            timed(row, 'dx', getattr(dx, on), uploaded[0])
        timed('download', 'cenote', program.run, 'get', ':/bench/put', directory / 'got')
        with open(os.devnull, 'wb') as nowhere:
            timed('cat', 'cenote', lambda: program.run('cat', '/bench/put', stdout=nowhere))
        (directory / 'got').unlink()
        dx.run('rm', f'/f{number}', stdout=subprocess.DEVNULL)
    floor.stop()
    return {row: {client: statistics.median(times) for client, times in of.items()} for row, of in rows.items()}


def path_of(number, folders=True):
    """The path of an object: 1,000 per folder, or all in one."""
    return f'd{number // 1_000:05}/o{number:07}' if folders else f'o{number:07}'


def archive(first, count, folders):
    """A tar with this many small files."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode='w', format=tarfile.USTAR_FORMAT) as tar:
        for number in range(first, first + count):
            entry = tarfile.TarInfo(path_of(number, folders))
            entry.size = 8
            tar.addfile(entry, io.BytesIO(b'%08d' % number))
    return out.getvalue()


def fill(api, collection, count, folders=True):
    """Creates this many objects in batches."""
    for first in range(0, count, BATCH):
        some = archive(first, min(BATCH, count - first), folders)
        api.send('POST', f'/v1/batch?path=/{collection}', some, 'application/x-tar')


def give_property(api, children):
    """Gives some of the objects a property."""
    step = max(1, children // WITH_PROPERTY)
    for number in range(0, children, step):
        path = f'/many/{path_of(number)}'
        operation = {'op': 'add', 'attribute': 'sample', 'value': 'S1'}
        api.send('POST', '/v1/meta', json.dumps({'path': path, 'operations': [operation]}))


def searches(api, dx, options):
    """Milliseconds to find all objects with a property, in the server and with `dx`."""
    # The server has closed the idle connection during the rounds; the next request opens another.
    api.http.close()
    fill(api, 'many', options.children)
    give_property(api, options.children)
    project = api.call('system/findProjects', name='many')['results'][0]['id']
    scope = {'project': project, 'folder': '/', 'recurse': True}
    query = {'properties': {'sample': 'S1'}, 'scope': scope, 'describe': True, 'limit': 100}
    times = []
    for _ in range(max(5, options.rounds)):
        begun = time.perf_counter()
        found = api.call('system/findDataObjects', **query)['results']
        times.append((time.perf_counter() - begun) * 1000)
        if len(found) != min(WITH_PROPERTY, options.children):
            raise SystemExit(f'{len(found)} objects were found')
    command = ['find', 'data', '--path', f'{project}:/', '--property', 'sample=S1', '--brief']
    whole = seconds(lambda: dx.run(*command, stdout=subprocess.DEVNULL))
    name = f'find data with a property, of {options.children:,}'
    return {f'{name}, first answer, ms': statistics.median(times), f'{name}, `dx`, s': whole}


def mounted(dxfuse, options, directory, dx):
    """Seconds to list a folder and to read a file through dxfuse."""
    mount, state = directory / 'mount', directory / 'state'
    mount.mkdir()
    state.mkdir()

    def quietly(*command):
        subprocess.run(command, env=dx.environment, check=True, stdout=subprocess.DEVNULL)

    quietly(dxfuse, '-stateFolder', state, mount, 'listed', 'mounted')
    try:
        touch_memory(3 * options.mib * MIB)
        listing = seconds(quietly, 'ls', '-l', mount / 'listed')
        reading = seconds(quietly, 'cat', mount / 'mounted' / 'data')
    finally:
        quietly('fusermount3', '-u', mount)
        shutil.rmtree(state)
        mount.rmdir()
    version = subprocess.run([dxfuse, '-version'], capture_output=True, text=True).stdout.strip()
    name = f'dxfuse {version}'
    return {f'{name}: `ls -l` of {ENTRIES:,}, s': listing, f'{name}: `cat` of {options.mib} MiB, s': reading}


def show(rows, single):
    print('| work | floor, s | `dx`, s | `dx` / floor | `cenote`, s | `dx` / `cenote` |')
    print('|---|---|---|---|---|---|')
    for row, of in rows.items():
        floor, dx, cenote = of['floor'], of['dx'], of['cenote']
        print(f'| {row} | {floor:.2f} | {dx:.2f} | {dx / floor:.2f} | {cenote:.2f} | {dx / cenote:.1f} |')
    for row, value in single.items():
        print(f'| {row} | {value:.2f} |')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('cenote')
    parser.add_argument('--mib', type=int, default=1_024)
    parser.add_argument('--children', type=int, default=1_000_000)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--dir', default='/dev/shm')
    parser.add_argument('--dxfuse', action='append', default=[], metavar='PROGRAM')
    parser.add_argument('--json', metavar='FILE')
    return parser.parse_args()


def measure(options, directory, server):
    program = Program(options.cenote, f'http://{server.host}')
    made = program.run('token', 'add', 'bench', stdout=subprocess.PIPE).stdout.decode()
    token = made.split()[1] if made.startswith('token') else made.strip()
    api = Api(server, token)
    for name in ('bench', 'many', 'listed', 'mounted'):
        program.run('mkdir', f'/{name}')
    project = api.call('system/findProjects', name='bench')['results'][0]['id']
    dx = Dx(f'http://{server.host}', token, project, directory)
    rows = transfers(options, directory, program, dx)
    program.run('put', directory / 'data', ':/mounted/data')
    single = searches(api, dx, options)
    if options.dxfuse:
        fill(api, 'listed', ENTRIES, folders=False)
    for dxfuse in options.dxfuse:
        single |= mounted(dxfuse, options, directory, dx)
    return rows, single


def main():
    options = arguments()
    print(f'load average at the start: {load_average():.2f}')
    with tempfile.TemporaryDirectory(dir=options.dir) as directory:
        server = Cenote(options.cenote, directory)
        try:
            rows, single = measure(options, pathlib.Path(directory), server)
        finally:
            server.stop()
    show(rows, single)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps({**rows, **single}, indent=1))


if __name__ == '__main__':
    main()
