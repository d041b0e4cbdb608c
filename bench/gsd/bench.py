"""Reading and writing trajectories: cenote.gsd, the package gsd, and the raw limit, side by side.

Every lane is run for each of the three in turn, repeatedly; the table has medians.
Reads include touching the arrays (summing them). The raw limit reads and writes the same bytes
with ``preadv`` and ``writev``, into and from NumPy arrays, without any format.

All three read the same file, since both libraries write the same bytes, and only one exists at a time.
"""

import argparse
import compileall
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy

MIB = 1 << 20
#: At most so much is read in one lane.
READ_LIMIT = 256 * MIB
RAW_WRITE = 1 * MIB
#: Larger files are measured once.
LARGE = 1024
DROP_CACHES = Path('/proc/sys/vm/drop_caches')


def load(name):
    """The module under test."""
    if name == 'gsd':
        import gsd.hoomd as module
    else:
        import cenote.gsd.hoomd as module
    return module


class Work:
    """One size: the numbers of frames and particles, each 28 bytes."""

    def __init__(self, directory, mib, side):
        self.directory = directory
        self.particles = side * side
        self.frame_size = 28 * self.particles
        self.frames = -(-mib * MIB // self.frame_size)
        self.reads = min(self.frames, -(-READ_LIMIT // self.frame_size))
        rng = numpy.random.default_rng(1)
        self.position = rng.random((self.particles, 3), dtype=numpy.float32)
        self.orientation = rng.random((self.particles, 4), dtype=numpy.float32)

        self.path = directory / 'trajectory.gsd'
        self.raw_path = directory / 'raw'

    def remove_files(self):
        """Frees space for the next file, and waits until it is available."""
        for path in (self.path, self.raw_path):
            path.unlink(missing_ok=True)
        os.sync()

    def order(self, shuffled):
        order = list(range(self.frames))
        if shuffled:
            random.Random(1).shuffle(order)
        return order[: self.reads]


class Trajectory:
    """One of the two libraries."""

    def __init__(self, name):
        self.name = name
        self.module = load(name)

    def write(self, work):
        with self.module.open(work.path, 'w') as traj:
            for index in range(work.frames):
                work.position[0, 0] = work.orientation[0, 0] = index
                frame = self.module.Frame()
                frame.configuration.step = 10 * index
                frame.particles.N = work.particles
                frame.particles.position = work.position
                frame.particles.orientation = work.orientation
                traj.append(frame)
        sync(work.path)

    def open(self, work):
        return self.module.open(work.path)

    def read(self, traj, work, order):
        total = 0.0
        for index in order:
            particles = traj[index].particles
            total += particles.position.sum() + particles.orientation.sum()
        return total

    def close(self, traj):
        traj.close()


class Raw:
    """The same bytes, without a format: writes only them, and reads them at the offsets of gsd."""

    name = 'raw'

    def write(self, work):
        batch = max(1, RAW_WRITE // work.frame_size)
        file = os.open(work.raw_path, os.O_RDWR | os.O_CREAT | os.O_TRUNC)
        block = numpy.concatenate([work.position.ravel(), work.orientation.ravel()])
        block = numpy.tile(block, batch)
        for index in range(0, work.frames, batch):
            count = min(batch, work.frames - index)
            os.writev(file, [block[: count * work.frame_size // 4]])
        os.fsync(file)
        os.close(file)

    def open(self, work):
        return os.open(work.path, os.O_RDONLY)

    def read(self, file, work, order):
        total = 0.0
        for index in order:
            position = numpy.empty((work.particles, 3), dtype=numpy.float32)
            orientation = numpy.empty((work.particles, 4), dtype=numpy.float32)
            # Frame 0 begins with its N, the others with their steps.
            os.preadv(file, [position, orientation], 5380 + index * (work.frame_size + 8))
            total += position.sum() + orientation.sum()
        return total

    def close(self, file):
        os.close(file)


def timed(function, *arguments):
    start = time.perf_counter()
    result = function(*arguments)
    return time.perf_counter() - start, result


def sync(path):
    file = os.open(path, os.O_RDONLY)
    os.fsync(file)
    os.close(file)


def drop_caches():
    os.sync()
    DROP_CACHES.write_text('3')
    # The read-ahead of the previous lane may still be in progress.
    time.sleep(0.1)


def warm_up(work):
    """Loads the data into the page cache, so that the first lane does not do so for the others."""
    raw = Raw()
    file = raw.open(work)
    for shuffled in (False, True):
        raw.read(file, work, work.order(shuffled))
    raw.close(file)


def write_lane(peer, work):
    work.remove_files()
    seconds, _ = timed(peer.write, work)
    return {'write': work.frames * work.frame_size / MIB / seconds}


def read_lanes(peer, work, state, prepare):
    """Open, read in order, read at random: each after `prepare`."""
    read = work.reads * work.frame_size / MIB
    prepare()
    opened, file = timed(peer.open, work)
    in_order, first = timed(peer.read, file, work, work.order(False))
    prepare()
    at_random, second = timed(peer.read, file, work, work.order(True))
    peer.close(file)
    return {
        'sum': first + second,
        f'open {state} ms': opened * 1e3,
        f'read {state}': read / in_order,
        f'random {state}': read / at_random,
        f'random {state} ms': at_random * 1e3 / work.reads,
    }


def turns(peers, lane, repetition):
    """The order of a lane: rotated; the last writer leaves the file that is read."""
    if lane != 'write':
        first = repetition % len(peers)
        return peers[first:] + peers[:first]
    *trajectories, raw = peers
    order = trajectories[:: 1 - 2 * (repetition % 2)]
    order.insert(repetition // 2 % 2, raw)
    return order


def measure(peers, work, repetitions, cold):
    """name -> lane -> one figure for each repetition."""
    seen = {peer.name: {} for peer in peers}
    for repetition in range(repetitions):
        for lane in ('write', 'warm', *(['cold'] if cold else [])):
            if lane == 'warm':
                warm_up(work)
            for peer in turns(peers, lane, repetition):
                if lane == 'write':
                    figures = write_lane(peer, work)
                else:
                    prepare = drop_caches if lane == 'cold' else lambda: None
                    figures = read_lanes(peer, work, lane, prepare)
                for figure, value in figures.items():
                    seen[peer.name].setdefault(figure, []).append(value)
    sums = {value for lanes in seen.values() for value in lanes.pop('sum')}
    assert len(sums) == 1, 'they read the same'
    return seen


def measure_small(peers, directory, repetitions):
    """Opening and closing a small file, and the log of 10,000 frames."""
    seen = {peer.name: {} for peer in peers}
    for peer in peers:
        module = peer.module
        with module.open(directory / f'log-{peer.name}.gsd', 'w') as traj:
            for index in range(10_000):
                frame = module.Frame()
                frame.configuration.step = index
                for key in range(10):
                    frame.log[f'quantity{key}'] = numpy.array([index * 0.5])
                traj.append(frame)
    for _ in range(repetitions):
        for peer in peers:
            path = directory / f'log-{peer.name}.gsd'
            opens, _ = timed(lambda: [peer.module.open(path).close() for _ in range(200)])
            log, _ = timed(peer.module.read_log, path)
            seen[peer.name].setdefault('open and close us', []).append(opens / 200 * 1e6)
            seen[peer.name].setdefault('read_log ms', []).append(log * 1e3)
    return seen


def peak_memory(name, path):
    """The peak memory, in MiB, of a process that reads a whole trajectory frame by frame.

    Both packages are compiled before, as installed ones are: compiling them costs a megabyte.
    """
    compileall.compile_dir(Path(load(name).__file__).parent, quiet=2)
    program = [sys.executable, __file__, '--read-only', name, str(path)]
    return int(subprocess.run(program, check=True, capture_output=True, text=True).stdout)


def read_only(name, path):
    with load(name).open(path) as traj:
        for frame in traj:
            frame.particles.position.sum()
    status = Path('/proc/self/status').read_text()
    peak = next(line for line in status.splitlines() if line.startswith('VmHWM'))
    print(int(peak.split()[1]) // 1024)


def medians(seen):
    return {
        name: {lane: statistics.median(values) for lane, values in lanes.items()}
        for name, lanes in seen.items()
    }


def table(title, figures):
    """A table in Markdown, with the ratio to gsd and to the raw limit."""
    lines = [f'\n### {title}\n', '| | gsd | cenote | raw | x gsd | of raw |', '|---|---|---|---|---|---|']
    for lane, ours in figures['cenote'].items():
        gsd, raw = figures['gsd'][lane], figures.get('raw', {}).get(lane)
        less_is_better = lane.endswith((' ms', ' us', ' MiB'))
        ratio = gsd / ours if less_is_better else ours / gsd
        of_raw = '' if raw is None else f'{raw / ours if less_is_better else ours / raw:.2f}'
        digits = 3 if less_is_better and ours < 10 else 0
        shown = [f'{x:,.{digits}f}' if x is not None else '' for x in (gsd, ours, raw)]
        lines.append(f'| {lane} | {" | ".join(shown)} | {ratio:.2f} | {of_raw} |')
    return '\n'.join(lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        '--sizes', default='128,1024,16384,131072', help='MiB of each file; one that does not fit is left out'
    )
    parser.add_argument('--sides', default='32,128,1024', help='N is the square of each')
    parser.add_argument('--repetitions', type=int, default=5)
    parser.add_argument('--directory', type=Path, default=Path('target/bench-gsd'))
    parser.add_argument('--warm-only', action='store_true', help='do not drop the page cache')
    parser.add_argument('--json', type=Path, help='write all figures to this file')
    parser.add_argument('--read-only', nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    args = arguments()
    if args.read_only:
        return read_only(*args.read_only)
    args.directory.mkdir(parents=True, exist_ok=True)
    cold = not args.warm_only and os.access(DROP_CACHES, os.W_OK)
    trajectories = [Trajectory('gsd'), Trajectory('cenote')]
    everything = {}
    print(f'load average {os.getloadavg()[0]:.1f}, {os.cpu_count()} processors')
    seen = everything['small'] = measure_small(trajectories, args.directory, args.repetitions)
    print(table('small files', medians(seen)), flush=True)
    for mib in map(int, args.sizes.split(',')):
        # In addition to the file: its index and names.
        needed = mib * MIB * 9 // 8
        if shutil.disk_usage(args.directory).free < needed:
            print(f'\n{mib} MiB: left out, because it needs {needed // MIB} MiB of disk', flush=True)
            continue
        for side in map(int, args.sides.split(',')):
            work = Work(args.directory, mib, side)
            seen = measure([*trajectories, Raw()], work, 1 if mib > LARGE else args.repetitions, cold)
            for peer in trajectories:
                seen[peer.name]['peak memory MiB'] = [peak_memory(peer.name, work.path)]
            work.remove_files()
            everything[f'{mib} MiB, N = {side}^2'] = seen
            print(table(f'{mib} MiB, N = {side}², {work.frames} frames', medians(seen)), flush=True)
    print(f'\nload average {os.getloadavg()[0]:.1f}')
    if args.json:
        args.json.write_text(json.dumps(everything))


if __name__ == '__main__':
    main()
