//! The index of statements: who states what, by hashes of both terms.
//!
//! Invariant: two texts may share a hash, so a match is verified in the graph.

use std::collections::BTreeSet;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::vocabulary::predicates_of;
use crate::Result;
use crate::catalog::{Reads, keys};
use crate::model::Graph;

/// The index entries of a description.
pub(crate) fn entries(id: u64, graph: &Graph) -> BTreeSet<Bytes> {
    let own = graph.iter().filter(|statement| statement.subject.is_none());
    own.map(|s| keys::statement(hash(&s.predicate), hash(s.object.text()), id)).collect()
}

/// Ids that the index has for an attribute, with a value if one is given; none, if there are more than
/// `limit`. Since it keeps hashes, a match is verified in the graph.
pub(crate) fn stating(
    reads: &impl Reads,
    attribute: &str,
    value: Option<&str>,
    limit: usize,
) -> Result<Option<BTreeSet<u64>>> {
    let mut ids = BTreeSet::new();
    let mut left = limit;
    for predicate in predicates_of(attribute) {
        let range = keys::statements(hash(&predicate), value.map(hash));
        let rows = reads.rows(&range, left.saturating_add(1))?;
        if rows.len() > left {
            return Ok(None);
        }
        left -= rows.len();
        ids.extend(rows.iter().filter_map(|(key, _)| keys::last_id(key)));
    }
    Ok(Some(ids))
}

/// How many attributes are looked through for a value.
const MOST_ATTRIBUTES: usize = 10_000;

/// The same for a value of whatever attribute; none, too, if there are very many attributes.
///
/// Cost: a seek for each attribute that is stated anywhere, and the matches.
pub(crate) fn stating_value(
    reads: &impl Reads,
    value: &str,
    limit: usize,
) -> Result<Option<BTreeSet<u64>>> {
    let (object, mut ids, mut after) = (hash(value), BTreeSet::new(), None);
    for _ in 0..MOST_ATTRIBUTES {
        let next = reads.rows(&keys::statements_after(after), 1)?;
        let predicate = next.first().and_then(|(key, _)| keys::first_id(key));
        let Some(predicate) = predicate else { return Ok(Some(ids)) };
        let left = (limit + 1).saturating_sub(ids.len());
        let rows = reads.rows(&keys::statements(predicate, Some(object)), left)?;
        ids.extend(rows.iter().filter_map(|(key, _)| keys::last_id(key)));
        if ids.len() > limit {
            return Ok(None);
        }
        after = Some(predicate);
    }
    Ok(None)
}

/// The hash by which the catalog knows a text.
pub(super) fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}
