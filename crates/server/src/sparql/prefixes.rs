//! Prefixes that need not be declared.

/// Names with their IRIs.
pub(crate) type Prefixes = &'static [(&'static str, &'static str)];

/// Those that LAKEsuperior knows.
pub(super) const LAKESUPERIOR: [(&str, &str); 22] = [
    ("acl", "http://www.w3.org/ns/auth/acl#"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("dctype", "http://purl.org/dc/dcmitype/"),
    ("ebucore", "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#"),
    ("fcrepo", "http://fedora.info/definitions/fcrepo#"),
    ("fcres", "info:fcres"),
    ("fcsystem", "info:fcsystem/"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("iana", "http://www.iana.org/assignments/relation/"),
    ("ldp", "http://www.w3.org/ns/ldp#"),
    ("oa", "http://www.w3.org/ns/oa#"),
    ("ore", "http://www.openarchives.org/ore/terms/"),
    ("owl", "http://www.w3.org/2002/07/owl#"),
    ("pcdm", "http://pcdm.org/models#"),
    ("premis", "http://www.loc.gov/premis/rdf/v1#"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("rel", "http://id.loc.gov/vocabulary/relators/"),
    ("skos", "http://www.w3.org/2004/02/skos/core#"),
    ("webac", "http://www.w3.org/ns/auth/acl#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];
