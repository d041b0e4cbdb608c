"""Transfers and calls that are interrupted: by a cancelled task, or a server or a machine that is gone."""

import asyncio
import os
import re
import urllib.request

import pytest

import cenote
from cenote.store import errors


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


def test_a_server_that_stops_in_the_middle_of_an_answer_is_unreachable(own_server):
    store = own_server.connect()
    store.batch('/', {f'many/{number}': b'1' for number in range(5000)})
    rows = store.tree('/many')
    next(rows)
    own_server.stop()
    with pytest.raises(errors.UnreachableError):
        # All rows may have arrived already.
        list(rows)
        store.whoami()


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
