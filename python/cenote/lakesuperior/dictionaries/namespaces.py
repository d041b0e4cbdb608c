"""Namespaces by their prefixes, as LAKEsuperior has them.

>>> from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc
>>> nsc['dcterms'].title
rdflib.term.URIRef('http://purl.org/dc/terms/title')
>>> nsc['fcres']['/maps/1 a']
rdflib.term.URIRef('info:fcres/maps/1%20a')
"""

from __future__ import annotations

from rdflib import Namespace, URIRef

from cenote.lakesuperior._rdf.names import INTERNAL, internal

__all__ = ['ns_collection']


class _Resources(Namespace):
    """The IRIs of the resources of the repository: that of a UID, with what IRIs cannot have encoded."""

    def __getitem__(self, key: str) -> URIRef:  # type: ignore[override]
        return internal(key)


#: Each namespace, by its prefix.
ns_collection: dict[str, Namespace] = {
    'acl': Namespace('http://www.w3.org/ns/auth/acl#'),
    'dc': Namespace('http://purl.org/dc/elements/1.1/'),
    'dcterms': Namespace('http://purl.org/dc/terms/'),
    'dctype': Namespace('http://purl.org/dc/dcmitype/'),
    'ebucore': Namespace('http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#'),
    'fcrepo': Namespace('http://fedora.info/definitions/fcrepo#'),
    'fcres': _Resources(INTERNAL),
    'fcsystem': Namespace('info:fcsystem/'),
    'foaf': Namespace('http://xmlns.com/foaf/0.1/'),
    'iana': Namespace('http://www.iana.org/assignments/relation/'),
    'ldp': Namespace('http://www.w3.org/ns/ldp#'),
    'oa': Namespace('http://www.w3.org/ns/oa#'),
    'ore': Namespace('http://www.openarchives.org/ore/terms/'),
    'owl': Namespace('http://www.w3.org/2002/07/owl#'),
    'pcdm': Namespace('http://pcdm.org/models#'),
    'premis': Namespace('http://www.loc.gov/premis/rdf/v1#'),
    'rdf': Namespace('http://www.w3.org/1999/02/22-rdf-syntax-ns#'),
    'rdfs': Namespace('http://www.w3.org/2000/01/rdf-schema#'),
    'rel': Namespace('http://id.loc.gov/vocabulary/relators/'),
    'skos': Namespace('http://www.w3.org/2004/02/skos/core#'),
    'webac': Namespace('http://www.w3.org/ns/auth/acl#'),
    'xsd': Namespace('http://www.w3.org/2001/XMLSchema#'),
}
