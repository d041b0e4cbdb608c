#!/usr/bin/env python3
"""Mixed load against a separate server for some minutes; every byte read is compared with what was written.

    soak.py PROGRAM [--seconds 600] [--clients 6] [--seed 1]

Each client has a collection and a model of its contents. It puts objects of sizes around 64 KiB, 512 KiB and 8 MiB, some in parts,
overwrites, reads ranges, changes metadata, moves, lists and removes, through the native opening and the iRODS HTTP API. At the end everything is compared,
removed, and the store checked. Fails on a wrong answer, on a finding, and on memory, descriptors or disk that grew without bound.
"""

import argparse
import base64
import hashlib
import http.client
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
from collections import defaultdict
from pathlib import Path

PASSWORD = "a secret of the soak"
SIZES = [0, 1, 1_000, 65_535, 65_536, 65_537, 524_288, 524_289, 8 << 20, (8 << 20) + 1]
WEIGHTS = [2, 4, 12, 8, 8, 8, 4, 4, 1, 1]
OBJECTS = 40  # of each client, at most
MIB = 1 << 20


class Wrong(Exception):
    """An unexpected response."""


class Measured:
    """Latencies by kind, in seconds."""

    def __init__(self):
        self.times, self.lock = defaultdict(list), threading.Lock()

    def add(self, kind, seconds):
        with self.lock:
            self.times[kind].append(seconds)

    def table(self):
        print(f"{'operation':<14}{'count':>8}{'p50 ms':>10}{'p99 ms':>10}{'max ms':>10}")
        for kind, times in sorted(self.times.items()):
            times.sort()
            at = [times[int((len(times) - 1) * part)] * 1_000 for part in (0.5, 0.99, 1)]
            print(f"{kind:<14}{len(times):>8}" + "".join(f"{ms:>10.1f}" for ms in at))


class Connection:
    """One client's connection; a request is measured until its response is complete."""

    def __init__(self, address, measured):
        self.http = http.client.HTTPConnection(address, timeout=120)
        login = base64.b64encode(f"ada:{PASSWORD}".encode()).decode()
        self.basic, self.measured, self.token = f"Basic {login}", measured, None

    def request(self, kind, method, path, body=None, headers=None, expect=(200, 201, 204, 206)):
        headers = {"authorization": self.basic, **(headers or {})}
        begun = time.monotonic()
        self.http.request(method, path, body=body, headers=headers)
        answer = self.http.getresponse()
        content = answer.read()
        self.measured.add(kind, time.monotonic() - begun)
        if answer.status not in expect:
            raise Wrong(f"{method} {path}: {answer.status} {content[:300]!r}")
        return content

    def json(self, kind, method, path, value=None):
        body = None if value is None else json.dumps(value).encode()
        return json.loads(self.request(kind, method, path, body, {"content-type": "application/json"}) or b"null")

    def irods(self, kind, method, endpoint, **form):
        if self.token is None:
            self.token = self.request("irods login", "POST", "/irods-http-api/0/authenticate").decode()
        headers = {"authorization": f"Bearer {self.token}"}
        path, words, body = f"/irods-http-api/0/{endpoint}", urllib.parse.urlencode(form), None
        if method == "GET":
            path += "?" + words
        else:
            body, headers["content-type"] = words.encode(), "application/x-www-form-urlencoded"
        return self.request(kind, method, path, body, headers)


class Client(threading.Thread):
    """A collection, its expected contents, and random changes of it."""

    def __init__(self, number, address, measured, zone, seed, until):
        super().__init__(daemon=True)
        self.top, self.zone, self.until, self.fault = f"/soak{number}", zone, until, None
        self.dice, self.known, self.next = random.Random(seed * 1_000 + number), {}, 0
        self.connection = Connection(address, measured)

    def run(self):
        try:
            self.connection.json("create", "POST", "/v1/create", {"path": self.top, "kind": "collection"})
            while time.monotonic() < self.until:
                self.step()
            for name in list(self.known):
                self.compare(name)
        except Exception as fault:  # reported at the end
            self.fault = f"{self.top}: {type(fault).__name__}: {fault}"

    def step(self):
        choices = [(self.put, 20), (self.put_parts, 4)]
        if self.known:
            choices += [(self.read, 40), (self.read_irods, 10), (self.describe, 10), (self.list, 4)]
            choices += [(self.move, 5), (self.remove, 6 if len(self.known) < OBJECTS else 60)]
        steps, weights = zip(*choices)
        self.dice.choices(steps, weights)[0]()

    def bytes(self):
        size = self.dice.choices(SIZES, WEIGHTS)[0]
        return self.dice.randbytes(size)

    def name(self):
        if self.known and self.dice.random() < 0.3:
            return self.any()
        self.next += 1
        return f"{self.top}/o{self.next}"

    def any(self):
        return self.dice.choice(list(self.known))

    def put(self):
        name, content = self.name(), self.bytes()
        self.connection.request("put", "PUT", f"/v1/fs{name}", content)
        self.known[name] = content

    def put_parts(self):
        name, content = self.name(), self.bytes()
        upload = self.connection.json("upload begin", "POST", "/v1/uploads", {"path": name})["id"]
        parts = list(range(0, len(content), max(1, len(content) // 3 + 1)))
        step = max(1, len(content) // 3 + 1)
        self.dice.shuffle(parts)
        for at in parts:
            self.connection.request("upload part", "PUT", f"/v1/uploads/{upload}/{at}", content[at : at + step])
        digest = hashlib.sha256(content).hexdigest()
        self.connection.json("upload end", "POST", f"/v1/uploads/{upload}/complete", {"sha256": digest})
        self.known[name] = content

    def read(self):
        name = self.any()
        content = self.known[name]
        if not content:
            return self.compare(name)
        first = self.dice.randrange(len(content))
        last = min(len(content) - 1, first + self.dice.randrange(1, 300_000))
        headers = {"range": f"bytes={first}-{last}"}
        found = self.connection.request("range", "GET", f"/v1/fs{name}", headers=headers)
        self.same(found, content[first : last + 1], f"{name} {first}-{last}")

    def compare(self, name):
        self.same(self.connection.request("get", "GET", f"/v1/fs{name}"), self.known[name], name)

    def read_irods(self):
        name = self.any()
        content = self.known[name]
        offset, count = self.dice.randrange(len(content) + 1), self.dice.randrange(1, 200_000)
        path = f"/{self.zone}{name}"
        found = self.connection.irods("irods read", "GET", "data-objects", op="read", lpath=path, offset=offset, count=count)
        self.same(found, content[offset : offset + count], f"{name} {offset}+{count} through iRODS")

    def describe(self):
        name, value = self.any(), str(self.dice.random())
        if self.dice.random() < 0.5:
            operations = [{"op": "set", "attribute": "soak", "value": value}]
            self.connection.json("metadata", "POST", "/v1/meta", {"path": name, "operations": operations})
        else:
            operations = json.dumps([{"operation": "add", "attribute": "soak", "value": value}])
            path = f"/{self.zone}{name}"
            self.connection.irods("irods meta", "POST", "data-objects", op="modify_metadata", lpath=path, operations=operations)
        items = self.connection.json("metadata get", "GET", f"/v1/meta?path={name}")["items"]
        if value not in [item["value"] for item in items]:
            raise Wrong(f"{name} has not the value {value} that it was given")

    def list(self):
        entries = self.connection.json("list", "GET", f"/v1/list?path={self.top}")["entries"]
        sizes = {entry["path"]: entry["size"] for entry in entries}
        if sizes != {name: len(content) for name, content in self.known.items()}:
            raise Wrong(f"the listing of {self.top} is not what is in it")

    def move(self):
        name = self.any()
        self.next += 1
        to = f"{self.top}/m{self.next}"
        self.connection.json("move", "POST", "/v1/move", {"from": {"path": name}, "to": to})
        self.known[to] = self.known.pop(name)

    def remove(self):
        name = self.any()
        self.connection.request("remove", "DELETE", f"/v1/fs{name}")
        del self.known[name]

    def same(self, found, expected, what):
        if found != expected:
            raise Wrong(f"{what}: {len(found)} bytes that are not the {len(expected)} that were written")


def disk(store):
    return sum(entry.lstat().st_blocks * 512 for entry in Path(store).rglob("*") if entry.exists())


def process(pid):
    """Resident memory in MiB, and open descriptors."""
    status = Path(f"/proc/{pid}/status").read_text()
    memory = next(int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS"))
    return memory / 1024, len(os.listdir(f"/proc/{pid}/fd"))


def watch(pid, store, clients, begun):
    memory, descriptors = process(pid)
    live = sum(len(content) for client in clients for content in list(client.known.values()))
    seconds = time.monotonic() - begun
    print(f"{seconds:>7.0f} s{memory:>8.0f} MiB{descriptors:>7} fds{live / MIB:>9.0f} MiB live{disk(store) / MIB:>9.0f} MiB on disk", flush=True)
    return memory, descriptors


def settled(store, most):
    """Waits until no more than this is on disk, for half a minute."""
    for _ in range(30):
        if disk(store) <= most:
            break
        time.sleep(1)
    return disk(store)


def soak(program, directory, options):
    store = os.path.join(directory, "store")
    init = [program, "init", store, "--admin", "ada", "--password-stdin", "--keep-removed", "5s"]
    subprocess.run(init, input=PASSWORD.encode(), check=True, stdout=subprocess.DEVNULL)
    serve = [program, "serve", store, "--listen", "127.0.0.1:0"]
    with open(os.path.join(directory, "log"), "wb") as log:
        server = subprocess.Popen(serve, stdout=subprocess.PIPE, stderr=log)
    try:
        address = server.stdout.readline().decode().strip().removeprefix("listening on http://")
        faults = load(server.pid, store, address, options)
    finally:
        server.terminate()
        server.wait()
    check = subprocess.run([program, "--store", store, "check"], capture_output=True, text=True)
    if check.returncode != 0:
        faults.append(f"the check: {check.stdout}{check.stderr}")
    return faults


def load(pid, store, address, options):
    measured, begun = Measured(), time.monotonic()
    zone = json.loads(Connection(address, measured).request("info", "GET", "/irods-http-api/0/info"))["irods_zone"]
    until = begun + options.seconds
    clients = [Client(n, address, measured, zone, options.seed, until) for n in range(options.clients)]
    for client in clients:
        client.start()
    seen = []
    while any(client.is_alive() for client in clients):
        time.sleep(max(1, options.seconds / 20))
        seen.append(watch(pid, store, clients, begun))
    faults = [client.fault for client in clients if client.fault]
    live = sum(len(content) for client in clients for content in client.known.values())
    left = settled(store, 1.3 * live + 1024 * MIB)
    print(f"{live / MIB:.0f} MiB live, {left / MIB:.0f} MiB on disk after the load")
    if left > 1.3 * live + 1024 * MIB:
        faults.append("more than 1.3 times what is live and 1 GiB is on disk")
    faults += growth(seen)
    measured.table()
    return faults


def growth(seen):
    """Whether the second half needed much more than the first."""
    half = len(seen) // 2
    if half < 3:
        return []
    faults = []
    for number, what, slack in [(0, "memory", 64), (1, "descriptors", 64)]:
        before, after = max(row[number] for row in seen[:half]), max(row[number] for row in seen[half:])
        if after > 1.5 * before + slack:
            faults.append(f"{what} grew from {before:.0f} to {after:.0f}")
    return faults


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("--seconds", type=float, default=600)
    options.add_argument("--clients", type=int, default=6)
    options.add_argument("--seed", type=int, default=1)
    options = options.parse_args()
    with tempfile.TemporaryDirectory(prefix="cenote-soak-") as directory:
        faults = soak(os.path.abspath(options.program), directory, options)
    for fault in faults:
        print(f"FAULT {fault}", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
