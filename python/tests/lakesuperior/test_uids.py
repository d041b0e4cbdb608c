"""UIDs are plain text, whatever characters they have."""

import io

import pytest
from rdflib import Literal, URIRef

from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc
from cenote.lakesuperior.exceptions import InvalidResourceError

TITLE = nsc['dcterms'].title
HOSTILE = [
    'a b', '100%', 'a%20b', '%2e%2e', 'a#b', 'a?b=c', 'é', 'e\u0301', '日本', '<>"{}|\\^`', "~!$&'()*+,;=:@[]", '\n\t', '...', '.a',
    'info:fcres', 'http:', '\U0001f409', ' ', '-', 'c:d', 'fcr', '\u202e', 'a' * 200,
]


@pytest.mark.parametrize('name', HOSTILE, ids=range(len(HOSTILE)))
def test_a_name_is_what_it_is_in_every_call(repository, base, name):
    uid = f'{base}/{name}'
    assert not repository.exists(uid)
    _, made = repository.create_or_replace(uid, graph=[(URIRef(''), TITLE, Literal(name))])
    assert made.uid == uid and made.imr.value(TITLE) == Literal(name)
    assert made.uri == nsc['fcres'][uid]
    # Its IRI leads to it, in calls and in graphs.
    assert repository.get(made.uri).uid == uid
    repository.update_delta(uid, {(made.uri, TITLE, None)}, {(made.uri, TITLE, Literal('2')), (made.uri, nsc['dcterms'].relation, made.uri)})
    assert set(repository.get(uid).user_data) == {(made.uri, TITLE, Literal('2')), (made.uri, nsc['dcterms'].relation, made.uri)}
    whole = repository.get(base)
    assert set(whole.imr.objects(whole.uri, nsc['ldp'].contains)) == {made.uri}
    assert repository.triple_match(p=TITLE, s=made.uri) == {made.uri}
    child = repository.create(uid, name)
    assert child.uid == f'{uid}/{name}'
    # With bytes, too.
    bytes_ = repository.create(uid, f'{name} bytes', stream=io.BytesIO(b'x'))
    assert bytes_.content.read() == b'x'
    repository.fixity_check(bytes_.uid)
    repository.delete(uid)
    repository.resurrect(uid)
    assert repository.exists(child.uid)
    label = f'v{name}'.rstrip()
    assert repository.create_version(uid, label) and label in repository.get(uid).version_uids
    repository.revert_to_version(uid, label)


@pytest.mark.parametrize('uid', ['', 'a', 'a/b', '/a//b', '//a', '/.', '/..', '/a/../b', '/a/./b', '/\0', '/\ud800', 'http://h/a', 'info:fcresa'])
def test_what_is_no_uid_is_refused(repository, base, uid):
    for call in (repository.get, repository.exists, repository.create_or_replace, repository.create, repository.delete, repository.resurrect):
        with pytest.raises(InvalidResourceError):
            call(uid)


def test_a_slash_at_the_end_is_ignored(repository, base):
    assert repository.get(f'{base}/').uid == base
    assert repository.get('//').uid == '/' == repository.get(URIRef('info:fcres')).uid == repository.get('info:fcres/').uid


@pytest.mark.parametrize('name', ['fcr:x', 'fcr:tombstone', 'fcr:versions/1', 'fcr:acl', 'a/fcr:content', 'fcr:metadata'])
def test_names_of_the_server_are_refused(repository, base, name):
    for call in (repository.get, repository.exists, repository.create_or_replace, repository.create, repository.delete):
        with pytest.raises(InvalidResourceError, match='fcr:'):
            call(f'{base}/{name}')
