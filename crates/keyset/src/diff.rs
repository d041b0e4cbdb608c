//! The differences between two key sets.

use std::cmp::Ordering;

use crate::key::KeyRef;
use crate::keyset::KeySet;

/// One difference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Change<'a> {
    /// Only the new set has the key.
    Added(KeyRef<'a>),
    /// Only the old set has the key.
    Removed(KeyRef<'a>),
    /// Value or metadata differ: the old and the new key.
    Modified(KeyRef<'a>, KeyRef<'a>),
}

/// The differences from `old` to `new`, in key order.
pub fn diff<'a>(old: &'a KeySet, new: &'a KeySet) -> impl Iterator<Item = Change<'a>> {
    let (mut old, mut new) = (old.iter().peekable(), new.iter().peekable());
    let mut next = move || {
        let order = match (old.peek(), new.peek()) {
            (Some(old), Some(new)) => old.name().cmp(&new.name()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        Some(match order {
            Ordering::Less => old.next().map(Change::Removed),
            Ordering::Greater => new.next().map(Change::Added),
            Ordering::Equal => {
                old.next().zip(new.next()).filter(|(old, new)| old != new).map(changed)
            }
        })
    };
    std::iter::from_fn(move || {
        loop {
            if let Some(change) = next()? {
                return Some(change);
            }
        }
    })
}

fn changed<'a>((old, new): (KeyRef<'a>, KeyRef<'a>)) -> Change<'a> {
    Change::Modified(old, new)
}
