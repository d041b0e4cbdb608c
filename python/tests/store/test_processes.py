"""Forks, threads, processes, and cancelled tasks."""

import asyncio
import concurrent.futures
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading

import fsspec
import pytest

import cenote


def test_a_store_is_used_after_a_fork(store, lab):
    store.write(f'{lab}/parent', b'1')
    child = os.fork()
    if child == 0:
        code = 1
        try:
            store.write(f'{lab}/child', store.read(f'{lab}/parent'))
            code = 0
        finally:
            os._exit(code)
    assert os.waitpid(child, 0)[1] == 0
    assert store.read(f'{lab}/child') == store.read(f'{lab}/parent') == b'1'


def test_a_store_is_used_by_several_threads(store, lab):
    def work(number):
        store.write(f'{lab}/{number}', str(number) * 1000)
        return store.read(f'{lab}/{number}') == (str(number) * 1000).encode()

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(64)))
    assert len(store.ls(lab)) == 64


def test_waiting_leaves_the_interpreter_to_other_threads(store, lab):
    position = list(store.changes(lab))[-1].position
    came, seen = threading.Event(), []

    def follow():
        changes = store.changes(lab, position, follow=True)
        seen.append(next(changes).name)
        came.set()

    thread = threading.Thread(target=follow)
    thread.start()
    store.write(f'{lab}/new', b'1')
    assert came.wait(60) and seen == ['new']
    thread.join()


def test_verbs_are_awaited(server, lab):
    async def main():
        store = cenote.connect_async(
            server.url, user='ada', password='a secret of the tests', config=server.directory / 'config.toml'
        )
        names = [str(number) for number in range(20)]
        await asyncio.gather(*(store.write(f'{lab}/{name}', name) for name in names))
        assert await asyncio.gather(*(store.read(f'{lab}/{name}') for name in names)) == [
            name.encode() for name in names
        ]
        assert sorted([found.name async for found in store.tree(lab)]) == sorted(names)
        async with await store.upload(f'{lab}/parts', 3) as upload:
            await upload.put(0, b'abc')
        assert (await store.stat(f'{lab}/parts')).size == 3
        with pytest.raises(FileNotFoundError):
            await store.read(f'{lab}/gone')

    asyncio.run(main())


def test_a_cancelled_task_abandons_its_call(server, store, lab):
    position = list(store.changes(lab))[-1].position

    async def main():
        own = cenote.connect_async(
            server.url, user='ada', password='a secret of the tests', config=server.directory / 'config.toml'
        )
        changes = own.changes(lab, position, follow=True)
        task = asyncio.ensure_future(anext(changes))
        done, _ = await asyncio.wait([task], timeout=0)
        assert not done
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        # The store keeps working.
        assert (await own.write(f'{lab}/a', b'1')).size == 1

    asyncio.run(main())


def test_control_c_ends_a_call_that_waits(server, lab):
    program = f"""
import cenote, os, signal, sys
# A job in the background of a shell, as this test may be, starts with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
store = cenote.connect()
position = list(store.changes({lab!r}))[-1].position
changes = store.changes({lab!r}, position, follow=True)
try:
    print('waiting', flush=True)
    next(changes)
except KeyboardInterrupt:
    print('interrupted', store.exists({lab!r}))
"""
    run = subprocess.Popen(
        [sys.executable, '-c', program], env=server.environment(), stdout=subprocess.PIPE, text=True
    )
    assert run.stdout.readline() == 'waiting\n'
    run.send_signal(signal.SIGINT)
    assert run.communicate(timeout=60)[0] == 'interrupted True\n'
    assert run.returncode == 0


def in_a_fork(work):
    """Whether this succeeds in a forked process."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException as error:
            print(repr(error), file=sys.stderr)
        finally:
            os._exit(code)
    return os.waitpid(child, 0)[1] == 0


def read(arguments):
    store, path = arguments
    return store.read(path)


def test_a_store_is_sent_to_other_processes_without_secrets(environment, server, lab):
    store = cenote.connect()
    store.write(f'{lab}/a', b'1')
    assert b'secret' not in pickle.dumps(store)
    assert pickle.loads(pickle.dumps(store)).read(f'{lab}/a') == b'1'
    assert isinstance(pickle.loads(pickle.dumps(cenote.connect_async())), cenote.AsyncStore)
    with multiprocessing.get_context('spawn').Pool(1) as pool:
        assert pool.map(read, [(store, f'{lab}/a')]) == [b'1']
    ticket = store.ticket_add(f'{lab}/a').ticket
    with pytest.raises(TypeError, match='stays in its process'):
        pickle.dumps(cenote.connect(server.url, ticket=ticket))
    with pytest.raises(TypeError, match='stays in its process'), store.changeset() as changes:
        pickle.dumps(changes)


def test_a_file_system_is_used_after_a_fork(environment, lab):
    fs = fsspec.filesystem('cenote', skip_instance_cache=True)
    fs.pipe(f'{lab}/a', b'1')
    reading = fs.open(f'{lab}/a')

    def work():
        fs.pipe(f'{lab}/b', fs.cat(f'{lab}/a'))
        assert reading.read() == b'1' and len(fs.find(lab)) == 2

    assert in_a_fork(work)
    assert fs.cat(f'{lab}/b') == b'1'


def test_a_file_that_is_being_written_stays_with_its_process(environment, lab):
    fs = fsspec.filesystem('cenote', skip_instance_cache=True)
    small, large = fs.open(f'{lab}/small', 'wb'), fs.open(f'{lab}/large', 'wb', block_size=1 << 16)
    small.write(b'half')
    large.write(bytes(100_000))

    def work():
        small.close()
        large.__del__()
        assert not fs.exists(f'{lab}/small') and not fs.exists(f'{lab}/large')
        third = fs.open(f'{lab}/third', 'wb')
        third.write(b'1')
        third.close()

    assert in_a_fork(work)
    assert fs.cat(f'{lab}/third') == b'1'
    for file in (small, large):
        file.write(b'whole')
        file.close()
    assert fs.cat(f'{lab}/small') == b'halfwhole' and fs.size(f'{lab}/large') == 100_005
