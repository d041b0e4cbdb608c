//! The tag of a description: two descriptions are the same if their tags are.

use sha2::{Digest, Sha256};

use super::links::{Links, iris, names_resource};
use super::stored::whole;
use crate::catalog::{GraphRecord, View};
use crate::model::{Graph, ResourceId};
use crate::{Caller, Result};

/// The tag of a description, none of an empty one. It depends on the statements alone, including units
/// and the labels of blank nodes; not on whose description it is, nor on how it was created.
///
/// It is the SHA-256 of the statements in their canonical order as CBOR (RFC 8949); others than the
/// store should take it as opaque.
pub fn description_tag(graph: &Graph) -> Option<[u8; 32]> {
    let bytes = minicbor::to_vec(graph).expect("writing to a Vec cannot fail");
    (!graph.is_empty()).then(|| Sha256::digest(bytes).into())
}

/// A tag of the IRIs of resources that a description shows, as the caller sees it; none if it shows none. It changes when one of
/// these resources is moved, which does not change the description.
pub fn links_tag(graph: &Graph) -> Option<[u8; 8]> {
    let mut digest = None;
    let mut last = "";
    for iri in graph.iter().flat_map(iris) {
        // Many descriptions refer to one resource many times, and resolving an IRI is slower than comparing it.
        if iri != last && names_resource(iri) {
            digest.get_or_insert_with(Sha256::new).update(format!("{iri}\n"));
            last = iri;
        }
    }
    let digest: [u8; 32] = digest?.finalize().into();
    digest.first_chunk().copied()
}

/// The tags of the descriptions of many resources as the caller sees them, in the requested order.
pub(crate) fn tags(
    view: &View,
    caller: &Caller,
    ids: &[ResourceId],
) -> Result<Vec<Option<[u8; 32]>>> {
    let links = Links::new(view, caller);
    let tag = |(id, record): (&ResourceId, Option<GraphRecord>)| match record {
        Some(record) => Ok(description_tag(&links.shown(&whole(view, id.0, record)?)?.graph)),
        None => Ok(None),
    };
    ids.iter().zip(view.graphs(ids)?).map(tag).collect()
}
