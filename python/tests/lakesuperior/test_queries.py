"""The queries."""

import io
import json

import pytest
from rdflib import RDF, BNode, Graph, Literal, Namespace, URIRef

from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc
from cenote.lakesuperior.exceptions import InvalidTripleError
from cenote.store import errors

X = Namespace('http://example.org/')
ME, TITLE = URIRef(''), nsc['dcterms'].title


@pytest.fixture
def maps(repository, base):
    """Two maps of this test: their IRIs, and a type that nothing else has."""
    kind = URIRef(f'{X}{base[1:]}')
    first = repository.create(base, 'a 1', graph=[(ME, TITLE, Literal('Atlas "one"')), (ME, RDF.type, kind)])
    second = repository.create(base, 'ö', graph=[(ME, TITLE, Literal('b')), (ME, RDF.type, kind), (ME, X.after, first.uri)])
    return first.uri, second.uri, kind


def test_triples_are_matched(repository, maps):
    first, second, kind = maps
    assert repository.triple_match(p=RDF.type, o=kind) == {first, second}
    assert repository.triple_match(first, TITLE) == {first}
    assert repository.triple_match(None, X.after, first, return_full=True) == {(second, X.after, first)}
    assert repository.triple_match(first, TITLE, Literal('Atlas "one"'), True) == {(first, TITLE, Literal('Atlas "one"'))}
    assert repository.triple_match(first, X.none) == set()
    with pytest.raises(InvalidTripleError):
        repository.triple_match(BNode())
    with pytest.raises(InvalidTripleError):
        repository.triple_match(URIRef('urn:a> ?p ?o } # '))


def test_terms_are_searched_for(repository, maps):
    first, second, kind = maps
    is_map = {'pred': 'rdf:type', 'op': '_id', 'val': kind}
    assert repository.term_query([is_map]) == {first, second}
    assert repository.term_query([is_map, {'pred': TITLE, 'op': '=', 'val': 'Atlas "one"'}]) == {first}
    assert repository.term_query([(RDF.type, '_id', kind), (TITLE, '>', 'a')]) == {second}
    assert repository.term_query([(X.after, '_id', first), ('dcterms:title', '=', Literal('Atlas "one"'))], or_logic=True) >= {first, second}
    assert repository.term_query([(TITLE, '_id', Literal('b')), is_map]) == {second}
    assert repository.term_query([is_map, (TITLE, '~', 'atlas')]) == {first}
    with pytest.raises(ValueError, match='operand'):
        repository.term_query([(TITLE, 'like', 'a')])
    with pytest.raises(errors.InvalidError, match='prefix'):
        repository.term_query([('none:such', '=', 'a')])
    with pytest.raises(errors.InvalidError):
        repository.term_query([])


def test_words_are_looked_up(repository, base):
    word = 'w' + base[-20:].replace('-', '').replace('_', '')
    made = repository.create(base, 'a', graph=[(ME, TITLE, Literal(f'about {word} and "others"'))])
    repository.create(base, 'b', graph=[(ME, TITLE, Literal('else'))])
    assert repository.fulltext_lookup(word) == {made.uri}
    assert repository.fulltext_lookup(f'{word[:-1]}*') == {made.uri}
    assert repository.fulltext_lookup(f'{word} }} #') == {made.uri} == repository.fulltext_lookup('"about %s"' % word)
    with pytest.raises(errors.InvalidError, match='not closed'):
        repository.fulltext_lookup(f'{word}" }}')
    assert repository.fulltext_lookup('nosuchwordanywhere') == set()


@pytest.mark.parametrize('fmt', ['json', 'xml', 'csv', 'tsv'])
def test_tables_have_the_format_that_was_asked_for(repository, maps, fmt):
    first, second, kind = maps
    answer = repository.sparql_query(f'SELECT ?s WHERE {{ ?s a <{kind}> }}', fmt)
    assert isinstance(answer, io.BytesIO) and str(first).encode() in answer.getvalue() and str(second).encode() in answer.getvalue()
    if fmt == 'json':
        assert {row['s']['value'] for row in json.load(answer)['results']['bindings']} == {str(first), str(second)}


@pytest.mark.parametrize('fmt', ['turtle', 'nt', 'n3', 'xml', 'json-ld', 'json'])
def test_graphs_do_too(repository, maps, fmt):
    first, _, kind = maps
    answer = repository.sparql_query(f'CONSTRUCT {{ ?s a <{kind}> }} WHERE {{ ?s a <{kind}> }}', fmt)
    parsed = Graph().parse(answer, format='json-ld' if fmt == 'json' else fmt)
    assert (first, RDF.type, kind) in parsed and len(parsed) == 2


def test_queries_that_cannot_be_answered(repository):
    assert json.load(repository.sparql_query('ASK { ?s ?p ?o }'))['boolean'] is True
    for query, fmt in [('SELECT', 'json'), ('SELECT * { ?s ?p ?o } LIMIT 1', 'turtle'), ('ASK {}', 'no such')]:
        with pytest.raises(errors.InvalidError) as caught:
            repository.sparql_query(query, fmt)
        assert isinstance(caught.value, ValueError)
