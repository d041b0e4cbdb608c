//! The graph as it is stored: one value, and index entries of hashes.

use std::collections::BTreeSet;

use bytes::Bytes;
use xxhash_rust::xxh3::xxh3_64;

use super::vocabulary::predicates_of;
use crate::catalog::{ChangeKind, GraphRecord, Reads, Transaction, keys};
use crate::model::{At, Graph, Level, Stat, Statement};
use crate::tree::{describe, find, update};
use crate::{Caller, Conditions, Error, ErrorKind, Result, Store};

/// The largest description, in statements.
const MAX_STATEMENTS: usize = 100_000;
/// The largest term, in bytes.
const MAX_TERM: usize = 1 << 20;

impl Store {
    /// The description of a resource. Needs [`Level::ReadMetadata`].
    pub fn graph(&self, caller: &Caller, at: &At) -> Result<(Stat, Graph)> {
        let view = self.view()?;
        let chain = find(&view, caller, at, Level::ReadMetadata)?;
        let graph = read(&view, chain.id().0)?;
        Ok((chain.into(), graph))
    }

    /// Changes the description by a function of what it is. Needs [`Level::CreateMetadata`] to add,
    /// [`Level::ModifyMetadata`] to do both, [`Level::DeleteMetadata`] only to remove.
    pub fn change_graph(
        &self,
        caller: &Caller,
        at: &At,
        conditions: &Conditions,
        change: impl Fn(&Graph) -> Result<Graph>,
    ) -> Result<Stat> {
        self.transact(|tx| {
            let chain = find(tx, caller, at, Level::ReadMetadata)?;
            conditions.check(Some(&chain))?;
            let old = read(tx, chain.id().0)?;
            let new = change(&old)?;
            check(&new)?;
            chain.require(caller, needed(&old, &new), at)?;
            let mut stat = Stat::from(chain.clone());
            if old != new {
                replace(tx, stat.id.0, &old, &new);
                describe(tx, &mut stat.resource, caller.user());
                update(tx, ChangeKind::Described, stat.id, chain.resource(), &stat.resource);
            }
            Ok(stat)
        })
    }
}

/// What a change of a description needs.
pub(super) fn needed(old: &Graph, new: &Graph) -> Level {
    match (new.is_subset(old), old.is_subset(new)) {
        (true, true) => Level::ReadMetadata,
        (true, false) => Level::DeleteMetadata,
        (false, true) => Level::CreateMetadata,
        (false, false) => Level::ModifyMetadata,
    }
}

fn check(graph: &Graph) -> Result<()> {
    let too_large =
        |what: &str| Error::new(ErrorKind::TooLarge, format!("a description is too large: {what}"));
    if graph.len() > MAX_STATEMENTS {
        return Err(too_large("more than 100,000 statements"));
    }
    if graph.iter().any(|statement| statement.predicate.is_empty()) {
        return Err(Error::invalid("a statement needs a predicate"));
    }
    let long = |s: &Statement| s.predicate.len().max(s.object.text().len()) > MAX_TERM;
    match graph.iter().any(long) {
        true => Err(too_large("a term of more than 1 MiB")),
        false => Ok(()),
    }
}

/// The description of the resource or person with this id.
pub(crate) fn read(reads: &impl Reads, id: u64) -> Result<Graph> {
    let record = reads.get::<GraphRecord>(&keys::graph(id))?.unwrap_or_default();
    Ok(record.statements.into_iter().collect())
}

/// Replaces one description by another, index and all.
pub(crate) fn replace(tx: &mut Transaction, id: u64, old: &Graph, new: &Graph) {
    let (before, after) = (entries(id, old), entries(id, new));
    before.difference(&after).for_each(|key| tx.delete(key.clone()));
    after.difference(&before).for_each(|key| tx.mark(key.clone()));
    match new.is_empty() {
        true => tx.delete(keys::graph(id)),
        false => {
            tx.put(keys::graph(id), &GraphRecord { statements: new.iter().cloned().collect() })
        }
    }
}

/// Deletes the description of what goes.
pub(crate) fn erase(tx: &mut Transaction, id: u64) -> Result<()> {
    let old = read(tx, id)?;
    if !old.is_empty() {
        replace(tx, id, &old, &Graph::new());
    }
    Ok(())
}

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

/// The hash by which the index knows a text. Two texts may share one: a match is verified in the graph.
pub(super) fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}
