//! What a batch saw at its keys, as one digest.
//!
//! Invariant: what is sent for a key does not depend on the size of its value. `cenote_apply` of `schema.sql` computes the same digest.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::{Evidence, RangeDigest};

/// The keys of all evidence, each once and in order, and the digest of the rows that were there; none without keys.
#[derive(Debug, Default)]
pub(super) struct SeenKeys<'a> {
    pub(super) keys: Vec<&'a [u8]>,
    pub(super) digest: Option<Vec<u8>>,
}

/// What no rows have as their digest.
const NEVER: Vec<u8> = Vec::new();

impl<'a> SeenKeys<'a> {
    pub(super) fn of(evidence: &'a [Evidence]) -> Self {
        let mut held: BTreeMap<&'a Bytes, &'a Option<Bytes>> = BTreeMap::new();
        let mut is_possible = true;
        for (key, value) in evidence.iter().flat_map(Evidence::keys) {
            is_possible &= *held.entry(key).or_insert(value) == value;
        }
        let keys = held.keys().copied().map(Bytes::as_ref).collect();
        let digest = match is_possible {
            _ if held.is_empty() => None,
            true => Some(digest(held)),
            false => Some(NEVER),
        };
        Self { keys, digest }
    }
}

fn digest(held: BTreeMap<&Bytes, &Option<Bytes>>) -> Vec<u8> {
    let rows = held.into_iter().filter_map(|(key, value)| Some(key).zip(value.as_ref()));
    RangeDigest::of_pairs(rows).0.to_vec()
}
