"""Measures the Python package on a server of this machine, beside `s3fs` on an S3 server, `requests` and the program.

    bench.py CENOTE [--mib 1024] [--files 10000] [--found 100000] [--chunks 2000] [--rounds 3] [--without-s3] [--dir DIR] [--json FILE]

* a file of MIB: `store.put` and `store.get`; `fs.put_file` and `fs.get_file` of both file systems; `requests`; `cenote put` and `get`;
* FILES files of 1 KiB: `fs.put(recursive=True)` and `fs.get`, `cenote put` and `get --recursive`;
* `fs.find` of FOUND files;
* CHUNKS chunks of 16 KiB of a zarr array, at random;
* the first import of `cenote`, in a new interpreter.

Rounds are interleaved: each one runs every client once, and a row is the median. Files are in DIR, by default in memory. The S3
server (moto) keeps all in memory, in Python, and syncs nothing: it is not a lower bound for a server, but `s3fs` is what programs use.
Received data is compared with the data sent, outside of the measured time.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial

import numpy
import requests
import zarr
from s3 import BUCKET, S3

import cenote
from cenote.store.filesystem import CenoteFileSystem

sys.path.append(str(pathlib.Path(__file__).parent.parent / 'ldp'))
from server import PASSWORD, Cenote, load_average, touch_memory  # noqa: E402

MIB = 1 << 20
#: Bytes of a small file.
SMALL = 1024
#: Elements of a chunk and chunks in a row of the array.
CHUNK, CHUNKS_IN_ROW = 64, 50


class Rows:
    """The results: seconds, by task and client."""

    def __init__(self):
        self.times = {}

    def timed(self, row, client, work, *arguments):
        begun = time.perf_counter()
        result = work(*arguments)
        self.times.setdefault(row, {}).setdefault(client, []).append(time.perf_counter() - begun)
        return result

    def medians(self):
        return {
            row: {client: statistics.median(times) for client, times in of.items()}
            for row, of in self.times.items()
        }


class Bench:
    """The clients, and the location of files."""

    def __init__(self, options, directory, server, s3):
        self.options, self.directory, self.rows = options, directory, Rows()
        self.url = f'http://{server.host}'
        self.store = cenote.connect(self.url, user='ada', password=PASSWORD, config=os.devnull)
        self.ours = CenoteFileSystem.of(self.store)
        self.peer, self.s3 = s3, s3.file_system() if s3 else None
        own = {name: value for name, value in os.environ.items() if not name.startswith('CENOTE_')}
        who = {'CENOTE_URL': self.url, 'CENOTE_USER': 'ada', 'CENOTE_PASSWORD': PASSWORD}
        self.environment = {**own, **who, 'CENOTE_CONFIG': os.devnull}

    def systems(self):
        """Each file system of fsspec, and the collection or bucket in it."""
        yield 'fsspec, cenote', self.ours, '/bench'
        if self.s3:
            yield 's3fs', self.s3, BUCKET

    def asynchronous(self, fs):
        """The same file system for the event loop of zarr."""
        if fs is self.s3:
            return self.peer.file_system(asynchronous=True)
        return CenoteFileSystem(native=fs._native, asynchronous=True, skip_instance_cache=True)

    def program(self, *arguments):
        subprocess.run([self.options.cenote, '--quiet', *map(str, arguments)], env=self.environment, check=True)

    def work(self):
        self.store.mkdir('/bench', exist_ok=True)
        for number in range(self.options.rounds):
            self.large(number)
            self.small(number)
        self.find()
        self.zarr()
        self.imports()

    def large(self, number):
        row, data = f'{{}} {self.options.mib} MiB', self.directory / 'data'
        if not data.exists():
            with open(data, 'wb') as file:
                for _ in range(self.options.mib):
                    file.write(os.urandom(MIB))
        got, put, get = self.directory / 'got', row.format('put'), row.format('get')
        clients = [self.stored(data, got, number), self.requested(data, got, number), self.run(data, got, number)]
        for name, fs, root in self.systems():
            path = f'{root}/large{number}'
            clients.append((name, partial(fs.put_file, str(data), path), partial(fs.get_file, path, str(got))))
        for client, send, receive in rotated(clients, number):
            touch_memory(3 * self.options.mib * MIB)
            self.rows.timed(put, client, send)
            self.rows.timed(get, client, receive)
            compare(data, got)
            got.unlink()

    def stored(self, data, got, number):
        path = f'/bench/store{number}'
        return 'Store', partial(self.store.put, data, path), partial(self.store.get, path, got)

    def run(self, data, got, number):
        path = f':/bench/program{number}'
        return 'the program', partial(self.program, 'put', data, path), partial(self.program, 'get', path, got)

    def requested(self, data, got, number):
        address, login = f'{self.url}/v1/fs/bench/requests{number}', ('ada', PASSWORD)

        def send():
            with open(data, 'rb') as file:
                requests.put(address, data=file, auth=login).raise_for_status()

        def receive():
            with requests.get(address, auth=login, stream=True) as answer, open(got, 'wb') as file:
                answer.raise_for_status()
                for piece in answer.iter_content(MIB):
                    file.write(piece)

        return '`requests`', send, receive

    def small(self, number):
        files = self.directory / 'small'
        if not files.exists():
            for each in range(self.options.files):
                path = files / f'd{each // 1000:04}' / f'{each:07}'
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(os.urandom(SMALL))
        row, back = f'{{}} {self.options.files:,} files of 1 KiB', self.directory / 'back'
        path = f':/bench/program-small{number}'
        send = partial(self.program, 'put', '--recursive', files, path)
        clients = [('the program', send, partial(self.program, 'get', '--recursive', path, back))]
        for name, fs, root in self.systems():
            path = f'{root}/small{number}'
            send = partial(fs.put, f'{files}/', path, recursive=True)
            clients.append((name, send, partial(fs.get, f'{path}/', str(back), recursive=True)))
        for client, send, receive in rotated(clients, number):
            self.rows.timed(row.format('put'), client, send)
            self.rows.timed(row.format('get'), client, receive)
            for file in files.rglob('*'):
                if file.is_file():
                    compare(file, back / file.relative_to(files))
            shutil.rmtree(back)

    def find(self):
        count = self.options.found
        for name, fs, root in self.systems():
            for first in range(0, count, 10_000):
                some = range(first, min(count, first + 10_000))
                fs.pipe({f'{root}/found/d{first:07}/{each:07}': b'1' for each in some})
            for _ in range(self.options.rounds):
                fs.invalidate_cache()
                found = self.rows.timed(f'`fs.find` of {count:,}', name, fs.find, f'{root}/found')
                if len(found) != count:
                    raise SystemExit(f'{name}: {len(found)} files were found')

    def zarr(self):
        chunks = self.options.chunks
        rows, columns = -(-chunks // CHUNKS_IN_ROW) * CHUNK, CHUNKS_IN_ROW * CHUNK
        numbers = random.Random(7).sample(range(rows * columns // CHUNK**2), chunks)
        data = numpy.arange(rows * columns, dtype='float32').reshape(rows, columns)
        for name, fs, root in self.systems():
            store = zarr.storage.FsspecStore(self.asynchronous(fs), path=f'{root}/array')
            array = zarr.create_array(store, shape=data.shape, chunks=(CHUNK, CHUNK), dtype='f4', compressors=None)
            everything = f'zarr: write {rows * columns // CHUNK**2:,} chunks'
            self.rows.timed(everything, name, array.__setitem__, slice(None), data)
            for _ in range(self.options.rounds):
                some = f'zarr: read {chunks:,} chunks at random, one by one'
                self.rows.timed(some, name, self.read_chunks, array, data, numbers)

    @staticmethod
    def read_chunks(array, data, numbers):
        for number in numbers:
            row, column = (each * CHUNK for each in divmod(number, CHUNKS_IN_ROW))
            part = slice(row, row + CHUNK), slice(column, column + CHUNK)
            if not (array[part] == data[part]).all():
                raise SystemExit('a chunk is another one')

    def imports(self):
        """Seconds in a new interpreter, without its startup time."""
        for name in ('cenote', 'cenote; cenote.connect', 'cenote.gsd.hoomd', 'fsspec', 's3fs'):
            for _ in range(max(5, self.options.rounds)):
                code = f'import time; begun = time.perf_counter(); import {name}; print(time.perf_counter() - begun)'
                done = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
                if done.returncode == 0:
                    self.rows.times.setdefault('import', {}).setdefault(f'`{name}`', []).append(float(done.stdout))


def rotated(clients, number):
    """In another order each round: who comes first after a pause is slower."""
    first = number % len(clients)
    return clients[first:] + clients[:first]


def compare(file, other):
    if subprocess.run(['cmp', '--quiet', file, other]).returncode:
        raise SystemExit(f'{other} differs from {file}')


def show(rows):
    print('| work | client | s |')
    print('|---|---|---|')
    for row, of in rows.items():
        for client, seconds in of.items():
            print(f'| {row} | {client} | {seconds:.3f} |')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('cenote')
    parser.add_argument('--mib', type=int, default=1_024)
    parser.add_argument('--files', type=int, default=10_000)
    parser.add_argument('--found', type=int, default=100_000)
    parser.add_argument('--chunks', type=int, default=2_000)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--without-s3', action='store_true')
    parser.add_argument('--dir', default='/dev/shm')
    parser.add_argument('--json', metavar='FILE')
    return parser.parse_args()


def require_space(options):
    """Files in memory that do not fit end other programs: each round stores a large file for each client."""
    clients = 4 if options.without_s3 else 5
    needed = (clients * options.rounds + 5) * options.mib * MIB
    memory = pathlib.Path('/proc/meminfo').read_text().split('MemAvailable:')[1].split()[0]
    free = min(shutil.disk_usage(options.dir).free, int(memory) << 10)
    if needed > free:
        raise SystemExit(f'{options.dir} and memory need {needed >> 20} MiB, and have {free >> 20}: see --mib, --rounds and --dir')


def main():
    options = arguments()
    require_space(options)
    print(f'load average at the start: {load_average():.2f}')
    with tempfile.TemporaryDirectory(dir=options.dir) as directory:
        server = Cenote(options.cenote, directory)
        s3 = None if options.without_s3 else S3(directory)
        try:
            bench = Bench(options, pathlib.Path(directory), server, s3)
            bench.work()
        finally:
            for each in (server, s3):
                if each:
                    each.stop()
    rows = bench.rows.medians()
    show(rows)
    if options.json:
        pathlib.Path(options.json).write_text(json.dumps(rows, indent=1))


if __name__ == '__main__':
    main()
