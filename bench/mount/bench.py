#!/usr/bin/env python3
"""Measures a mount of a server on this machine, compared with `curl` and the local disk.

    bench/mount/bench.py PROGRAM [--mib 1024] [--files 1000] [--entries 10000] [--rounds 3] [--latency-ms 20] [--dir DIR]

It needs root (for cold caches) and fusermount3. Each line is the median of the rounds. "cold" means that the kernel's caches were
dropped; the file of the server is read once before, so that its disk is not measured.
"""

import argparse
import base64
import concurrent.futures
import http.client
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import socket
import time

MIB = 1 << 20


def run(*command, **options):
    return subprocess.run([str(part) for part in command], check=True, **options)


class Proxy:
    """Forwards connections, delaying each direction by half of the latency."""

    def __init__(self, port, latency):
        self.port, self.delay = port, latency / 2
        self.listener = socket.create_server(('127.0.0.1', 0))
        self.address = self.listener.getsockname()[1]
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
        import collections
        queue, ready = collections.deque(), threading.Semaphore(0)

        def send():
            while True:
                ready.acquire()
                due, data = queue.popleft()
                time.sleep(max(0, due - time.monotonic()))
                try:
                    sink.sendall(data) if data else sink.shutdown(socket.SHUT_WR)
                except OSError:
                    return
                if not data:
                    return

        threading.Thread(target=send, daemon=True).start()
        data = b'x'
        while data:
            try:
                data = source.recv(MIB)
            except OSError:
                data = b''
            queue.append((time.monotonic() + self.delay, data))
            ready.release()


class World:
    def __init__(self, program, directory):
        self.program = os.path.abspath(program)
        self.dir = pathlib.Path(tempfile.mkdtemp(prefix='bench-mount-', dir=directory))
        for name in ('home', 'mnt', 'local'):
            (self.dir / name).mkdir()
        self.env = {**os.environ, 'HOME': str(self.dir / 'home'), 'CENOTE_CONFIG': str(self.dir / 'config')}
        for name in ('CENOTE_TOKEN', 'CENOTE_USER'):
            self.env.pop(name, None)
        (self.dir / 'config').write_text('')
        (self.dir / 'settings').write_text('[limits]\nlocal_file_leases = 256\n')
        self.cenote('--quiet', 'init', 'store', '--admin', 'ada', '--password-stdin', input=b'a secret')
        self.server = subprocess.Popen(
            [self.program, 'serve', 'store', '--listen', '127.0.0.1:0', '--settings', 'settings'],
            cwd=self.dir, env=self.env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.url = self.server.stdout.readline().decode().split()[-1]
        self.env['CENOTE_URL'] = self.url
        self.cenote('login', self.url, '--user', 'ada', '--password-stdin', input=b'a secret')

    def cenote(self, *arguments, input=None, env=None):
        command = [self.program, *map(str, arguments)]
        return subprocess.run(command, cwd=self.dir, env={**self.env, **(env or {})}, input=input,
                              stdout=subprocess.PIPE, check=True)

    def mount(self, *options, url=None):
        url = url or self.url
        if url != self.url:
            self.cenote('login', url, '--user', 'ada', '--password-stdin', input=b'a secret')
        begun = time.monotonic()
        self.cenote('mount', 'mnt', *options, env={'CENOTE_URL': url})
        return time.monotonic() - begun

    def umount(self):
        self.cenote('umount', 'mnt')

    def close(self):
        subprocess.run(['umount', '-l', self.dir / 'mnt'], stderr=subprocess.DEVNULL)
        self.server.terminate()
        self.server.wait()
        shutil.rmtree(self.dir)



def seconds(work):
    begun = time.monotonic()
    work()
    return time.monotonic() - begun


class Bench:
    def __init__(self, world, options):
        self.world, self.options = world, options
        self.mnt = world.dir / 'mnt'

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
            self.warm()
        return again

    def warm(self):
        for path in (self.world.dir / 'store').rglob('*'):
            if path.is_file() and path.stat().st_size > MIB:
                run('cat', path, stdout=subprocess.DEVNULL)

    def cat(self, path):
        return lambda: run('dd', f'if={path}', 'of=/dev/null', 'bs=1M', stderr=subprocess.DEVNULL)

    def whole(self):
        self.line('mount to ready', f'{self.world.mount("--write") * 1000:.0f} ms')
        self.write()
        self.read()
        self.random()
        self.small()
        self.listing()
        self.world.umount()

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
        self.line('memory of the mount after that', f'{self.memory()} MiB')

    def memory(self):
        for status in pathlib.Path('/proc').glob('[0-9]*/cmdline'):
            try:
                command = status.read_bytes().split(b'\0')
                if b'mount' in command and self.world.program.encode() in command[0]:
                    peak = (status.parent / 'status').read_text().split('VmHWM:')[1].split()[0]
                    return int(peak) // 1024
            except (OSError, IndexError):
                continue
        return '?'

    def read(self):
        mib, latency = self.options.mib, self.options.latency_ms
        url = f'{self.world.url}/v1/fs/large'
        self.warm()
        curl = self.median(lambda: run('curl', '-sf', '-o', '/dev/null', '-u', 'ada:a secret', url))
        beside = f'`curl` {self.rate(curl)}'
        remote = self.median(self.cat(self.mnt / 'large'), self.remounted('--no-local'))
        self.line(f'read {mib} MiB through the server, cold', self.rate(remote), beside)
        again = self.median(self.cat(self.mnt / 'large'))
        disk = self.median(self.cat(self.world.dir / 'local/source'))
        self.line('the same again (the kernel has it)', self.rate(again), f'a file of the disk, likewise {self.rate(disk)}')
        local = self.median(self.cat(self.mnt / 'large'), self.remounted())
        self.line(f'read {mib} MiB on the same disk, cold', self.rate(local), f'the file itself {self.rate(disk)}')
        proxy = Proxy(int(self.world.url.rsplit(':', 1)[1]), latency / 1000)
        slow = f'http://127.0.0.1:{proxy.address}'
        far = self.median(self.cat(self.mnt / 'large'), self.remounted('--no-local', url=slow))
        curl = self.median(lambda: run('curl', '-sf', '-o', '/dev/null', '-u', 'ada:a secret', f'{slow}/v1/fs/large'))
        self.line(f'read {mib} MiB at {latency} ms, cold', self.rate(far), f'`curl` {self.rate(curl)}')
        self.remounted()()

    def random(self):
        import random
        size = self.options.mib * MIB
        for what, flags in (('through the server', ['--no-local']), ('on the same disk', [])):
            self.remounted(*flags)()
            with open(self.mnt / 'large', 'rb', buffering=0) as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
                count = 2000
                places = [random.randrange(size // 4096) * 4096 for _ in range(count)]
                took = seconds(lambda: [os.pread(file.fileno(), 4096, at) for at in places])
                self.line(f'random reads of 4 KiB {what}, one at a time', f'{count / took:,.0f} a second')
                places = [random.randrange(size // 4096) * 4096 for _ in range(4 * count)]
                with concurrent.futures.ThreadPoolExecutor(16) as pool:
                    took = seconds(lambda: list(pool.map(lambda at: os.pread(file.fileno(), 4096, at), places, chunksize=1)))
                self.line(f'random reads of 4 KiB {what}, 16 at a time', f'{len(places) / took:,.0f} a second')

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


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('program')
    parser.add_argument('--mib', type=int, default=1024)
    parser.add_argument('--files', type=int, default=1000)
    parser.add_argument('--entries', type=int, default=10_000)
    parser.add_argument('--rounds', type=int, default=3)
    parser.add_argument('--latency-ms', type=int, default=20)
    parser.add_argument('--dir', help='where the store and the files are')
    options = parser.parse_args()
    if os.getuid() != 0:
        sys.exit('this needs root')
    world = World(options.program, options.dir)
    try:
        print('| what | mount | beside |\n|---|---|---|')
        Bench(world, options).whole()
    finally:
        world.close()


if __name__ == '__main__':
    main()
