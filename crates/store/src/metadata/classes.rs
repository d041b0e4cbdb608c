//! The classes that a resource is described to have.
//!
//! A class is the object of `rdf:type`, as IRI or as text, in a statement about the resource itself: openings whose attributes are texts can
//! state it, too. What names a resource of the store is none, since it is kept in another form than it is shown in.

use cenote_kv::KeyRange;

use super::index::{hash, predicate_keys};
use super::links::names_resource;
use super::vocabulary::is_iri;
use crate::Result;
use crate::catalog::{GraphRecord, Reads, Record, keys};
use crate::model::{Classes, Statement, Term};

const RDF_TYPE: &str = "http://www.w3.org/1999/02/22-rdf-syntax-ns#type";
/// The longest IRI of a class in an access list, in bytes.
const MAX_CLASS: usize = 2_048;

/// Whether an access list can name this class: an absolute IRI that names no resource of the store, of at most 2,048 bytes.
pub fn is_class(iri: &str) -> bool {
    iri.len() <= MAX_CLASS && is_iri(iri) && !names_resource(iri)
}

/// Those that are stated in a description, or in the part of it that is about `rdf:type`.
pub(crate) fn classes_in<'a>(statements: impl IntoIterator<Item = &'a Statement>) -> Classes {
    statements.into_iter().filter_map(class).collect()
}

fn class(statement: &Statement) -> Option<&str> {
    let is_stated = statement.subject.is_none() && statement.predicate == RDF_TYPE;
    match &statement.object {
        Term::Iri(text) | Term::Literal { value: text, .. } if is_stated => {
            Some(text.as_str()).filter(|text| is_class(text))
        }
        _ => None,
    }
}

/// Where the index has the ids of all resources with a class, once for each statement.
pub(crate) fn classified() -> KeyRange {
    let [own, _] = predicate_keys(RDF_TYPE);
    keys::statements(own)
}

/// Those of the resource with this id. Of a description that is spread only the rows about `rdf:type` are read.
pub(crate) fn classes(reads: &impl Reads, id: u64) -> Result<Classes> {
    let record = reads.get::<GraphRecord>(&keys::graph(id))?.unwrap_or_default();
    if record.spread.is_none() {
        return Ok(classes_in(&record.statements));
    }
    let mut found = Vec::new();
    for (_, value) in reads.rows(&keys::quads_of(id, 0, hash(RDF_TYPE), None), usize::MAX)? {
        found.extend(GraphRecord::from_value(&value)?.statements);
    }
    Ok(classes_in(&found))
}
