"""The tables that dxfuse publishes of itself (uploads with `dd`, downloads with `cat`), and small files, on mounts side by side.

Rounds are interleaved, and each row begins with mounts that know nothing. What of the server's disk would be read is in memory before, if it
fits.
"""

import os
import shutil
import statistics
from subprocess import DEVNULL

from peers import PROJECT, DxCat, Dxfuse, Ours, Rclone
from world import MIB, run, seconds

UPLOADS = [100 * MIB, 200 * MIB, 400 * MIB, 800 * MIB, 1024 * MIB, 2048 * MIB, 10240 * MIB]
DOWNLOADS = [285_000_000, 705_000_000, 1024 * MIB, 5_900_000_000, 17_000_000_000]
#: A close takes dxfuse 0.4 s, whatever the size.
FEW = 20


def published(world, options):
    room = options.room * 1e9 if options.room else shutil.disk_usage(world.dir).free / 2
    world.cenote('mkdir', f'/{PROJECT}')
    slow = options.latency_ms / 1000
    latencies = list(dict.fromkeys((0, slow)))
    peers = {latency: peers_at(world, options, latency) for latency in latencies}
    readers = [(latency, DxCat(world, latency, options.dx)) for latency in latencies if options.dx]
    tables = Tables(world, options, peers, readers)
    tables.uploads([size for size in UPLOADS if fits(size, room)])
    tables.downloads([size for size in DOWNLOADS if fits(size, room)])
    tables.small(peers[0])
    tables.memory()


def peers_at(world, options, latency):
    peers = [Ours(world, latency), *(Dxfuse(world, latency, program) for program in options.dxfuse)]
    rclone = options.rclone or shutil.which('rclone')
    return peers + ([Rclone(world, latency, rclone)] if rclone else [])


def fits(size, room):
    if size > room:
        print(f'{size / MIB:,.0f} MiB do not fit: {room / 1e9:.1f} GB may be used', flush=True)
    return size <= room


def show(title, heads, rows):
    print(f'\n{title}\n\n| {" | ".join(heads)} |\n{"|---" * len(heads)}|', flush=True)
    for row in rows:
        print(f'| {" | ".join(row)} |', flush=True)


class Tables:
    def __init__(self, world, options, peers, readers):
        """`readers` only download."""
        self.world, self.options, self.peers, self.readers = world, options, peers, readers
        self.serial = 0
        self.peaks = {}

    def columns(self):
        return [(latency, peer) for latency, peers in self.peers.items() for peer in peers]

    def heads(self, columns):
        return [f'{peer.name}, {latency * 1000:.0f} ms' for latency, peer in columns]

    def medians(self, works):
        """The median seconds of each work, in rounds that are interleaved."""
        times = [[] for _ in works]
        for _ in range(self.options.rounds):
            for work, taken in zip(works, times):
                taken.append(work())
        return [statistics.median(taken) for taken in times]

    def mounted(self, peer, work):
        """The seconds that some work takes in a new mount."""
        peer.begin()
        try:
            return seconds(work)
        finally:
            self.peaks[peer.name] = max(self.peaks.get(peer.name, 0), peer.memory())
            peer.end()

    def uploads(self, sizes):
        rows = (self.cells(size, [self.to_disk, *map(self.upload_to, self.columns())]) for size in sizes)
        show('Seconds of `dd if=/dev/zero bs=1M`, with close:', ['MiB', '`dd conv=fsync` to the disk', *self.heads(self.columns())], rows)

    def cells(self, size, works):
        return [f'{size / MIB:,.0f}', *(f'{time:.2f}' for time in self.medians([lambda work=work: work(size) for work in works]))]

    def dd(self, size, path, *flags):
        run('dd', 'if=/dev/zero', f'of={path}', 'bs=1M', f'count={size // MIB}', 'status=none', *flags)

    def to_disk(self, size):
        path = self.world.dir / 'local/uploaded'
        taken = seconds(lambda: self.dd(size, path, 'conv=fsync'))
        path.unlink()
        return taken

    def upload_to(self, column):
        _, peer = column

        def upload(size):
            self.serial += 1
            name = f'uploaded{self.serial}'
            taken = self.mounted(peer, lambda: self.dd(size, peer.path / name))
            peer.remove(name)
            return taken
        return upload

    def downloads(self, sizes):
        rows = map(self.download, sizes)
        heads = self.heads([*self.columns(), *self.readers])
        show('Seconds of `cat FILE >/dev/null`, cold:', ['MiB', '`curl`', *heads], rows)

    def download(self, size):
        ours = self.peers[0][0]
        ours.put('downloaded', size)
        self.share(size)
        cells = self.cells(size, [self.curl, *map(self.download_from, [*self.columns(), *self.readers])])
        for peer in self.peers[0]:
            if not isinstance(peer, Dxfuse):
                peer.remove('downloaded')
        return cells

    def share(self, size):
        """Gives rclone's server the file of the content in the store, so that it takes room once."""
        for rclone in (peer for peer in self.peers[0] if isinstance(peer, Rclone)):
            files = (path for path in (self.world.dir / 'store').rglob('*') if path.is_file())
            os.link(next(path for path in files if path.stat().st_size == size), rclone.root / 'downloaded')

    def curl(self, _):
        self.world.warm()
        url = f'{self.world.url}/v1/fs/{PROJECT}/downloaded'
        return seconds(lambda: run('curl', '-sf', '-o', '/dev/null', '-u', 'ada:a secret', url))

    def download_from(self, column):
        _, peer = column
        return lambda _: self.mounted(peer, lambda: peer.read('downloaded'))

    def small(self, peers):
        """Many small files: written, listed, and read one after the other by one `cat`."""
        self.fill(peers)
        works = {
            'files of one byte written a second': self.written,
            f'`ls -l` of {self.options.entries:,} files, s': self.listed,
            f'`cat` of {self.options.files:,} files of one byte, s': self.read,
        }
        rows = ([what, *map(work_cell, self.medians([lambda work=work, peer=peer: work(peer) for peer in peers]))]
                for what, work in works.items())
        show('Small files, at 0 ms:', ['', *(peer.name for peer in peers)], rows)

    def fill(self, peers):
        local = self.world.dir / 'local'
        for name, count, content in (('many', self.options.entries, b''), ('few', self.options.files, b'x')):
            (local / name).mkdir()
            for number in range(count):
                (local / name / f'{number:05}').write_bytes(content)
            self.world.cenote('--quiet', 'put', '-r', local / name, f':/{PROJECT}/{name}')
            for rclone in (peer for peer in peers if isinstance(peer, Rclone)):
                shutil.copytree(local / name, rclone.root / name)

    def written(self, peer):
        self.serial += 1
        count = FEW if isinstance(peer, Dxfuse) else self.options.files

        def write():
            directory = peer.path / f'written{self.serial}'
            directory.mkdir()
            for number in range(count):
                (directory / f'{number}').write_bytes(b'x')
        return count / self.mounted(peer, write)

    def listed(self, peer):
        return self.mounted(peer, lambda: run('ls', '-l', peer.path / 'many', stdout=DEVNULL))

    def read(self, peer):
        names = [f'{number:05}' for number in range(self.options.files)]
        return self.mounted(peer, lambda: run('cat', *names, cwd=peer.path / 'few', stdout=DEVNULL))

    def memory(self):
        peaks = ', '.join(f'{name} {peak:,}' for name, peak in self.peaks.items() if peak)
        print(f'\nMemory of the process of a mount in all of this, MiB at most: {peaks}.', flush=True)


def work_cell(value):
    return f'{value:,.0f}' if value >= 10 else f'{value:.3f}'
