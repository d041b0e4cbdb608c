"""The published benchmark of LAKEsuperior, for cenote and for the given peers, one after the other in one run.

    bench.py CENOTE [--children 10000] [--peer NAME=URL]… [--json FILE]

CENOTE is the program; its server runs with its own store in a directory below TMPDIR. A peer is a running server; URL is an address
below which resources can be created without a login, with a slash at its end if those of containers have one. Each resource has 200 triples (see shape.py), and links to the one created
before it. One client with one persistent connection, except for the row of 8 clients; building a body is not timed.
"""

import argparse
import json
import multiprocessing
import random
import statistics
import tempfile
import time
import uuid

from server import Cenote, Peer, load_average
from shape import graph

TURTLE = {'Content-Type': 'text/turtle'}
#: Reads of one kind.
READS = 500
#: Retrievals of a parent.
PARENTS = 5
CLIENTS = 8


def middle(times):
    return round(statistics.median(times), 3)


def quantile(times, part):
    return round(sorted(times)[min(len(times) - 1, int(len(times) * part))], 3)


def put_children(server, parent, count, rng, ref):
    """Creates children by PUT; returns the time of each, and the path of the last."""
    connection = server.connect()
    times, path = [], ref
    for _ in range(count):
        body = graph(rng, f'http://{server.host}{path}')
        path = f'{parent.rstrip("/")}/{uuid.UUID(int=rng.getrandbits(128), version=4)}'
        times.append(connection.timed('PUT', path, body, **TURTLE)[0])
    return times, path


def post_children(server, parent, count, rng):
    connection = server.connect()
    return [
        connection.timed('POST', parent, graph(rng, f'http://{server.host}{parent}'), **TURTLE)[0]
        for _ in range(count)
    ]


def read_child(server, path):
    connection = server.connect()
    got = [connection.timed('GET', path, Accept='text/turtle')[0] for _ in range(READS)]
    head = [connection.timed('HEAD', path, Accept='text/turtle')[0] for _ in range(READS)]
    return {'child GET, median ms': middle(got), 'child HEAD, median ms': middle(head)}


def read_parent(server, parent, members):
    connection = server.connect()
    whole = [connection.timed('GET', parent, Accept='text/turtle') for _ in range(PARENTS)]
    return {
        f'parent of {members}, median ms': middle([it[0] for it in whole]),
        f'parent of {members}, first byte, median ms': middle([it[1] for it in whole]),
    }


def fill(server, count):
    """The published run: children of one parent, with the parent retrieved after each tenfold of a thousand."""
    rng = random.Random(1)
    parent = server.connect().make_container()
    times, path, rows = [], parent, {}
    for members in [step for step in (1_000, 10_000, 100_000) if step <= count] or [count]:
        more, path = put_children(server, parent, members - len(times), rng, path)
        times += more
        rows |= read_parent(server, parent, members)
    edge = min(1_000, len(times) // 2)
    return {
        f'PUT {len(times)}, median ms': middle(times),
        'PUT, mean ms': round(statistics.mean(times), 3),
        'PUT, p99.9 ms': quantile(times, 0.999),
        'PUT, mean of the first thousand, ms': round(statistics.mean(times[:edge]), 3),
        'PUT, mean of the last thousand, ms': round(statistics.mean(times[-edge:]), 3),
        'peak memory, MB': megabytes(server.peak_memory()),
        'on disk, MB': megabytes(server.on_disk()),
        'of it in an empty store, MB': megabytes(server.empty),
        **rows,
        **read_child(server, path),
    }


def post(server, count):
    parent = server.connect().make_container()
    return {f'POST {count}, median ms': middle(post_children(server, parent, count, random.Random(2)))}


def run_client(server, parent, count, seed, reads, ready):
    """One of several clients: `reads` GETs of its last child for each PUT."""
    rng = random.Random(seed)
    bodies = [graph(rng, f'http://{server.host}{parent}') for _ in range(count)]
    connection = server.connect()
    ready.wait()
    for body in bodies:
        path = f'{parent.rstrip("/")}/{uuid.UUID(int=rng.getrandbits(128), version=4)}'
        connection.timed('PUT', path, body, **TURTLE)
        for _ in range(reads):
            connection.timed('GET', path, Accept='text/turtle')


def clients(server, each, reads):
    """Requests per second of several concurrent clients, which share the machine with the server."""
    parent = server.connect().make_container()
    ready = multiprocessing.Barrier(CLIENTS + 1)
    of = [
        multiprocessing.Process(target=run_client, args=(server, parent, each, seed, reads, ready))
        for seed in range(CLIENTS)
    ]
    for client in of:
        client.start()
    ready.wait()
    begun = time.perf_counter()
    for client in of:
        client.join()
        if client.exitcode:
            raise SystemExit('a client failed')
    return round(CLIENTS * each * (1 + reads) / (time.perf_counter() - begun))


def megabytes(size):
    return None if size is None else round(size / 1e6, 1)


def measure(server, children):
    few = max(20, min(1_000, children // 10))
    rows = fill(server, children)
    rows |= post(server, few)
    rows['8 clients, PUTs a second'] = clients(server, few // 2, 0)
    rows['8 clients, 50 GETs to a PUT, requests a second'] = clients(server, max(2, few // 50), 50)
    return rows


def table(results):
    names = list(results)
    print('| | ' + ' | '.join(names) + ' |')
    print('|---' * (len(names) + 1) + '|')
    for row in results[names[0]]:
        cells = [results[name].get(row) for name in names]
        print(f'| {row} | ' + ' | '.join('' if cell is None else f'{cell:,}' for cell in cells) + ' |')


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('cenote')
    parser.add_argument('--children', type=int, default=10_000)
    parser.add_argument('--peer', action='append', default=[], metavar='NAME=URL')
    parser.add_argument('--json', metavar='FILE')
    return parser.parse_args()


def main():
    options = arguments()
    peers = [Peer(*peer.split('=', 1)) for peer in options.peer]
    results = {}
    print(f'load average at the start: {load_average():.2f}')
    with tempfile.TemporaryDirectory() as directory:
        for server in [Cenote(options.cenote, directory), *peers]:
            try:
                results[server.name] = measure(server, options.children)
            finally:
                server.stop()
    table(results)
    if options.json:
        with open(options.json, 'w') as file:
            json.dump(results, file, indent=1)


if __name__ == '__main__':
    main()
