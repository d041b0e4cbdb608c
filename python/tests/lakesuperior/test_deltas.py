"""``update_delta``: one commit, wildcards, and terms of any content."""

import random
import threading

import pytest
from rdflib import RDF, XSD, BNode, Graph, Literal, URIRef
from rdflib.compare import isomorphic

from cenote.lakesuperior._rdf import delta, terms
from cenote.lakesuperior._rdf.names import INTERNAL
from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc
from cenote.lakesuperior.exceptions import InvalidTripleError

ME, NAME, FOAF = URIRef(''), nsc['foaf'].name, nsc['foaf']


def given(repository, uid):
    return set(repository.get(uid).user_data)


def test_triples_are_removed_and_added(repository, base):
    me = nsc['fcres'][base]
    repository.create_or_replace(base, graph={(me, RDF.type, FOAF.Person), (me, NAME, Literal('Joe Bob'))})
    assert repository.update_delta(base, {(me, RDF.type, FOAF.Person)}, {(me, RDF.type, FOAF.Organization)}) is None
    assert given(repository, base) == {(me, RDF.type, FOAF.Organization), (me, NAME, Literal('Joe Bob'))}


@pytest.mark.parametrize(
    'pattern, left',
    [
        ((ME, NAME, None), {'age', 'part'}), ((ME, None, Literal(7)), {'name', 'one', 'part'}), ((None, None, Literal('Joe')), {'one', 'age'}),
        ((None, NAME, None), {'age'}), ((ME, None, None), {'part'}), ((None, None, None), set()), ((URIRef('#part'), None, None), {'name', 'one', 'age'}),
        ((ME, NAME, Literal('nobody')), {'name', 'one', 'age', 'part'}),
    ],
)
def test_none_stands_for_any_term(repository, base, pattern, left):
    me = nsc['fcres'][base]
    every = {
        'name': (me, NAME, Literal('Joe')), 'one': (me, NAME, Literal('Joe', lang='en')), 'age': (me, FOAF.age, Literal(7)),
        'part': (URIRef(f'{me}#part'), NAME, Literal('Joe')),
    }
    repository.create_or_replace(base, graph=every.values())
    added = (me, FOAF.nick, Literal('new'))
    repository.update_delta(base, [pattern], [added])
    assert given(repository, base) == {added, *(every[name] for name in left)}


def test_what_is_removed_and_added_is_there(repository, base):
    me = nsc['fcres'][base]
    triple = (me, NAME, Literal('Joe'))
    repository.update_delta(base, [triple, (me, NAME, None)], [triple])
    assert given(repository, base) == {triple}


def test_blank_nodes_are_added_and_are_one_node_in_all_triples(repository, base):
    graph = Graph()
    first, second = BNode('"> . x'), BNode('b1')
    for triple in [(ME, FOAF.knows, first), (first, NAME, Literal('1')), (first, FOAF.knows, second), (second, NAME, Literal('2'))]:
        graph.add(triple)
    repository.update_delta(base, (), graph)
    me = nsc['fcres'][base]
    expected = Graph()
    for s, p, o in graph:
        expected.add((me if s == ME else s, p, o))
    assert isomorphic(repository.get(base).user_data, expected)
    with pytest.raises(InvalidTripleError, match='no name'):
        repository.update_delta(base, {(me, FOAF.knows, first)}, ())
    repository.update_delta(base, {(me, FOAF.knows, None)}, ())
    assert not set(repository.get(base).imr.objects(me, FOAF.knows))


def test_a_delta_is_one_commit(repository, server, base):
    store = server.connect()
    position = list(store.changes(base))[-1].position
    me = nsc['fcres'][base]
    repository.update_delta(base, {(me, NAME, None), (me, RDF.type, FOAF.Person)}, {(me, NAME, Literal(n)) for n in range(50)})
    assert len(list(store.changes(base, position))) == 1


def test_concurrent_deltas_all_take_effect(repository, base):
    me = nsc['fcres'][base]
    failures = []

    def work(number):
        try:
            for step in range(5):
                repository.update_delta(base, {(me, FOAF.age, None)}, {(me, NAME, Literal(f'{number} {step}')), (me, FOAF.age, Literal(step))})
        except Exception as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    found = repository.get(base).user_data
    assert len(set(found.objects(me, NAME))) == 20 and len(set(found.objects(me, FOAF.age))) == 1


ALPHABET = [*'abc"\'\\\n\r\t{}<>;.#@^_:?$ \u0000\u0085\u2028é漢', '\U0001f409', '\\u0022', '"""', "'''", '\uffff', '\ufeff']


def some_term(chance):
    """A literal or an IRI of hostile characters."""
    text = ''.join(chance.choices(ALPHABET, k=chance.randrange(12)))
    kind = chance.randrange(5)
    if kind == 0:
        return Literal(text)
    if kind == 1:
        return Literal(text, lang=chance.choice(['en', 'de-at', 'zh-hans-cn']))
    if kind == 2:
        return Literal(text, datatype=chance.choice([XSD.integer, XSD.dateTime, URIRef('http://example.org/t')]), normalize=False)
    if kind == 3:
        return URIRef('http://example.org/' + ''.join(each for each in text if each.isalnum() or each in "?;.:@'$_")[:9])
    return URIRef(f'{INTERNAL}/{"".join(each for each in text if each.isalnum())}#' if text else INTERNAL + '/')


def alike(term):
    return type(term), str(term), getattr(term, 'language', None), getattr(term, 'datatype', None)


@pytest.mark.parametrize('seed', range(20))
def test_any_terms_are_added_found_and_removed(repository, base, seed):
    """What was written is what comes back, and nothing else; each triple can be removed by itself."""
    chance = random.Random(seed)
    me = nsc['fcres'][base]
    # Links to missing resources are left out by the server.
    every = [term for term in (some_term(chance) for _ in range(20)) if not str(term).startswith(INTERNAL)]
    added = {(me, URIRef(f'http://example.org/p{number}'), term) for number, term in enumerate(every)}
    repository.update_delta(base, (), added)
    found = given(repository, base)
    assert {(p, *alike(o)) for _, p, o in found} == {(p, *alike(o)) for _, p, o in added}
    kept = set(chance.sample(sorted(added), len(added) // 2))
    repository.update_delta(base, found - kept if seed % 2 else added - kept, ())
    assert {(p, *alike(o)) for _, p, o in given(repository, base)} == {(p, *alike(o)) for _, p, o in kept}


def test_no_content_ends_its_term():
    """Another parser reads as many terms as were written, each as it was."""
    chance = random.Random(7)
    texts = [''.join(chance.choices(ALPHABET, k=chance.randrange(12))) for _ in range(1000)]
    triples = [(ME, URIRef(f'http://example.org/p{number}'), Literal(text)) for number, text in enumerate(texts)]
    graph = Graph().parse(data=terms.turtle(triples), format='turtle', publicID='http://example.org/')
    assert {str(p): str(o) for _, p, o in graph} == {str(p): str(o) for _, p, o in triples}
