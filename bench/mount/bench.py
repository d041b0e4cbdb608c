#!/usr/bin/env python3
"""Measures a mount of a server on this machine, compared with `curl` and the local disk.

    bench/mount/bench.py PROGRAM [--mib 1024] [--files 1000] [--entries 10000] [--rounds 3] [--latency-ms 20] [--dir DIR]
    bench/mount/bench.py PROGRAM --published [--dxfuse PROGRAM]… [--dx PROGRAM] [--rclone PROGRAM] [--room GB] [--rounds 3]

It needs root (for cold caches) and fusermount3. Each line is the median of the rounds. "cold" means that the kernel's caches were
dropped; the file of the server is read once before, so that its disk is not measured. `--published` runs the tables of published.py
instead, beside other mounts.
"""

import argparse
import base64
import concurrent.futures
import http.client
import json
import os
import random
import statistics
import subprocess
import sys

from project import Project
from published import published
from world import MIB, Proxy, World, peak_memory, run, seconds


class Bench:
    def __init__(self, world, options):
        self.world, self.options = world, options
        self.mnt = world.mnt

    def median(self, work, before=lambda: None):
        times = []
        for _ in range(self.options.rounds):
            before()
            times.append(seconds(work))
        return statistics.median(times)

    def line(self, what, value, beside=''):
        print(f'| {what} | {value} | {beside} |', flush=True)

    def rate(self, time):
        return f'{self.options.mib * MIB / time / 1e6:,.0f} MB/s'

    def remounted(self, *flags, url=None):
        """A mount with empty caches, including the kernel's; the file of the server is in the page cache."""
        def again():
            self.world.umount()
            self.world.mount('--write', *flags, url=url)
            self.world.warm()
        return again

    def cat(self, path):
        return lambda: run('dd', f'if={path}', 'of=/dev/null', 'bs=1M', stderr=subprocess.DEVNULL)

    def whole(self):
        self.line('mount to ready', f'{self.world.mount("--write") * 1000:.0f} ms')
        self.write()
        self.read()
        self.random()
        self.small()
        self.listing()
        self.project()
        self.world.umount()
        self.passed_through()

    def write(self):
        mib = self.options.mib
        source = self.world.dir / 'local/source'
        run('dd', 'if=/dev/urandom', f'of={source}', 'bs=1M', f'count={mib}', stderr=subprocess.DEVNULL)

        def to(path):
            return lambda: run('dd', f'if={source}', f'of={path}', 'bs=1M', 'conv=fsync', stderr=subprocess.DEVNULL)
        disk = self.median(to(self.world.dir / 'local/copy'), lambda: (self.world.dir / 'local/copy').unlink(missing_ok=True))
        ours = self.median(to(self.mnt / 'large'), lambda: (self.mnt / 'large').unlink(missing_ok=True))
        self.line(f'write {mib} MiB, with close', self.rate(ours), f'`dd conv=fsync` to the disk {self.rate(disk)}')
        (self.world.dir / 'local/copy').unlink()
        self.line('memory of the mount after that', f'{peak_memory(self.world.program, self.mnt)} MiB')

    def read(self):
        mib, latency = self.options.mib, self.options.latency_ms
        url = f'{self.world.url}/v1/fs/large'
        self.world.warm()
        curl = self.median(lambda: run('curl', '-sf', '-o', '/dev/null', '-u', 'ada:a secret', url))
        beside = f'`curl` {self.rate(curl)}'
        remote = self.median(self.cat(self.mnt / 'large'), self.remounted('--no-local'))
        self.line(f'read {mib} MiB through the server, cold', self.rate(remote), beside)
        again = self.median(self.cat(self.mnt / 'large'))
        disk = self.median(self.cat(self.world.dir / 'local/source'))
        self.line('the same again (the kernel has it)', self.rate(again), f'a file of the disk, likewise {self.rate(disk)}')
        local = self.median(self.cat(self.mnt / 'large'), self.remounted())
        self.line(f'read {mib} MiB on the same disk, cold', self.rate(local), f'the file itself {self.rate(disk)}')
        slow = Proxy(self.world.url, latency / 1000).url
        far = self.median(self.cat(self.mnt / 'large'), self.remounted('--no-local', url=slow))
        curl = self.median(lambda: run('curl', '-sf', '-o', '/dev/null', '-u', 'ada:a secret', f'{slow}/v1/fs/large'))
        self.line(f'read {mib} MiB at {latency} ms, cold', self.rate(far), f'`curl` {self.rate(curl)}')
        self.remounted()()

    def random(self):
        for what, flags in (('through the server', ['--no-local']), ('on the same disk', [])):
            self.remounted(*flags)()
            with open(self.mnt / 'large', 'rb', buffering=0) as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
                self.line(f'random reads of 4 KiB {what}, one at a time', f'{self.at_random(file, 2000):,.0f} a second')
                self.line(f'random reads of 4 KiB {what}, 16 at a time', f'{self.at_random(file, 8000, 16):,.0f} a second')
        rates = []
        for path in (self.mnt / 'large', self.world.dir / 'local/source'):
            self.cat(path)()
            with open(path, 'rb', buffering=0) as file:
                rates.append(f'{self.at_random(file, 100_000):,.0f} a second')
        self.line('random reads of 4 KiB, cached by the kernel', rates[0], f'a file of the disk, likewise {rates[1]}')

    def at_random(self, file, count, threads=1):
        """Reads a second, at random places."""
        pages = self.options.mib * MIB // 4096
        places = [random.randrange(pages) * 4096 for _ in range(count)]
        if threads == 1:
            return count / seconds(lambda: [os.pread(file.fileno(), 4096, at) for at in places])
        with concurrent.futures.ThreadPoolExecutor(threads) as pool:
            read = lambda at: os.pread(file.fileno(), 4096, at)
            return count / seconds(lambda: list(pool.map(read, places, chunksize=1)))

    def small(self):
        count = self.options.files

        def write(root):
            for n in range(count):
                (root / f'{n}').write_bytes(b'x')

        def read(root):
            for n in range(count):
                (root / f'{n}').read_bytes()
        took = {}
        for name, root in (('mount', self.mnt / 'small'), ('disk', self.world.dir / 'local/small')):
            root.mkdir()
            took[name] = seconds(lambda: write(root))
        beside = f'to the disk, not synced, {count / took["disk"]:,.0f}; `PUT` over one connection {self.puts(count):,.0f}'
        self.line(f'write {count} files of one byte', f'{count / took["mount"]:,.0f} a second', beside)
        self.line('the same, 16 at a time', f'{self.concurrent_writes(count):,.0f} a second')
        self.remounted()()
        first = seconds(lambda: read(self.mnt / 'small'))
        self.line(f'read {count} files of one byte, first time', f'{first:.3f} s')
        self.line('again', f'{seconds(lambda: read(self.mnt / "small")):.3f} s')
        cat = lambda: run('cat', *map(str, range(count)), cwd=self.mnt / 'small', stdout=subprocess.DEVNULL)
        self.line('`cat` of these files, first time', f'{self.median(cat, self.remounted()):.3f} s')

    def puts(self, count):
        """How many objects of one byte are put a second, one after the other: what a file costs at least."""
        connection = http.client.HTTPConnection(self.world.url.split('//')[1])
        headers = {'Authorization': 'Basic ' + base64.b64encode(b'ada:a secret').decode()}

        def put(n):
            connection.request('PUT', f'/v1/fs/puts/{n}?parents=true', b'x', headers)
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 201, answer.status
        put('first')
        return count / seconds(lambda: [put(n) for n in range(count)])

    def concurrent_writes(self, count):
        root = self.mnt / 'concurrent'
        root.mkdir()
        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            write = lambda n: (root / f'{n}').write_bytes(b'x')
            return count / seconds(lambda: list(pool.map(write, range(count))))

    def listing(self):
        count = self.options.entries
        tree = self.world.dir / 'local/many'
        tree.mkdir()
        for n in range(count):
            (tree / f'entry{n}').write_bytes(b'')
        self.world.cenote('--quiet', 'put', '-r', tree, ':/many')
        self.remounted()()
        listing = lambda: run('ls', '-l', self.mnt / 'many', stdout=subprocess.DEVNULL)
        self.line(f'`ls -l` of {count} files, first time', f'{seconds(listing):.3f} s', f'the disk {seconds(lambda: run("ls", "-l", tree, stdout=subprocess.DEVNULL)):.3f} s')
        self.line('again', f'{seconds(listing):.3f} s')
        missing = lambda: [os.path.exists(self.mnt / 'many/missing') for _ in range(10_000)]
        self.line('look for a missing name, again', f'{seconds(missing) / 10_000 * 1e6:.1f} us')

    def project(self):
        local = self.world.dir / 'local'
        project = Project(local / 'project.tar', [self.mnt, local])
        for step, (mount, disk) in project.measure(self.options.rounds).items():
            self.line(f'a project in C of 1,203 files: {step}', f'{mount:.2f} s', f'the disk {disk:.2f} s')

    def passed_through(self):
        """What the kernel reads itself: the file of the store, and then that of a disk cache, without its server's files.

        The content is sent with one request: one that is written in pieces, as through a mount, is not one file of the store.
        """
        mib, large = self.options.mib, self.mnt / 'whole'
        source = self.world.dir / 'local/source'
        run('curl', '-sf', '-u', 'ada:a secret', '-T', source, f'{self.world.url}/v1/fs/whole', stdout=subprocess.DEVNULL)
        disk = self.rate(self.median(self.cat(self.world.dir / 'local/source')))
        passed = self.median(self.cat(large), self.mounted_anew('--passthrough'))
        self.line(f'read {mib} MiB on the same disk with `--passthrough`', self.rate(passed), f'the file itself {disk}')
        self.world.umount()
        self.world.stop()
        self.world.serve('no-leases')
        cache = self.world.dir / 'cache'
        self.fill_cache(cache)
        kept = self.median(self.cat(large), self.mounted_anew('--cache', cache))
        self.line(f'read {mib} MiB in the disk cache', self.rate(kept), f'the file itself {disk}')
        # The first mount compares the content with its checksums.
        first = seconds(lambda: (self.mounted_anew('--cache', cache, '--passthrough')(), self.cat(large)()))
        self.line(f'read {mib} MiB in the disk cache with `--passthrough`, first mount', self.rate(first))
        kept = self.median(self.cat(large), self.mounted_anew('--cache', cache, '--passthrough'))
        self.line(f'read {mib} MiB in the disk cache with `--passthrough`', self.rate(kept), f'the file itself {disk}')
        self.world.umount()

    def mounted_anew(self, *flags):
        def again():
            if os.path.ismount(self.mnt):
                self.world.umount()
            self.world.mount(*flags)
        return again

    def fill_cache(self, cache):
        """A mount keeps what the disk takes in time, and the rest when it is read again."""
        self.mounted_anew('--cache', cache)()
        while self.kept() < self.options.mib * MIB:
            self.cat(self.mnt / 'whole')()
            self.mounted_anew('--cache', cache)()
        run('cat', *(path for path in cache.rglob('*') if path.is_file()), stdout=subprocess.DEVNULL)

    def kept(self):
        return json.loads(os.getxattr(self.mnt, 'cenote.status'))['cache']['bytes']['used']


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--mib', type=int, default=1024)
    parser.add_argument('--files', type=int, default=1000)
    parser.add_argument('--entries', type=int, default=10_000)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--latency-ms', type=int, default=20)
    parser.add_argument('--dir', help='where the store and the files are')
    parser.add_argument('--published', action='store_true', help='uploads and downloads of many sizes, beside other mounts')
    parser.add_argument('--dxfuse', action='append', default=[], metavar='PROGRAM', help='a dxfuse to compare with')
    parser.add_argument('--dx', metavar='PROGRAM', help='the `dx` whose `dx cat` is compared')
    parser.add_argument('--rclone', metavar='PROGRAM', help='the rclone to compare with, by default that on the PATH')
    parser.add_argument('--room', type=float, metavar='GB', help='the disk that files may take, by default half of what is free')
    options = parser.parse_args()
    if os.getuid() != 0:
        sys.exit('this needs root')
    world = World(options.program, options.dir)
    try:
        if options.published:
            published(world, options)
        else:
            print('| what | mount | beside |\n|---|---|---|')
            Bench(world, options).whole()
    finally:
        world.close()


if __name__ == '__main__':
    main()
