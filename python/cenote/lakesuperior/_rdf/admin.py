"""Which triples are metadata, as LAKEsuperior divides graphs."""

from __future__ import annotations

from rdflib import RDF

from cenote.lakesuperior._rdf.terms import Triple
from cenote.lakesuperior.dictionaries.namespaces import ns_collection as nsc

#: Triples with these predicates are metadata, as LAKEsuperior divides them.
_ADMIN_PREDICATES = {
    nsc['ebucore'].hasMimeType,
    *(nsc['fcrepo'][name] for name in ('created', 'createdBy', 'hasParent', 'hasVersion', 'hasVersions')),
    *(nsc['fcrepo'][name] for name in ('lastModified', 'lastModifiedBy', 'hasFixityService', 'writable')),
    *(nsc['ldp'][name] for name in ('membershipResource', 'hasMemberRelation', 'insertedContentRelation')),
    nsc['iana'].describedBy,
    nsc['premis'].hasMessageDigest,
    nsc['premis'].hasSize,
}
#: And triples that state these types.
ADMIN_TYPES = {
    *(nsc['fcrepo'][name] for name in ('Binary', 'Container', 'Pairtree', 'Resource', 'Version')),
    *(nsc['ldp'][name] for name in ('BasicContainer', 'Container', 'DirectContainer', 'IndirectContainer')),
    *(nsc['ldp'][name] for name in ('NonRDFSource', 'RDFSource', 'Resource')),
}
#: Triples with these predicates are neither metadata nor what was given.
STRUCTURE = {nsc['ldp'].contains, nsc['pcdm'].hasMember}


def is_admin(triple: Triple) -> bool:
    """Whether a triple is metadata."""
    return triple[1] in _ADMIN_PREDICATES or (triple[1] == RDF.type and triple[2] in ADMIN_TYPES)
