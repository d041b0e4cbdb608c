"""The queries. They see what the caller may read, in one state of the store."""

from __future__ import annotations

import errno
import json
from collections.abc import Iterable, Mapping
from io import BytesIO
from typing import Any

from rdflib import BNode, URIRef
from rdflib.term import Node

from cenote.lakesuperior._rdf import terms
from cenote.lakesuperior._rdf.terms import Triple
from cenote.lakesuperior._requests import Requests
from cenote.lakesuperior.exceptions import InvalidTripleError
from cenote.store.errors import InvalidError

#: How a term of a search may compare: ``_id`` is the same term, ``~`` has the words, the others compare texts.
operands = ('_id', '=', '!=', '<', '>', '<=', '>=', '~')

_SPARQL = '/query/sparql'
_TERM_SEARCH = '/query/term_search'
_TEXT = 'http://jena.apache.org/text#query'
_TABLES = {
    'json': 'application/sparql-results+json', 'xml': 'application/sparql-results+xml', 'csv': 'text/csv',
    'tsv': 'text/tab-separated-values',
}
_GRAPHS = {
    'json': 'application/ld+json', 'xml': 'application/rdf+xml', 'turtle': 'text/turtle', 'ttl': 'text/turtle',
    'nt': 'application/n-triples', 'n3': 'text/n3', 'json-ld': 'application/ld+json', 'pretty-xml': 'application/rdf+xml',
}

#: A term of a search: predicate, comparison and value.
Term = Mapping[str, Any] | tuple[Any, str, Any]


class Queries:
    """The queries of a repository."""

    _requests: Requests

    def triple_match(
        self, s: Node | None = None, p: Node | None = None, o: Node | None = None, return_full: bool = False
    ) -> set[Any]:
        """Triples with these terms; ``None`` stands for any.

        Args:
            s: The subject.
            p: The predicate.
            o: The object.
            return_full: Whether to return the triples, or only their subjects.
        """
        if any(isinstance(term, BNode) for term in (s, p, o)):
            raise InvalidTripleError((s, p, o), hint='a blank node has no name by which it could be found')
        writer, names = terms.Writer(), ('?s', '?p', '?o')
        pattern = ' '.join(
            name if term is None else _absolute(writer, term) for name, term in zip(names, (s, p, o), strict=True)
        )
        answer = self._query(f'CONSTRUCT WHERE {{ {pattern} }}', 'application/n-triples')
        found: set[Triple] = set(terms.read(answer.decode(), self._requests.internal))
        return found if return_full else {triple[0] for triple in found}

    def term_query(self, terms: Iterable[Term], or_logic: bool = False) -> set[URIRef]:
        """Resources with certain statements.

        Args:
            terms: Each with a predicate (``pred``, an IRI or a name like ``dcterms:title``), a comparison
                (``op``, one of ``cenote.lakesuperior.query.operands``), and a value (``val``); or
                these three in a tuple.
            or_logic: Whether one of the terms is enough.
        """
        search = {'logic': 'or' if or_logic else 'and', 'terms': [_term(term) for term in terms]}
        headers = {'Content-Type': 'application/json', 'Accept': 'application/json'}
        found = json.loads(self._requests.send('POST', _TERM_SEARCH, headers, json.dumps(search).encode()).all())
        return {URIRef(self._requests.internal(iri)) for iri in found}

    def fulltext_lookup(self, pattern: str) -> set[URIRef]:
        """Resources whose statements or text files have the words.

        Args:
            pattern: Words; a word that ends with ``*`` stands for all that begin so.
        """
        query = f'SELECT DISTINCT ?s WHERE {{ ?s <{_TEXT}> {terms.quoted(pattern)} }}'
        table = json.loads(self._query(query, _TABLES['json']))
        return {URIRef(row['s']['value']) for row in table['results']['bindings']}

    def sparql_query(self, qry_str: str, fmt: str = 'json') -> BytesIO:
        """The answer to a SPARQL query, in a format.

        Args:
            qry_str: The query.
            fmt: ``json``, ``xml``, ``csv`` or ``tsv``; for graphs ``turtle``, ``nt``, ``n3``, ``xml``
                or ``json-ld``.

        Raises:
            InvalidError: The query is invalid, or its answer cannot be written in this format.
        """
        accept = [table[fmt] for table in (_TABLES, _GRAPHS) if fmt in table]
        if not accept:
            known = ', '.join({**_TABLES, **_GRAPHS})
            raise InvalidError(errno.EINVAL, f'no format: {fmt!r}', kind='invalid', hint=f'there are {known}')
        return BytesIO(self._query(qry_str, ', '.join(accept)))

    def _query(self, query: str, accept: str) -> bytes:
        headers = {'Content-Type': 'application/sparql-query', 'Accept': accept}
        return self._requests.send('POST', _SPARQL, headers, query.encode()).all()


def _absolute(writer: terms.Writer, term: Node) -> str:
    """A term of a pattern; that of a resource by its internal IRI, which queries know."""
    if isinstance(term, URIRef):
        return terms.iri_as_it_is(term)
    return writer.term(term)


def _term(term: Term) -> dict[str, str]:
    """A term as the server takes it."""
    pred, op, val = (term['pred'], term['op'], term['val']) if isinstance(term, Mapping) else term
    if op not in operands:
        raise ValueError(f'Not a valid operand: {op}; there are {", ".join(operands)}')
    return {'pred': _written(pred), 'op': op, 'val': _written(val) if op == '_id' else str(val)}


def _written(term: Any) -> str:
    """A term of rdflib as it is written; text is taken as that."""
    if isinstance(term, URIRef):
        return terms.iri_as_it_is(term)
    return terms.Writer().term(term) if isinstance(term, Node) else str(term)
