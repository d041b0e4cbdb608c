"""What a day's changes leave in PostgreSQL, with its autovacuum at the defaults.

    bloat.py CENOTE [--changes 500000] [--clients 16] [--size 1000] [--every 60] [--at-most 3600] [--dir DIR]

CLIENTS connections change a store together, each in a collection of its own, until CHANGES have been acknowledged, or for AT_MOST seconds:
of ten changes four put contents of SIZE bytes under a new name, three overwrite one, two set an attribute, and one removes an object for
good. EVERY so many seconds rows are printed: of the tables and indexes their sizes in MB, live and dead rows as PostgreSQL estimates them, and how often autovacuum has been there, and the
median and the 99th percentile of the changes since the row before, in milliseconds. The database is on this machine, syncs each commit, and
is vacuumed at the end, to show what would have been free.
"""

import argparse
import http.client
import json
import random
import statistics
import tempfile
import threading
import time
from contextlib import ExitStack
from pathlib import Path

from backends import Disk, Postgres
from sides import Side

BYTES = {'Content-Type': 'application/octet-stream'}
JSON = {'Content-Type': 'application/json'}

TABLES = """
SELECT relname, pg_table_size(relid) / 1e6, pg_indexes_size(relid) / 1e6, n_live_tup, n_dead_tup, autovacuum_count
FROM pg_stat_user_tables WHERE relname LIKE 'cenote%' ORDER BY relname
"""


class Load:
    """Clients that change objects, and what they have done."""

    def __init__(self, side, options):
        self.side, self.options = side, options
        self.left, self.lock = options.changes, threading.Lock()
        self.until = time.monotonic() + options.at_most
        self.took = []

    def turn(self):
        """Whether there is another change to make."""
        with self.lock:
            self.left -= 1
            return self.left >= 0 and time.monotonic() < self.until

    def client(self, number, token):
        host, chance = self.side.host, random.Random(number)
        connection = http.client.HTTPConnection(host)
        headers = {'Authorization': token}
        names, made = [], 0

        def send(method, path, body, kind):
            began = time.perf_counter()
            connection.request(method, path, body, {**headers, **kind})
            answer = connection.getresponse()
            answer.read()
            assert answer.status < 300, f'{method} {path}: {answer.status}'
            self.took.append(1000 * (time.perf_counter() - began))

        while self.turn():
            dice = chance.random()
            if dice < 0.4 or not names:
                names.append(f'load{number}/{made}')
                made += 1
                send('PUT', f'/v1/fs/{names[-1]}', chance.randbytes(self.options.size), BYTES)
                continue
            at = chance.randrange(len(names))
            if dice < 0.7:
                send('PUT', f'/v1/fs/{names[at]}', chance.randbytes(self.options.size), BYTES)
            elif dice < 0.9:
                set_one = {'op': 'set', 'attribute': 'note', 'value': str(chance.random())}
                send('POST', '/v1/meta', json.dumps({'path': f'/{names[at]}', 'operations': [set_one]}), JSON)
            else:
                names[at], names[-1] = names[-1], names[at]
                send('DELETE', f'/v1/fs/{names.pop()}?permanent=true&versions=true', None, {})


def rows(postgres, query):
    output = postgres.query(query)
    return [line.split('|') for line in output.splitlines()]


def show(postgres, load, began, since):
    took = load.took[since:]
    done = f'{time.monotonic() - began:.0f} s, {len(load.took)} changes'
    if len(took) > 1:
        done += f', median {statistics.median(took):.1f} ms, 99 % {statistics.quantiles(took, n=100)[98]:.1f} ms'
    print(done, flush=True)
    for name, table, index, live, dead, vacuums in rows(postgres, TABLES):
        print(f'  {name}: table {float(table):.1f} MB, indexes {float(index):.1f} MB, {live} live, {dead} dead, {vacuums} vacuums', flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('cenote', type=lambda path: str(Path(path).resolve()))
    parser.add_argument('--changes', type=int, default=500_000)
    parser.add_argument('--clients', type=int, default=16)
    parser.add_argument('--size', type=int, default=1_000)
    parser.add_argument('--every', type=float, default=60)
    parser.add_argument('--at-most', type=float, default=3_600)
    parser.add_argument('--dir')
    options = parser.parse_args()
    with ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=options.dir)))
        postgres = Postgres(directory)
        stack.callback(postgres.stop)
        disk = Disk(directory)
        flags = ('--catalog', postgres.schema('bloat'), '--contents', disk.contents('bloat'))
        side = Side('bloat', options.cenote, directory / 'bloat', 1, flags)
        stack.callback(side.stop)
        load, tokens, began, since = Load(side, options), side.tokens(options.clients), time.monotonic(), 0
        for number in range(options.clients):
            body = json.dumps({'path': f'/load{number}', 'kind': 'collection'}).encode()
            connection = http.client.HTTPConnection(side.host)
            connection.request('POST', '/v1/create', body, {'Authorization': tokens[number], **JSON})
            assert connection.getresponse().status < 300
        show(postgres, load, began, since)
        clients = [threading.Thread(target=load.client, args=of) for of in enumerate(tokens)]
        for client in clients:
            client.start()
        while any(client.is_alive() for client in clients):
            next(client for client in clients if client.is_alive()).join(options.every)
            show(postgres, load, began, since)
            since = len(load.took)
        postgres.query('VACUUM')
        print('after VACUUM')
        show(postgres, load, began, since)
        postgres.query('VACUUM FULL')
        print('after VACUUM FULL, the least that the rows take')
        show(postgres, load, began, since)


if __name__ == '__main__':
    main()
