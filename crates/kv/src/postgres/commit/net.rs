//! What a batch makes of each key.
//!
//! Invariant: a key is there once, so that a statement can write all keys at once, in any order.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::Write;

/// The net effect of a batch on a key, as far as it is known without reading.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Net {
    Put(Bytes),
    Delete,
    Add(i64),
}

impl Net {
    /// What an addition makes of an earlier effect of the same batch.
    fn add(self, delta: i64) -> Self {
        let known = match self {
            Self::Add(earlier) => return Self::Add(earlier.wrapping_add(delta)),
            Self::Put(value) => Some(value),
            Self::Delete => None,
        };
        Write::sum(known.as_ref(), delta).map_or(Self::Delete, Self::Put)
    }
}

/// Each key written with its net effect; appends are not among them.
pub(super) type NetWrites<'a> = BTreeMap<&'a Bytes, Net>;

/// What `writes` do in the order given.
pub(super) fn fold(writes: &[Write]) -> NetWrites<'_> {
    let mut net = BTreeMap::new();
    for write in writes {
        match write {
            Write::Put(key, value) => net.insert(key, Net::Put(value.clone())),
            Write::Delete(key) => net.insert(key, Net::Delete),
            Write::Add(key, delta) => {
                let earlier = net.remove(key).unwrap_or(Net::Add(0));
                net.insert(key, earlier.add(*delta))
            }
            Write::Append(..) => None,
        };
    }
    net
}
