"""Administration: counts, checks, and migrations between two servers."""

import io
import pathlib
import random

import pytest
from program import PASSWORD, program
from rdflib import Literal, URIRef
from serving import Server

from cenote.lakesuperior import Repository
from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc
from cenote.lakesuperior.exceptions import ChecksumValidationError
from cenote.store import errors

ME, TITLE, LINK = URIRef(''), nsc['dcterms'].title, nsc['dcterms'].relation


def test_resources_and_bytes_are_counted(own_server):
    repository = of(own_server)
    before = repository.stats()
    repository.create_or_replace('/a', stream=io.BytesIO(b'12345'))
    after = repository.stats()
    assert after['rsrc_stats']['main'] == before['rsrc_stats']['main'] + 1
    assert after['nonrdf_stats']['size'] == before['nonrdf_stats']['size'] + 5
    assert after['store_stats']['engine'] == 'fjall'


def of(server):
    return Repository(server.url, user='ada', password=PASSWORD, config=server.directory / 'config.toml')


def test_links_to_missing_resources_are_found(own_server):
    repository = of(own_server)
    assert repository.integrity_check() == set()
    repository.create_or_replace('/a, "1"')
    graph = [(ME, LINK, nsc['fcres']['/a, "1"']), (URIRef('#part'), LINK, nsc['fcres']['/a, "1"'])]
    _, made = repository.create_or_replace('/b', graph=graph)
    repository.delete('/a, "1"', inbound=True)
    missing = nsc['fcres']['/a, "1"']
    expected = {(made.uri, LINK, missing), (URIRef(f'{made.uri}#part'), LINK, missing)}
    assert repository.integrity_check() == {(triple, 'o') for triple in expected}
    repository.resurrect('/a, "1"')
    assert repository.integrity_check() == set()


def test_damaged_bytes_are_found(own_server):
    repository = of(own_server)
    content = random.Random(1).randbytes(300_000)
    repository.create_or_replace('/a', stream=io.BytesIO(content))
    assert repository.fixity_check('/a') is None
    files = [path for path in (own_server.directory / 'store').rglob('*') if path.is_file() and path.stat().st_size >= len(content)]
    damaged = [path for path in files if content[:1000] in path.read_bytes()]
    for path in damaged:
        path.chmod(0o600)
        path.write_bytes(path.read_bytes().replace(content[1000:2000], bytes(1000)))
    assert damaged
    with pytest.raises(ChecksumValidationError) as caught:
        repository.fixity_check('/a')
    assert caught.value.uid == '/a'


@pytest.fixture
def other(tmp_path):
    """A second server."""
    (tmp_path / 'other').mkdir()
    server = Server(tmp_path / 'other').start()
    yield server
    server.stop()


@pytest.fixture
def filled(own_server):
    """A repository to migrate."""
    repository = of(own_server)
    repository.create_or_replace('/maps/a b', graph=[(ME, TITLE, Literal('100%')), (ME, LINK, nsc['fcres']['/maps/a b'])])
    repository.create_or_replace('/maps/bytes', stream=io.BytesIO(b'content'), mimetype='text/plain', disposition='a.txt')
    repository.create_or_replace('/other', graph=[(ME, TITLE, Literal('not this'))])
    return repository


@pytest.fixture
def migrating(monkeypatch):
    monkeypatch.setenv('CENOTE_PROGRAM', str(pathlib.Path(program()).resolve()))


def test_a_repository_is_migrated(filled, other, migrating):
    target = of(other)
    source = f'{filled.url}/ldp/'
    assert target.migrate(source, '/archive', '/maps', src_auth=('ada', PASSWORD)) == 3
    copy = target.get('/archive/maps/a b')
    assert set(copy.user_data) == {(copy.uri, TITLE, Literal('100%')), (copy.uri, LINK, copy.uri)}
    bytes_ = target.get('/archive/maps/bytes')
    assert bytes_.content.read() == b'content' and (bytes_.mimetype, bytes_.filename) == ('text/plain', 'a.txt')
    assert not target.exists('/archive/other')
    # Again, nothing changes; everything is compared.
    assert target.migrate(source, '/archive', ['/maps'], src_auth=('ada', PASSWORD)) == 3
    assert target.migrate(source, '/whole', src_auth=('ada', PASSWORD)) > 4
    assert target.get('/whole/other').imr.value(TITLE) == Literal('not this')


def test_a_list_is_migrated(filled, other, migrating, tmp_path):
    (tmp_path / 'list').write_text(f'{filled.url}/ldp/maps/a%20b\n\n/other\n')
    target = of(other)
    assert target.migrate(f'{filled.url}/ldp', '/', list_file=str(tmp_path / 'list'), src_auth=('ada', PASSWORD)) == 2
    assert target.exists('/maps/a b') and target.exists('/other') and not target.exists('/maps/bytes')


def test_migrations_that_fail_say_why(filled, other, migrating, monkeypatch):
    target, source = of(other), f'{filled.url}/ldp'
    with pytest.raises(errors.UnauthenticatedError):
        target.migrate(source, '/a', src_auth=('ada', 'wrong'))
    with pytest.raises(errors.NotFoundError):
        target.migrate(source, '/a', '/nothing', src_auth=('ada', PASSWORD))
    with pytest.raises(errors.TransferError, match='bytes cannot replace it') as caught:
        target.migrate(source, '/a', '/maps/bytes', src_auth=('ada', PASSWORD))
    assert {path for path, _ in caught.value.failures} == {f'{source}/maps/bytes'}
    with pytest.raises(ValueError, match='slash'):
        target.migrate(source, '/a', 'maps')
    monkeypatch.setenv('CENOTE_PROGRAM', '')
    monkeypatch.setenv('PATH', '/nowhere')
    with pytest.raises(errors.InvalidError, match='CENOTE_PROGRAM'):
        target.migrate(source, '/a')
