"""The same load on a store on this machine, over PostgreSQL with one server, and with three behind nginx.

    bench.py CENOTE [--contents disk|bucket] [--small 200] [--mib 16] [--graphs 50] [--entries 1000] [--reads 20] [--clients 16]
             [--seconds 5] [--rounds 3] [--dir DIR] [--json FILE]

* puts and gets of 4 KiB (SMALL of each a round) and of MIB, one after the other, by one client with one connection;
* LDP: PUT of 200 triples (GRAPHS a round);
* the listing of ENTRIES children, and a query of an attribute that 100 of them have (READS of each a round);
* small puts of CLIENTS clients, each with a login of its own, for SECONDS.

Rounds are interleaved: each one runs every store once, and a row is the median of all times. All servers, PostgreSQL and nginx run on
this machine, below DIR, and share its cores: three servers cannot be faster here than its cores are. PostgreSQL syncs each commit.
Contents of more than 64 KiB are in a directory that the servers share, or in a bucket of moto, which keeps them in memory, in Python;
the store on this machine always has them in its own directory. Received data is compared with the data sent.
"""

import argparse
import json
import multiprocessing
import os
import random
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path

from backends import Bucket, Disk, Postgres, moto
from sides import Side

# `sides` adds the directory of these.
from server import load_average, touch_memory  # isort: skip
from shape import graph  # isort: skip

MIB = 1 << 20
SMALL = 4096
#: Children with the attribute that is searched for.
FOUND = 100
JSON = {'Content-Type': 'application/json'}
BYTES = {'Content-Type': 'application/octet-stream'}


class Rows:
    """Milliseconds, and rates, by row and store."""

    def __init__(self):
        self.found = {}

    def add(self, row, side, *values):
        self.found.setdefault(row, {}).setdefault(side, []).extend(values)

    def medians(self):
        return {
            row: {side: round(statistics.median(values), 3) for side, values in of.items()}
            for row, of in self.found.items()
        }


def prepare(side, options):
    """Collections for the load, one of them with children that can be found."""
    connection = side.connect()
    for path in ('/small', '/large', '/graphs', '/many', '/load'):
        body = json.dumps({'path': path, 'kind': 'collection'}).encode()
        connection.timed('POST', '/v1/create', body, **JSON)
    for number in range(options.entries):
        connection.timed('PUT', f'/v1/fs/many/{number:06}', b'', **BYTES)
    for number in range(min(FOUND, options.entries)):
        note = {'op': 'set', 'attribute': 'topic', 'value': 'servers'}
        body = json.dumps({'path': f'/many/{number:06}', 'operations': [note]}).encode()
        connection.timed('POST', '/v1/meta', body, **JSON)


def small(side, options, rows, number):
    connection, data = side.connect(), os.urandom(SMALL)
    for each in range(options.small):
        path = f'/v1/fs/small/{number}-{each}'
        rows.add('put of 4 KiB, ms', side.name, connection.timed('PUT', path, data, **BYTES)[0])
        taken, _, _, got = connection.timed('GET', path)
        rows.add('get of 4 KiB, ms', side.name, taken)
        require(got == data, side, path)


def large(side, options, rows, number):
    touch_memory(3 * options.mib * MIB)
    connection, data, path = side.connect(), os.urandom(options.mib * MIB), f'/v1/fs/large/{number}'
    rows.add(f'put of {options.mib} MiB, ms', side.name, connection.timed('PUT', path, data, **BYTES)[0])
    taken, _, _, got = connection.timed('GET', path)
    rows.add(f'get of {options.mib} MiB, ms', side.name, taken)
    require(got == data, side, path)


def graphs(side, options, rows, number):
    connection, rng = side.connect(), random.Random(number)
    for each in range(options.graphs):
        path = f'/ldp/graphs/{number}-{each}'
        body = graph(rng, f'http://{side.host}/ldp/graphs')
        taken = connection.timed('PUT', path, body, **{'Content-Type': 'text/turtle'})[0]
        rows.add('LDP: PUT of 200 triples, ms', side.name, taken)


def reads(side, options, rows, _number):
    connection = side.connect()
    where = [{'attribute': 'topic', 'op': '=', 'value': 'servers'}]
    query = json.dumps({'under': '/many', 'where': where, 'limit': 1000}).encode()
    for _ in range(options.reads):
        taken, _, _, listed = connection.timed('GET', f'/v1/list?path=/many&limit={options.entries}')
        rows.add(f'list of {options.entries:,}, ms', side.name, taken)
        require(len(json.loads(listed)['entries']) == options.entries, side, 'list')
        taken, _, _, found = connection.timed('POST', '/v1/search', query, **JSON)
        count = min(FOUND, options.entries)
        rows.add(f'query of an attribute that {count} have, ms', side.name, taken)
        require(len(json.loads(found)['items']) == count, side, 'search')


def put_for_a_while(side, login, prefix, seconds, start, counts):
    side.headers['Authorization'] = login
    connection, data, done = side.connect(), os.urandom(SMALL), 0
    start.wait()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        connection.timed('PUT', f'/v1/fs/load/{prefix}-{done}', data, **BYTES)
        done += 1
    counts.put(done)


def together(side, options, rows, number):
    """Each client is a process, since one interpreter is slower than a server."""
    context = multiprocessing.get_context('fork')
    start, counts = context.Barrier(options.clients), context.Queue()
    work = [
        context.Process(target=put_for_a_while, args=(side, login, f'{number}-{each}', options.seconds, start, counts))
        for each, login in enumerate(side.logins)
    ]
    for each in work:
        each.start()
    done = sum(counts.get(timeout=options.seconds + 120) for _ in work)
    for each in work:
        each.join()
    rows.add(f'puts of 4 KiB by {options.clients} clients, a second', side.name, done / options.seconds)


def require(holds, side, what):
    if not holds:
        raise SystemExit(f'{side.name}: {what}: another answer than expected')


def sides(options, directory, postgres, contents):
    yield Side('embedded', options.cenote, directory / 'embedded')
    for name, count, schema in (('PostgreSQL, 1 server', 1, 'one'), ('PostgreSQL, 3 servers', 3, 'three')):
        flags = ['--catalog', postgres.schema(schema), '--contents', contents.contents(schema)]
        yield Side(name, options.cenote, directory / schema, count, flags, contents.variables)


def measure(options, directory, rows):
    with ExitStack() as started:
        def start(each):
            started.callback(each.stop)
            return each

        postgres = start(Postgres(directory))
        contents = start(Bucket(directory, moto()) if options.contents == 'bucket' else Disk(directory))
        measured = [start(side) for side in sides(options, directory, postgres, contents)]
        for side in measured:
            side.logins = side.tokens(options.clients)
            prepare(side, options)
        for number in range(options.rounds):
            for work in (small, large, graphs, reads, together):
                for side in measured:
                    work(side, options, rows, number)


def show(rows):
    names = list(dict.fromkeys(name for of in rows.values() for name in of))
    print('| | ' + ' | '.join(names) + ' |')
    print('|---' * (len(names) + 1) + '|')
    for row, of in rows.items():
        print(f'| {row} | ' + ' | '.join(f'{of[name]:,}' for name in names) + ' |')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('cenote', type=lambda path: str(Path(path).resolve()))
    parser.add_argument('--contents', choices=('disk', 'bucket'), default='disk')
    for name, default in (
        ('small', 200), ('mib', 16), ('graphs', 50), ('entries', 1_000), ('reads', 20), ('clients', 16),
        ('seconds', 5), ('rounds', 3),
    ):
        parser.add_argument(f'--{name}', type=int, default=default)
    parser.add_argument('--dir', metavar='DIR')
    parser.add_argument('--json', metavar='FILE')
    return parser.parse_args()


def main():
    options, rows = arguments(), Rows()
    print(f'load average at the start: {load_average():.2f}; contents: {options.contents}')
    with tempfile.TemporaryDirectory(dir=options.dir) as directory:
        measure(options, Path(directory), rows)
    show(rows.medians())
    if options.json:
        found = {'contents': options.contents, 'rounds': options.rounds, 'rows': rows.medians()}
        Path(options.json).write_text(json.dumps(found, indent=1))


if __name__ == '__main__':
    main()
