"""Connections that are lost, closed, shared and inherited."""

import http.server
import io
import multiprocessing
import os
import pickle
import random
import subprocess
import threading

import pytest
from program import PASSWORD, program
from rdflib import Literal, URIRef
from serving import Server

from cenote.lakesuperior import Repository
from cenote.lakesuperior._http.server import _authority
from cenote.lakesuperior._rdf.names import Addresses
from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc
from cenote.store import errors

ME, TITLE = URIRef(''), nsc['dcterms'].title


def of(server, **options):
    given = {'url': server.url, 'user': 'ada', 'password': PASSWORD, **options}
    return Repository(**given, config=server.directory / 'config.toml')


@pytest.fixture
def restarted(own_server):
    """A repository that has a connection, and a function that restarts its server."""
    repository = of(own_server)
    repository.create_or_replace('/a', stream=io.BytesIO(bytes(100)))

    def restart():
        own_server.stop()
        own_server.start()

    return repository, restart


def test_connections_that_the_server_has_closed_are_not_used(restarted):
    repository, restart = restarted
    for call in (
        lambda: repository.exists('/a'),
        lambda: repository.create('/', 'once', graph=[(ME, TITLE, Literal('1'))]),
        lambda: repository.update_delta('/once', (), {(ME, TITLE, Literal('2'))}),
        lambda: repository.delete('/once'),
        lambda: repository.create_or_replace('/b', stream=io.BytesIO(b'1' * 1_000_000)),
    ):
        restart()
        call()
    assert repository.get('/b').content_size == 1_000_000


def test_reading_goes_on_after_a_lost_connection(restarted):
    repository, restart = restarted
    content = random.Random(1).randbytes(20_000_000)
    repository.create_or_replace('/a', stream=io.BytesIO(content))
    with repository.get('/a').content as file:
        first = file.read(1000)
        restart()
        assert first + file.read() == content


def test_reading_goes_on_after_an_interruption(repository, base):
    """As by control-C: nothing is left out, and it is not taken for the end."""
    content = random.Random(1).randbytes(5_000_000)
    repository.create_or_replace(f'{base}/a', stream=io.BytesIO(content))
    file = repository.get(f'{base}/a').content
    first = file.read(10)
    answer = file.raw._response._answer
    read1 = answer.read1

    def interrupted(size):
        read1(size)
        raise KeyboardInterrupt

    answer.read1 = interrupted
    with pytest.raises(KeyboardInterrupt):
        file.seek(0, os.SEEK_CUR), file.read(1_000_000)
    found = file.read()
    assert content.endswith(found) and file.tell() == len(content) and first == content[:10]
    assert len(found) >= len(content) - 1_000_010


class Stopping(io.BytesIO):
    """A stream during which the server is restarted once."""

    def __init__(self, content, restart):
        super().__init__(content)
        self.restart = restart

    def read(self, size=-1):
        if self.tell() > 1_000_000 and self.restart:
            restart, self.restart = self.restart, None
            restart()
        return super().read(size)


def test_sending_begins_again_if_the_stream_can(restarted):
    repository, restart = restarted
    content = random.Random(1).randbytes(20_000_000)
    stream = Stopping(b'before' + content, restart)
    stream.seek(6)
    repository.create_or_replace('/b', stream=stream)
    assert stream.restart is None and repository.get('/b').content.read() == content


def test_what_cannot_be_repeated_is_not(restarted):
    repository, restart = restarted
    with pytest.raises(errors.UnreachableError):
        repository.create('/', 'c', stream=Stopping(bytes(20_000_000), restart))
    once = Stopping(bytes(20_000_000), restart)
    once.seekable = lambda: False
    with pytest.raises(errors.UnreachableError):
        repository.create_or_replace('/d', stream=once)
    assert not repository.exists('/c') and not repository.exists('/d')


def test_a_busy_server_is_asked_again(environment):
    """Twice, for what can be repeated; once, for what cannot."""
    told = []

    class Busy(http.server.BaseHTTPRequestHandler):
        protocol_version = 'HTTP/1.1'

        def do_PUT(self):
            body = self.rfile.read(int(self.headers['Content-Length']))
            told.append((self.command, body))
            self.send_response(503 if len(told) < 3 else 201)
            self.send_header('Retry-After', '0')
            self.send_header('Content-Length', '0')
            self.end_headers()

        do_PATCH = do_PUT

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(('127.0.0.1', 0), Busy) as busy:
        threading.Thread(target=busy.serve_forever, daemon=True).start()
        other = Repository(f'http://127.0.0.1:{busy.server_port}', token='x')
        assert other.create_or_replace('/a', stream=io.BytesIO(b'all of it'))[0] == '_create_'
        assert told == [('PUT', b'all of it')] * 3
        told.clear()
        with pytest.raises(errors.UnavailableError):
            other.update_delta('/a', (), [(ME, TITLE, ME)])
        assert len(told) == 1
        busy.shutdown()


def test_a_refusal_before_all_was_sent_is_read(server, base):
    stream = io.BytesIO(bytes(30_000_000))
    with pytest.raises(errors.UnauthenticatedError):
        of(server, password='wrong').create_or_replace(f'{base}/a', stream=stream)


def test_threads_share_a_repository(repository, base):
    content = random.Random(3).randbytes(3_000_000)
    repository.create_or_replace(f'{base}/a', stream=io.BytesIO(content))
    failures = []

    def work(number):
        try:
            file = repository.get(f'{base}/a').content
            assert file.read(1000) == content[:1000]
            repository.create_or_replace(f'{base}/{number}', graph=[(ME, TITLE, Literal(number))])
            assert repository.get(f'{base}/{number}').imr.value(TITLE) == Literal(number)
            assert file.read() == content[1000:]
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_a_forked_process_has_connections_of_its_own(repository, base):
    repository.create_or_replace(f'{base}/a', stream=io.BytesIO(b'1' * 3_000_000))
    file = repository.get(f'{base}/a').content
    file.read(10)
    assert repository.exists(base)

    def work(number):
        for _ in range(20):
            assert repository.get(base).uid == base
        repository.create_or_replace(f'{base}/child{number}')

    children = [multiprocessing.get_context('fork').Process(target=work, args=(number,)) for number in range(2)]
    for child in children:
        child.start()
    for _ in range(20):
        assert repository.get(base).uid == base
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    assert file.read() == b'1' * (3_000_000 - 10)


def test_a_repository_is_pickled_without_its_secrets(server, environment, repository, base):
    pickled = pickle.dumps(repository)
    assert PASSWORD.encode() not in pickled and pickle.loads(pickled).exists(base)
    with pytest.raises(TypeError, match='ticket'):
        pickle.dumps(Repository(server.url, ticket='x'))


def test_connections_are_used_again(repository, base):
    server = repository._requests._server
    for _ in range(5):
        repository.get(base)
        assert not repository.exists(f'{base}/none')
        repository.create_or_replace(f'{base}/a', stream=io.BytesIO(b'1'))
        repository.get(f'{base}/a').content.read()
    assert len(server._own()) == 1


def test_addresses_of_a_server_behind_a_proxy_are_known():
    addresses = Addresses('store.example.org:8443')
    for address, iri in [
        ('http://store.example.org:8443/ldp/a#x', 'info:fcres/a#x'),
        ('https://store.example.org:8443/ldp', 'info:fcres'),
        ('https://store.example.org:8443/ldp/', 'info:fcres/'),
        ('https://store.example.org:8443/ldpx', 'https://store.example.org:8443/ldpx'),
        ('https://store.example.org:84430/ldp/a', 'https://store.example.org:84430/ldp/a'),
        ('https://storeXexample.org:8443/ldp/a', 'https://storeXexample.org:8443/ldp/a'),
    ]:
        assert addresses.internal(address) == iri


def test_a_server_may_be_named_in_any_way(server, base):
    for host in ('LocalHost', '127.0.0.1'):
        repository = of(server, url=server.url.replace('127.0.0.1', host))
        _, made = repository.create_or_replace(f'{base}/a', rdf_data=f'@base <urn:x> . <info:fcres{base}/a> <urn:p> <info:fcres{base}> .')
        assert set(made.user_data) == {(made.uri, URIRef('urn:p'), nsc['fcres'][base])}
    for url, authority in [
        ('http://h:80', 'h'), ('https://h:443/', 'h'), ('https://H:80', 'h:80'), ('http://[::1]:8470', '[::1]:8470'), ('http://bücher.example', 'xn--bcher-kva.example'),
    ]:
        assert _authority(url) == authority


@pytest.fixture
def secure(tmp_path):
    """A server with a certificate that only a file knows."""
    subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1']
    files = ['-keyout', str(tmp_path / 'key'), '-out', str(tmp_path / 'certificate')]
    made = subprocess.run(['openssl', 'req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', *subject, *files], capture_output=True)
    if made.returncode:
        pytest.skip('no openssl')
    server = Server(tmp_path)
    serve = [program(), 'serve', tmp_path / 'store', '--listen', '127.0.0.1:0', '--tls-cert', tmp_path / 'certificate', '--tls-key', tmp_path / 'key']
    server.process = subprocess.Popen(serve, env=server.environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    server.url = server.process.stdout.readline().strip().removeprefix('listening on ')
    yield server
    server.stop()


def test_tls_is_spoken_with_a_certificate_of_the_settings(secure, monkeypatch):
    assert secure.url.startswith('https://')
    monkeypatch.setenv('CENOTE_CA_FILE', str(secure.directory / 'certificate'))
    repository = of(secure)
    _, made = repository.create_or_replace('/a', graph=[(ME, nsc['dcterms'].relation, ME), (ME, TITLE, Literal('A'))])
    assert made.imr.value(nsc['dcterms'].relation) == made.uri
    assert repository.update('/a', f'INSERT DATA {{ <info:fcres/a> <{TITLE}> "B" }}').uri == made.uri
    assert repository.create_or_replace('/b', stream=io.BytesIO(b'1' * 1_000_000))[1].content.read() == b'1' * 1_000_000
    monkeypatch.delenv('CENOTE_CA_FILE')
    with pytest.raises(errors.UnreachableError, match='(?i)certificate'):
        of(secure).exists('/a')
    assert os.path.exists(secure.directory)
