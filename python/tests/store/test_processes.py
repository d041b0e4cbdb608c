"""Forks, threads, cancelled tasks, and servers that stop."""

import asyncio
import concurrent.futures
import multiprocessing
import os
import pickle
import re
import signal
import subprocess
import sys
import threading
import urllib.request

import fsspec
import pytest

import cenote
from cenote.store import errors


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


def test_a_stopped_server_leaves_nothing_half_written(own_server, tmp_path):
    store = own_server.connect()
    (tmp_path / 'large').write_bytes(os.urandom(80 << 20))
    stopped = []

    def stop(moved):
        if not stopped:
            stopped.append(moved)
            own_server.stop()

    with pytest.raises(errors.UnreachableError):
        store.put(tmp_path / 'large', '/large', progress=stop)
    with pytest.raises(ConnectionError):
        store.exists('/large')
    own_server.start()
    assert not store.exists('/large')
    assert store.put(tmp_path / 'large', '/large').size == 80 << 20


def test_an_interrupted_upload_continues_where_it_broke_off(own_server, tmp_path):
    store, uploads = own_server.connect(), own_server.directory / 'uploads'
    (tmp_path / 'large').write_bytes(os.urandom(80 << 20))
    sent = []

    def stop(moved):
        sent.append(moved)
        if sum(sent) == 48 << 20:
            own_server.stop()

    with pytest.raises(errors.UnreachableError):
        store.put(tmp_path / 'large', '/large', progress=stop, jobs=1)
    assert len(list(uploads.iterdir())) == 1
    own_server.start()
    # Another program continues it.
    again = own_server.connect()
    assert again.put(tmp_path / 'large', '/large').size == 80 << 20
    with urllib.request.urlopen(f'{own_server.url}/metrics') as answer:
        found = re.findall(r'^cenote_http_requests_total\{.*PUT.*\} (\d+)$', answer.read().decode(), re.M)
    assert sum(map(int, found)) == 2 and not list(uploads.iterdir())
    assert again.read('/large') == (tmp_path / 'large').read_bytes()


def test_an_interrupted_download_leaves_no_file(own_server, tmp_path):
    store = own_server.connect()
    content = os.urandom(8 << 20)
    store.write('/large', content)
    stopped = []

    def stop(moved):
        if not stopped:
            stopped.append(moved)
            own_server.stop()

    with pytest.raises(OSError):
        store.get('/large', tmp_path / 'copy', progress=stop)
        # All of it may have been sent already; then it is complete.
        assert (tmp_path / 'copy').read_bytes() == content
        raise OSError
    own_server.start()
    store.get('/large', tmp_path / 'copy')
    assert (tmp_path / 'copy').read_bytes() == content


def test_a_cancelled_put_leaves_nothing(server, store, lab, tmp_path):
    (tmp_path / 'large').write_bytes(os.urandom(80 << 20))

    async def main():
        own = cenote.connect_async(
            server.url, user='ada', password='a secret of the tests', config=server.directory / 'config.toml'
        )
        loop, begun = asyncio.get_running_loop(), asyncio.Event()
        task = asyncio.ensure_future(
            own.put(tmp_path / 'large', f'{lab}/large', progress=lambda _: loop.call_soon_threadsafe(begun.set))
        )
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not await own.exists(f'{lab}/large')
        assert (await own.put(tmp_path / 'large', f'{lab}/large')).size == 80 << 20

    asyncio.run(main())


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


def test_a_server_that_stops_in_the_middle_of_an_answer_is_unreachable(own_server):
    store = own_server.connect()
    store.batch('/', {f'many/{number}': b'1' for number in range(5000)})
    rows = store.tree('/many')
    next(rows)
    own_server.stop()
    with pytest.raises(errors.UnreachableError):
        # What had arrived already is still there.
        list(rows)
        raise store_is_gone(store)


def timers(port):
    """The timers of the connections to a port, by the kernel's table."""
    rows = [line.split() for line in open('/proc/net/tcp')][1:]
    return [row[5].split(':')[0] for row in rows if row[2].endswith(f':{port:04X}') and row[3] == '01']


@pytest.mark.skipif(not os.path.exists('/proc/net/tcp'), reason='the table of connections is that of Linux')
def test_a_connection_is_probed_while_it_waits(own_server):
    store = own_server.connect()
    store.whoami()
    # 02 is the timer that ends a connection to a machine that no longer answers.
    assert timers(int(own_server.url.rpartition(':')[2])) == ['02']


def store_is_gone(store):
    """The failure of the next call."""
    with pytest.raises(errors.UnreachableError) as raised:
        store.whoami()
    return raised.value
