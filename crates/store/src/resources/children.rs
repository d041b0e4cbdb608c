//! The entries of a collection.

use cenote_kv::KeyRange;

use crate::Result;
use crate::catalog::{Child, Reads, Record, Transaction, View, keys};
use crate::model::{Name, ResourceId};

/// A name and what has it.
type Entry = (Name, Child);

/// Where [`children`] reads, and how many rows.
pub(crate) fn part(
    collection: ResourceId,
    after: Option<&Name>,
    limit: usize,
) -> (KeyRange, usize) {
    let range = keys::children(collection);
    let range = match after {
        Some(after) => range.after(&keys::child(collection, after.as_str())),
        None => range,
    };
    (range, limit + 1)
}

/// Names and ids of up to `limit` children, and the name after which more follow.
pub(crate) fn children(
    view: &View,
    collection: ResourceId,
    after: Option<&Name>,
    limit: usize,
) -> Result<(Vec<Entry>, Option<Name>)> {
    let (range, most) = part(collection, after, limit);
    let rows = view.rows(&range, most)?;
    let more = rows.len() > limit;
    let children: Vec<(Name, Child)> = rows
        .iter()
        .take(limit)
        .map(|(key, value)| Ok((Name::trusted(keys::child_name(key)), Child::from_value(value)?)))
        .collect::<Result<_>>()?;
    let next = if more { children.last().map(|(name, _)| name.clone()) } else { None };
    Ok((children, next))
}

/// How many entries are read at a time after those of which the caller may see none.
const STEP: usize = 1_000;

/// The first of many entries that the caller may see, at most `limit`, and whether more may follow. `read` returns those among so many
/// entries after one, and the last entry that it read if there are more. It is called until there is something to show: a page never ends at
/// a hidden entry, since it would reveal the name.
pub(crate) fn first_seen<T, After>(
    mut after: After,
    limit: usize,
    read: impl Fn(&After, usize) -> Result<(Vec<T>, Option<After>)>,
) -> Result<(Vec<T>, bool)> {
    let mut step = limit;
    loop {
        let (mut seen, next) = read(&after, step)?;
        match next {
            Some(next) if seen.is_empty() => (after, step) = (next, STEP),
            next => {
                let more = next.is_some() || seen.len() > limit;
                seen.truncate(limit);
                return Ok((seen, more));
            }
        }
    }
}

pub(crate) fn has_children(tx: &Transaction, id: ResourceId) -> Result<bool> {
    Ok(!tx.rows(&keys::children(id), 1)?.is_empty())
}
