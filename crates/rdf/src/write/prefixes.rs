//! The prefixes of Turtle and the syntaxes like it.

use oxrdf::{Term, Triple};

/// A prefix and its namespace.
pub(super) type Prefix = (&'static str, &'static str);

/// In the order in which they are declared.
const PREFIXES: [Prefix; 14] = [
    ("acl", "http://www.w3.org/ns/auth/acl#"),
    ("dc", "http://purl.org/dc/elements/1.1/"),
    ("dcterms", "http://purl.org/dc/terms/"),
    ("ebucore", "http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#"),
    ("fcrepo", "http://fedora.info/definitions/fcrepo#"),
    ("fedora", "http://fedora.info/definitions/v4/repository#"),
    ("foaf", "http://xmlns.com/foaf/0.1/"),
    ("ldp", "http://www.w3.org/ns/ldp#"),
    ("memento", "http://mementoweb.org/ns#"),
    ("pcdm", "http://pcdm.org/models#"),
    ("premis", "http://www.loc.gov/premis/rdf/v1#"),
    ("rdf", "http://www.w3.org/1999/02/22-rdf-syntax-ns#"),
    ("rdfs", "http://www.w3.org/2000/01/rdf-schema#"),
    ("xsd", "http://www.w3.org/2001/XMLSchema#"),
];

/// Those in whose namespaces triples have terms.
pub(super) fn used(triples: &[Triple]) -> Vec<Prefix> {
    let mut found = [false; PREFIXES.len()];
    for triple in triples {
        let object = match &triple.object {
            Term::NamedNode(node) => node.as_str(),
            Term::Literal(literal) => literal.datatype().as_str(),
            Term::BlankNode(_) => "",
        };
        for place in [triple.predicate.as_str(), object].into_iter().filter_map(place) {
            found[place] = true;
        }
    }
    PREFIXES.into_iter().zip(found).filter_map(|(prefix, found)| found.then_some(prefix)).collect()
}

/// Where the local name of an IRI begins, if it may have one.
pub(super) fn local_name(iri: &str) -> Option<usize> {
    iri.bytes().rposition(|byte| matches!(byte, b'#' | b'/')).map(|end| end + 1)
}

fn place(iri: &str) -> Option<usize> {
    // Comparing with what precedes the local name decides by the length nearly always.
    let before = &iri[..local_name(iri)?];
    PREFIXES.iter().position(|(_, namespace)| *namespace == before)
}
