"""What the cache of a bucket saves: puts and gets of contents in a bucket, by a server with one and by one without.

    cache.py CENOTE [--bucket moto|versitygw] [--sizes 1,1024,65536] [--count 20] [--rounds 3] [--dir DIR]

SIZES are in KiB. The bucket is on this machine: one of moto, which keeps everything in memory, in Python, or of versitygw, which keeps
files. A bucket of a provider is further away. Each round puts COUNT contents of each size (fewer large ones) to each server, and gets each twice: the first time from the
bucket, which fills the cache, the next time from the cache. Contents of up to 64 KiB are in the catalog. Received data is compared with the
data sent. A row is the median, in milliseconds.
"""

import argparse
import random
import statistics
import tempfile
from contextlib import ExitStack
from pathlib import Path

from backends import Bucket, Gateway, moto, versitygw
from sides import Side

BYTES = {'Content-Type': 'application/octet-stream'}
CACHE = 'read_cache_bytes = 4294967296\n'


def measure(side, kib, count, found, chance):
    """Puts contents, and gets each of them twice."""
    connection = side.connect()

    def row(name):
        return found.setdefault(f'{name} of {kib} KiB', {}).setdefault(side.name, [])

    for number in range(count):
        body, path = chance.randbytes(kib << 10), f'/v1/fs/{kib}-{number}'
        row('put').append(connection.timed('PUT', path, body, **BYTES)[0])
        for name in ('first get', 'next get'):
            milliseconds, _, _, got = connection.timed('GET', path)
            row(name).append(milliseconds)
            assert got == body, f'{path} is not what was put'


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('cenote', type=lambda path: str(Path(path).resolve()))
    parser.add_argument('--bucket', choices=['moto', 'versitygw'], default='moto')
    parser.add_argument('--sizes', type=lambda sizes: [int(size) for size in sizes.split(',')], default=[1, 1024, 65536])
    parser.add_argument('--count', type=int, default=20)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--dir')
    options = parser.parse_args()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.dir)))
        bucket = Bucket(directory, moto()) if options.bucket == 'moto' else Gateway(directory, versitygw())
        stack.callback(bucket.stop)
        sides, found = [], {}
        for name, settings in (('without', ''), ('with', CACHE)):
            flags = ('--contents', bucket.contents(name))
            side = Side(name, options.cenote, directory / name, 1, flags, bucket.variables, settings)
            stack.callback(side.stop)
            sides.append(side)
        chance = random.Random(1)
        for _ in range(options.rounds):
            for side in sides:
                for kib in options.sizes:
                    measure(side, kib, max(1, options.count * 1024 // max(kib, 1024)), found, chance)
        print('| ms | ' + ' | '.join(side.name for side in sides) + ' |\n|---|---|---|')
        for row, of in found.items():
            print(f'| {row} | ' + ' | '.join(f'{statistics.median(of[side.name]):.2f}' for side in sides) + ' |')


if __name__ == '__main__':
    main()
