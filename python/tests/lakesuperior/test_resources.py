"""The calls about resources."""

import pytest
from rdflib import RDF, XSD, Graph, Literal, Namespace, URIRef

from cenote.lakesuperior import LdpNr, LdpRs
from cenote.lakesuperior.api.resource import RES_CREATED, RES_UPDATED
from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc

X = Namespace('http://example.org/')
TITLE = nsc['dcterms'].title


def given(resource):
    """The triples of a resource that were given."""
    return set(resource.user_data)


def test_a_resource_is_created_and_replaced(repository, base):
    uid = f'{base}/a'
    assert repository.exists(uid) is False
    event, made = repository.create_or_replace(uid, rdf_data=b'<> <http://example.org/p> "1" .', rdf_fmt='turtle')
    assert event == RES_CREATED == '_create_'
    assert isinstance(made, LdpRs) and made.uid == uid and made.is_stored
    assert given(made) == {(made.uri, X.p, Literal('1'))}
    event, again = repository.create_or_replace(uid, rdf_data='<> <http://example.org/q> "2" .')
    assert event == RES_UPDATED and given(again) == {(made.uri, X.q, Literal('2'))}
    # What was returned is the state of its time.
    assert given(made) == {(made.uri, X.p, Literal('1'))}
    event, empty = repository.create_or_replace(uid)
    assert event == RES_UPDATED and given(empty) == set()
    assert repository.exists(uid) is True


def test_containers_above_are_created(repository, base):
    repository.create_or_replace(f'{base}/x/y/z')
    above = repository.get(f'{base}/x')
    assert set(above.imr.objects(above.uri, nsc['ldp'].contains)) == {nsc['fcres'][f'{base}/x/y']}


def test_graphs_are_taken_as_graphs_of_rdflib_and_as_triples(repository, base):
    graph = Graph()
    graph.add((URIRef(''), RDF.type, X.Map))
    graph.add((URIRef('#legend'), X.of, URIRef('')))
    graph.add((X.elsewhere, X.about, nsc['fcres'][base]))
    for number, kind in enumerate((graph, set(graph))):
        uid = f'{base}/{number}'
        _, made = repository.create_or_replace(uid, graph=kind)
        assert given(made) == {
            (made.uri, RDF.type, X.Map),
            (URIRef(f'{made.uri}#legend'), X.of, made.uri),
            (X.elsewhere, X.about, nsc['fcres'][base]),
        }
        # What is read can be given again.
        _, again = repository.create_or_replace(uid, graph=made.user_data)
        assert given(again) == given(made)
        _, again = repository.create_or_replace(uid, graph=made.imr)
        assert given(again) == given(made)


@pytest.mark.parametrize(
    'fmt, text',
    [
        ('turtle', '@prefix r: <info:fcres/> . <> <http://example.org/of> r:BASE ; <http://example.org/s> "<info:fcres/a>" .'),
        ('ttl', '@base <http://example.org/> . <info:fcres/BASE/a> <of> <info:fcres/BASE> ; <s> """<info:fcres/a>""" .'),
        ('nt', '<info:fcres/BASE/a> <http://example.org/of> <info:fcres/BASE> .\n'
               '<info:fcres/BASE/a> <http://example.org/s> "<info:fcres/a>" .'),
        ('xml', '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://example.org/">'
                '<rdf:Description rdf:about=""><of rdf:resource="info:fcres/BASE"/><s>&lt;info:fcres/a></s></rdf:Description></rdf:RDF>'),
        ('json-ld', '{"@id": "", "http://example.org/of": {"@id": "info:fcres/BASE"}, "http://example.org/s": "<info:fcres/a>"}'),
        ('n3', '<> <http://example.org/of> <info:fcres/BASE> ; <http://example.org/s> "<info:fcres/a>" .'),
    ],
)
def test_texts_of_every_format_name_resources_by_their_internal_iris(repository, base, fmt, text):
    _, made = repository.create_or_replace(f'{base}/a', rdf_data=text.replace('BASE', base[1:]), rdf_fmt=fmt)
    assert given(made) == {(made.uri, X.of, nsc['fcres'][base]), (made.uri, X.s, Literal('<info:fcres/a>'))}


def test_literals_come_back_as_they_were(repository, base):
    values = [
        Literal('01', datatype=XSD.integer, normalize=False),
        Literal('1.50', datatype=XSD.decimal, normalize=False),
        Literal('not a number', datatype=XSD.integer, normalize=False),
        Literal('a "quoted"\n\r\ttext\\ \u0000 \u007f \u2028 \U0001f409'),
        Literal('colour', lang='en-gb'),
        Literal('} ; DELETE WHERE { ?s ?p ?o } #'),
    ]
    _, made = repository.create_or_replace(f'{base}/a', graph=[(URIRef(''), X.v, value) for value in values])
    found = {(str(value), value.language, value.datatype) for value in made.imr.objects(made.uri, X.v)}
    assert found == {(str(value), value.language, value.datatype) for value in values}


def test_names_are_minted_in_a_container(repository, base):
    made = repository.create(base, 'a', rdf_data='<#part> <http://example.org/of> <> .')
    assert made.uid == f'{base}/a'
    assert given(made) == {(URIRef(f'{made.uri}#part'), X.of, made.uri)}
    other = repository.create(base, 'a')
    assert other.uid.startswith(f'{base}/') and other.uid != made.uid
    assert repository.create(base).uid not in (made.uid, other.uid)
    assert repository.create('/', None).uid.count('/') == 1


def test_direct_and_indirect_containers_have_members(repository, base):
    data = f'''
        @prefix ldp: <http://www.w3.org/ns/ldp#> .
        <> a ldp:DirectContainer ; ldp:membershipResource <info:fcres{base}> ; ldp:hasMemberRelation <http://example.org/has> .
    '''
    _, container = repository.create_or_replace(f'{base}/dc', rdf_data=data)
    assert nsc['ldp'].DirectContainer in container.ldp_types and nsc['ldp'].Container in container.ldp_types
    child = repository.create(container.uid)
    whole = repository.get(base)
    assert whole.imr.value(X.has) == child.uri


def test_representations_have_what_is_asked_for(repository, base):
    repository.create_or_replace(f'{base}/child', graph=[(URIRef(''), X.up, nsc['fcres'][base])])
    contains, up = nsc['ldp'].contains, (nsc['fcres'][f'{base}/child'], X.up, nsc['fcres'][base])
    default = repository.get(base)
    assert set(default.imr.objects(default.uri, contains)) == {up[0]} and up not in default.imr
    lone = repository.get(base, {'incl_children': False, 'incl_inbound': True})
    assert not set(lone.imr.objects(lone.uri, contains)) and up in lone.imr
    assert not set(repository.get(base, {'incl_srv_mgd': False, 'incl_children': False}).imr)
    with pytest.raises(ValueError, match='incl_kids'):
        repository.get(base, {'incl_kids': True})


def test_metadata_is_apart_from_what_was_given(repository, base):
    repository.create_or_replace(f'{base}/a/b')
    _, made = repository.create_or_replace(f'{base}/a', graph=[(URIRef(''), TITLE, Literal('A')), (URIRef(''), RDF.type, X.T)])
    metadata = repository.get_metadata(made.uid)
    assert metadata.uri == made.uri and str(metadata.value(nsc['fcrepo'].createdBy)) == 'ada'
    assert set(metadata) == set(made.metadata)
    for triple in metadata:
        assert triple[1] not in (TITLE, nsc['ldp'].contains) and triple[2] != X.T
    assert made.user_types == {X.T} and nsc['ldp'].Resource in made.ldp_types and X.T in made.types


def test_a_graph_is_one_of_rdflib_and_reads_as_in_lakesuperior(repository, base):
    _, made = repository.create_or_replace(f'{base}/a', graph=[(URIRef(''), TITLE, Literal('A'))])
    graph = made.imr
    with graph.store.txn_ctx():
        assert (graph.uri, TITLE, Literal('A')) in graph
        assert graph[graph.uri : TITLE : Literal('A')] and set(graph[graph.uri : TITLE]) == {Literal('A')}
    assert graph.identifier == graph.uri == made.uri == nsc['fcres'][made.uid]
    assert graph.value(TITLE) == Literal('A') and graph.value(made.uri, TITLE) == Literal('A')
    assert graph.value(X.none) is None
    assert set(graph.as_rdflib()) == set(graph) and type(graph.as_rdflib()) is Graph
    assert 'dcterms:title' in graph.serialize(format='turtle')


def test_an_update_changes_a_graph(repository, base):
    _, made = repository.create_or_replace(f'{base}/a', rdf_data='<> <http://purl.org/dc/terms/title> "Original title." .')
    changed = repository.update(made.uid, f'''
        DELETE {{ <> <{TITLE}> "Original title." }}
        INSERT {{ <> <{TITLE}> "Title #2." . <info:fcres{made.uid}> <{TITLE}> "Title #3." . <#h1> <{TITLE}> "<info:fcres>" }}
        WHERE {{ }}
    ''')
    assert given(changed) == {
        (made.uri, TITLE, Literal('Title #2.')),
        (made.uri, TITLE, Literal('Title #3.')),
        (URIRef(f'{made.uri}#h1'), TITLE, Literal('<info:fcres>')),
    }


def test_removed_resources_leave_tombstones_and_come_back(repository, base):
    repository.create_or_replace(f'{base}/a/b')
    assert repository.delete(f'{base}/a') == '_delete_'
    assert repository.resurrect(f'{base}/a') == nsc['fcres'][f'{base}/a']
    assert repository.exists(f'{base}/a/b')


def test_forgotten_resources_do_not(repository, base):
    for is_buried in (False, True):
        repository.create_or_replace(f'{base}/a/b')
        if is_buried:
            repository.delete(f'{base}/a')
        repository.delete(f'{base}/a', soft=False)
        assert not repository.exists(f'{base}/a') and not repository.exists(f'{base}/a/b')


def test_versions_are_kept_listed_and_restored(repository, base):
    uid = f'{base}/a'
    _, made = repository.create_or_replace(uid, graph=[(URIRef(''), TITLE, Literal('first'))])
    assert repository.create_version(uid, 'v 1/ä') == f'{uid}/fcr:versions/v 1/ä'
    repository.update_delta(uid, {(made.uri, TITLE, None)}, {(made.uri, TITLE, Literal('second'))})
    other = repository.create_version(uid, 'v 1/ä')
    assert other != f'{uid}/fcr:versions/v 1/ä'
    listed = repository.get(uid)
    assert listed.version_uids == {'v 1/ä', other.rpartition('/')[2]}
    assert set(repository.get_version_info(uid)) == set(listed.version_info)
    assert Literal('v 1/ä') in set(listed.version_info.objects(predicate=nsc['fcrepo'].hasVersionLabel))
    for name in ('v 1/ä', f'{uid}/fcr:versions/v 1/ä'):
        version = repository.get_version(uid, name)
        assert (version.uri, TITLE, Literal('first')) in version and version.uri == made.uri
    assert repository.revert_to_version(uid, 'v 1/ä') == RES_UPDATED
    assert repository.get(uid).imr.value(TITLE) == Literal('first')
    # The state before is kept: it is the other version.
    before = repository.get_version(uid, other)
    assert (before.uri, TITLE, Literal('second')) in before


def test_versions_leave_children_alone(repository, base):
    repository.create_or_replace(f'{base}/a/one')
    repository.create_version(f'{base}/a', 'v1')
    repository.create_or_replace(f'{base}/a/two')
    repository.revert_to_version(f'{base}/a', 'v1')
    whole = repository.get(f'{base}/a')
    children = set(whole.imr.objects(whole.uri, nsc['ldp'].contains))
    assert children == {nsc['fcres'][f'{base}/a/{name}'] for name in ('one', 'two')}


def test_a_resource_knows_what_it_is(repository, base):
    assert repr(repository.get('/')) == "LdpRs('/')"
    assert repository.get('/').uri == URIRef('info:fcres/')
    assert not isinstance(repository.get(base), LdpNr)
