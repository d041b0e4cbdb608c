"""Each failure is the exception of LAKEsuperior, and nothing is half done."""

import io
import pickle

import pytest
from program import PASSWORD
from rdflib import RDF, BNode, Literal, URIRef

import cenote
from cenote.lakesuperior import Repository, exceptions
from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc
from cenote.store import errors

ME = URIRef('')
TITLE = nsc['dcterms'].title


def text(content=b'bytes'):
    return {'stream': io.BytesIO(content), 'mimetype': 'text/plain'}


def test_what_is_missing(repository, base):
    uid = f'{base}/none'
    calls = [
        lambda: repository.get(uid),
        lambda: repository.get_metadata(uid),
        lambda: repository.get_version_info(uid),
        lambda: repository.get_version(base, 'none'),
        lambda: repository.create(uid, 'a'),
        lambda: repository.update(uid, 'INSERT DATA { <> a <> }'),
        lambda: repository.update_delta(uid, set(), {(ME, RDF.type, ME)}),
        lambda: repository.update_delta(uid, set(), set()),
        lambda: repository.create_version(uid, 'v1'),
        lambda: repository.delete(uid),
        lambda: repository.delete(uid, soft=False),
        lambda: repository.revert_to_version(uid, 'v1'),
        lambda: repository.revert_to_version(base, 'none'),
        lambda: repository.resurrect(uid),
        lambda: repository.fixity_check(uid),
    ]
    for call in calls:
        with pytest.raises(exceptions.ResourceNotExistsError) as caught:
            call()
        assert caught.value.uid in (uid, base) and isinstance(caught.value, RuntimeError)
    assert not repository.exists(uid)


def test_what_was_removed(repository, base):
    uid = f'{base}/a'
    repository.create_or_replace(f'{uid}/b')
    repository.delete(uid)
    calls = [
        lambda of: repository.exists(of),
        lambda of: repository.get(of),
        lambda of: repository.create_or_replace(of),
        lambda of: repository.create_or_replace(of, **text()),
        lambda of: repository.create(of, 'c'),
        lambda of: repository.update(of, 'INSERT DATA { <> a <> }'),
        lambda of: repository.delete(of),
    ]
    for call in calls:
        for of in (uid, f'{uid}/b'):
            with pytest.raises(exceptions.TombstoneError) as caught:
                call(of)
            assert caught.value.uid == uid and caught.value.ts.startswith('20') and 'resurrect' in str(caught.value)
    with pytest.raises(exceptions.TombstoneError) as caught:
        repository.resurrect(f'{uid}/b')
    assert caught.value.uid == uid
    repository.resurrect(uid)
    with pytest.raises(exceptions.InvalidResourceError, match='not dead'):
        repository.resurrect(uid)


def test_the_other_kind(repository, base):
    graph, bytes_ = f'{base}/graph', f'{base}/bytes'
    repository.create_or_replace(graph, graph=[(ME, TITLE, Literal('kept'))])
    repository.create_or_replace(bytes_, **text())
    with pytest.raises(exceptions.IncompatibleLdpTypeError) as caught:
        repository.create_or_replace(graph, **text())
    assert (caught.value.uid, caught.value.mimetype) == (graph, 'text/plain')
    for given in ({}, {'graph': [(ME, TITLE, Literal('x'))]}):
        with pytest.raises(exceptions.IncompatibleLdpTypeError):
            repository.create_or_replace(bytes_, **given)
    with pytest.raises(exceptions.IncompatibleLdpTypeError):
        repository.fixity_check(graph)
    with pytest.raises(exceptions.InvalidResourceError):
        repository.update(bytes_, 'INSERT DATA { <> a <urn:x> }')
    with pytest.raises(exceptions.InvalidResourceError):
        repository.create(bytes_, 'below')
    with pytest.raises(exceptions.InvalidResourceError):
        repository.delete('/')
    with pytest.raises(exceptions.InvalidResourceError):
        repository.create_or_replace('/')
    assert repository.get(graph).imr.value(TITLE) == Literal('kept')
    assert repository.get(bytes_).content.read() == b'bytes'


@pytest.mark.parametrize(
    'triple, terms, name',
    [
        ((ME, nsc['fcrepo'].createdBy, Literal('me')), {str(nsc['fcrepo'].createdBy)}, 'predicate'),
        ((ME, nsc['ldp'].contains, URIRef('http://example.org/a>b'.replace('>', ''))), {str(nsc['ldp'].contains)}, 'predicate'),
        ((ME, RDF.type, nsc['ldp'].NonRDFSource), {str(nsc['ldp'].NonRDFSource)}, 'RDF type'),
    ],
)
def test_what_the_server_manages(repository, base, triple, terms, name):
    uid = f'{base}/a'
    repository.create_or_replace(uid, graph=[(ME, TITLE, Literal('kept'))])
    before = set(repository.get(uid).imr)
    update = f'INSERT DATA {{ <> {triple[1].n3()} {triple[2].n3()} }}'
    for call in (
        lambda: repository.create_or_replace(uid, graph=[triple, (ME, TITLE, Literal('new'))], handling='strict'),
        lambda: repository.update(uid, update),
    ):
        with pytest.raises(exceptions.ServerManagedTermError) as caught:
            call()
        assert (caught.value.terms, caught.value.term_name) == (terms, name)
        assert 'lenient' in str(caught.value) and set(repository.get(uid).imr) == before
    # They are left out.
    repository.update(uid, update, handling='lenient')
    repository.update_delta(uid, {(ME, RDF.type, None)}, {triple})
    repository.create_or_replace(uid, graph=[triple, (ME, TITLE, Literal('kept'))])
    assert set(repository.get(uid).user_data) == {(nsc['fcres'][uid], TITLE, Literal('kept'))}


def test_texts_that_are_not_what_they_say(repository, base):
    uid = f'{base}/a'
    for fmt, data in [
        ('turtle', '<> <urn:p> "unfinished'), ('turtle', b'<> <urn:p> "\xff" .'), ('xml', '<a'), ('json-ld', '{'),
        ('xml', '<info:fcres'), ('json-ld', '{"info:fcres'), ('turtle', b'<info:fcres> <urn:p> "\xff" .'), ('trix', '<'),
        ('no such format', 'x'), ('turtle', '<> <urn:p> "\ud800" .'),
    ]:
        with pytest.raises(exceptions.RdfParsingError) as caught:
            repository.create_or_replace(uid, rdf_data=data, rdf_fmt=fmt)
        assert caught.value.fmt == fmt and isinstance(caught.value, ValueError)
    assert not repository.exists(uid)
    for update in ('INSERT DATA {', 'LOAD <http://example.org/>', 'INSERT DATA { <> <urn:p> "\ud800" }'):
        with pytest.raises(exceptions.InvalidResourceError):
            repository.update(base, update)


@pytest.mark.parametrize(
    'triple',
    [
        (ME, TITLE), 'abc', None, (ME, TITLE, 'a string'), (ME, BNode(), ME), (Literal('s'), TITLE, ME), (ME, TITLE, 3),
        (ME, URIRef('http://example.org/> . <> <urn:p> "injected" . <urn:s'), ME), (ME, TITLE, URIRef('a b')),
        (ME, TITLE, Literal('\ud800')), (ME, TITLE, Literal('x', datatype=URIRef('urn:a b'))), (ME, TITLE, URIRef('urn:\ud800')),
    ],
)
def test_terms_that_are_none(repository, base, triple):
    for call in (
        lambda: repository.update_delta(base, [triple], ()),
        lambda: repository.update_delta(base, (), [triple]),
        lambda: repository.create_or_replace(base, graph=[triple]),
    ):
        with pytest.raises(exceptions.InvalidTripleError):
            call()
    assert set(repository.get(base).user_data) == set()


def test_arguments_that_make_no_sense(repository, base):
    for call in (
        lambda: repository.create_or_replace(base, mimetype='text/plain'),
        lambda: repository.create_or_replace(base, handling='none'),
        lambda: repository.create(base, '/a'),
        lambda: repository.create_or_replace(f'{base}/a', stream=io.BytesIO(), mimetype='text/plain\r\nX-Injected: 1'),
        lambda: repository.create_or_replace(f'{base}/a', stream=io.BytesIO(), prov_cksum='00\r\nX-Injected: 1'),
    ):
        with pytest.raises(ValueError):
            call()
    for stream in (b'bytes', 'a.txt'):
        with pytest.raises(TypeError):
            repository.create_or_replace(f'{base}/a', stream=stream)
    with pytest.raises(ValueError, match='binary'):
        repository.create_or_replace(f'{base}/a', stream=io.StringIO('text'))
    assert not repository.exists(f'{base}/a')


def test_wrong_logins_and_missing_rights(server, repository, base):
    wrong = Repository(server.url, user='ada', password='wrong', config=server.directory / 'config.toml')
    with pytest.raises(cenote.Error) as caught:
        wrong.get(base)
    assert isinstance(caught.value, errors.UnauthenticatedError) and caught.value.request_id
    nobody = Repository(server.url, config=server.directory / 'config.toml')
    with pytest.raises(exceptions.ResourceNotExistsError, match='not logged in'):
        nobody.get(base)
    server.cenote('user', 'add', 'bob', '--password-stdin', text=PASSWORD)
    server.cenote('acl', 'set', base, 'bob=read')
    bob = Repository(server.url, user='bob', password=PASSWORD, config=server.directory / 'config.toml')
    assert bob.exists(base)
    for call in (lambda: bob.create_or_replace(f'{base}/a'), lambda: bob.delete(base), lambda: bob.create(base), bob.integrity_check):
        with pytest.raises(errors.DeniedError):
            call()


def test_nobody_listens(repository, server):
    nobody = Repository('http://127.0.0.1:1', user='ada', password='x', config=server.directory / 'config.toml')
    for call in (lambda: nobody.update_delta('/a', (), [(ME, TITLE, ME)]), lambda: nobody.delete('/a')):
        with pytest.raises(errors.UnreachableError, match='is not known'):
            call()


def test_exceptions_say_what_to_do_and_can_be_pickled():
    for error in (
        exceptions.ResourceNotExistsError('/a'),
        exceptions.ResourceExistsError('/a', 'taken'),
        exceptions.InvalidResourceError('/a', 'wrong', hint='try'),
        exceptions.IncompatibleLdpTypeError('/a', 'text/plain'),
        exceptions.ChecksumValidationError('/a', '00', '01'),
        exceptions.IndigestibleError('/a'),
        exceptions.TombstoneError('/a', '2026'),
        exceptions.ServerManagedTermError(['urn:a'], 'p'),
        exceptions.RdfParsingError('turtle', 'line 1'),
        exceptions.InvalidTripleError((1, 2, 3), hint='no'),
        exceptions.RefIntViolationError('/b'),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error) and vars(again) == vars(error) and str(error)
