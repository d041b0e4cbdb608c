//! The terms of the context of RO-Crate: those of schema.org, and a table of the others that are common.

use serde_json::{Map, Value, json};

const SCHEMA: &str = "http://schema.org/";
/// The context that crates name.
pub(super) const CONTEXT: &str = "https://w3id.org/ro/crate/1.2/context";
/// The version that crates conform to.
pub(super) const PROFILE: &str = "https://w3id.org/ro/crate/1.2";
const CONTEXTS: &str = "https://w3id.org/ro/crate/";

/// Terms that are not those of schema.org with the same name.
const OTHERS: [(&str, &str); 24] = [
    ("ComputationalWorkflow", "https://bioschemas.org/ComputationalWorkflow"),
    ("File", "http://schema.org/MediaObject"),
    ("FormalParameter", "https://bioschemas.org/FormalParameter"),
    ("Journal", "http://schema.org/Periodical"),
    ("Profile", "http://www.w3.org/ns/dx/prof/Profile"),
    ("RepositoryCollection", "http://pcdm.org/models#Collection"),
    ("RepositoryObject", "http://pcdm.org/models#Object"),
    ("ResourceDescriptor", "http://www.w3.org/ns/dx/prof/ResourceDescriptor"),
    ("ResourceRole", "http://www.w3.org/ns/dx/prof/ResourceRole"),
    ("Standard", "http://purl.org/dc/terms/Standard"),
    ("cite-as", "https://www.w3.org/ns/iana/link-relations/relation#cite-as"),
    ("conformsTo", "http://purl.org/dc/terms/conformsTo"),
    ("hasArtifact", "http://www.w3.org/ns/dx/prof/hasArtifact"),
    ("hasFile", "http://pcdm.org/models#hasFile"),
    ("hasMember", "http://pcdm.org/models#hasMember"),
    ("hasResource", "http://www.w3.org/ns/dx/prof/hasResource"),
    ("hasRole", "http://www.w3.org/ns/dx/prof/hasRole"),
    ("importedBy", "http://purl.org/pav/importedBy"),
    ("importedFrom", "http://purl.org/pav/importedFrom"),
    ("importedOn", "http://purl.org/pav/importedOn"),
    ("input", "https://bioschemas.org/ComputationalWorkflow#input"),
    ("output", "https://bioschemas.org/ComputationalWorkflow#output"),
    ("path", "http://schema.org/contentUrl"),
    ("wasDerivedFrom", "http://www.w3.org/ns/prov#wasDerivedFrom"),
];

/// The IRI of a term of schema.org.
pub(super) fn schema(term: &str) -> String {
    format!("{SCHEMA}{term}")
}

/// An IRI as crates write it: a term, if it has one.
pub(super) fn term(iri: &str) -> &str {
    if let Some((term, _)) = OTHERS.iter().find(|(_, known)| *known == iri) {
        return term;
    }
    let of_schema = iri.strip_prefix(SCHEMA).filter(|term| {
        let is_word = !term.is_empty() && term.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_word && OTHERS.iter().all(|(other, _)| other != term)
    });
    of_schema.unwrap_or(iri)
}

/// The terms as a context that is read without fetching anything.
fn local() -> Value {
    let terms = OTHERS.iter().map(|(term, iri)| ((*term).to_owned(), json!(iri)));
    let mut context: Map<String, Value> = terms.collect();
    context.insert("@vocab".to_owned(), json!(SCHEMA));
    Value::Object(context)
}

/// A context of a crate with the terms in the place of their address; the first other address that it names.
pub(super) fn resolved(context: &Value) -> Result<Value, String> {
    let parts = match context {
        Value::Array(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    let mut resolved = vec![local()];
    for part in parts {
        match part {
            Value::String(address) if address.starts_with(CONTEXTS) => {}
            Value::String(address) => return Err(address.clone()),
            part => resolved.push(part.clone()),
        }
    }
    Ok(Value::Array(resolved))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_short_and_other_iris_are_complete() {
        for (iri, short) in [
            ("http://schema.org/name", "name"),
            ("http://schema.org/MediaObject", "File"),
            ("http://purl.org/dc/terms/conformsTo", "conformsTo"),
            ("http://schema.org/path", "http://schema.org/path"),
            ("http://schema.org/a/b", "http://schema.org/a/b"),
            ("http://purl.org/dc/terms/title", "http://purl.org/dc/terms/title"),
        ] {
            assert_eq!(term(iri), short);
        }
    }

    #[test]
    fn other_contexts_are_not_fetched() {
        let own = json!({ "x": "urn:x" });
        assert!(resolved(&json!([CONTEXT, own])).unwrap().as_array().unwrap().contains(&own));
        let other = "http://example.org/context";
        assert_eq!(resolved(&json!([CONTEXT, other])).unwrap_err(), other);
    }
}
