//! The predicates and types that a server manages, and so nobody else may state.
//!
//! Source: LDP 1.0, the Fedora API specification (2018-11-22), and what fcrepo 6 and LAKEsuperior emit.

const LDP: &str = "http://www.w3.org/ns/ldp#";

/// By namespace.
const PREDICATES: [(&str, &[&str]); 5] = [
    ("http://fedora.info/definitions/fcrepo#", FEDORA),
    ("http://fedora.info/definitions/v4/repository#", FEDORA),
    (LDP, &["contains"]),
    ("http://www.loc.gov/premis/rdf/v1#", &["hasMessageDigest", "hasSize"]),
    ("http://www.iana.org/assignments/relation/", &["describedBy", "describedby"]),
];

const FEDORA: &[&str] = &[
    "created",
    "createdBy",
    "hasFixityService",
    "hasParent",
    "hasVersion",
    "hasVersionLabel",
    "hasVersions",
    "lastModified",
    "lastModifiedBy",
    "proxyFor",
    "redirectsTo",
    "writable",
];

/// The types that the server manages, by namespace.
const TYPES: [(&str, &[&str]); 3] = [
    ("http://fedora.info/definitions/fcrepo#", FEDORA_TYPES),
    ("http://fedora.info/definitions/v4/repository#", FEDORA_TYPES),
    (
        LDP,
        &[
            "BasicContainer",
            "Container",
            "DirectContainer",
            "IndirectContainer",
            "NonRDFSource",
            "RDFSource",
            "Resource",
        ],
    ),
];

const FEDORA_TYPES: &[&str] =
    &["Binary", "Container", "Pairtree", "Resource", "Version", "RepositoryRoot"];

/// What decides what a resource is, or who may do what with it: no container states these of its members.
const DECISIVE: [(&str, &[&str]); 4] = [
    ("http://www.w3.org/1999/02/22-rdf-syntax-ns#", &["type"]),
    ("http://www.w3.org/ns/auth/acl#", &["accessControl"]),
    ("http://www.ebu.ch/metadata/ontologies/ebucore/ebucore#", &["hasMimeType", "filename"]),
    (
        LDP,
        &[
            "hasMemberRelation",
            "insertedContentRelation",
            "isMemberOfRelation",
            "membershipResource",
        ],
    ),
];

/// Whether the server manages a predicate.
pub fn is_managed_predicate(predicate: &str) -> bool {
    is_among(&PREDICATES, predicate)
}

/// Whether a direct or indirect container may state a predicate of its members, or of the resource that has them.
pub fn may_be_membership(predicate: &str) -> bool {
    !is_managed_predicate(predicate) && !is_among(&DECISIVE, predicate)
}

/// Whether the server manages a type.
pub fn is_managed_type(class: &str) -> bool {
    is_among(&TYPES, class)
}

/// The managed predicates and types, as IRIs.
pub fn managed_terms() -> (Vec<String>, Vec<String>) {
    (iris(&PREDICATES), iris(&TYPES))
}

fn iris(table: &[(&str, &[&str])]) -> Vec<String> {
    let whole = |(namespace, names): &(&str, &[&str])| -> Vec<String> {
        names.iter().map(|name| format!("{namespace}{name}")).collect()
    };
    table.iter().flat_map(whole).collect()
}

fn is_among(table: &[(&str, &[&str])], iri: &str) -> bool {
    let named = |(namespace, names): &(&str, &[&str])| {
        iri.strip_prefix(namespace).is_some_and(|name| names.contains(&name))
    };
    table.iter().any(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_server_manages_or_decides_by_is_no_membership() {
        for managed in managed_terms().0 {
            assert!(is_managed_predicate(&managed) && !may_be_membership(&managed), "{managed}");
        }
        for decisive in ["type", "membershipResource", "accessControl"] {
            let table = DECISIVE.iter().find(|(_, names)| names.contains(&decisive)).unwrap();
            let iri = format!("{}{decisive}", table.0);
            assert!(!is_managed_predicate(&iri) && !may_be_membership(&iri), "{iri}");
        }
        for free in ["http://www.w3.org/ns/ldp#member", "http://pcdm.org/models#hasMember", "urn:x"]
        {
            assert!(may_be_membership(free), "{free}");
        }
    }
}
