//! How a description is stored: a small one as one record, a large one spread over a row a statement, so
//! that a change of either costs what it changes.
//!
//! Invariant: [`replace`] is the only writer of the record, the rows and the index, and notes whose classes changed. The record of a spread
//! description has no statements, but says how many there are in the rows, and how large they are together. The key of a row is made of hashes
//! of the statement, so that what is stated with a predicate, or with a predicate and an object, lies together.

use std::collections::{BTreeSet, HashSet};

use bytes::Bytes;
use cenote_kv::KeyRange;

use super::classes::classes_in;
use super::index::{entries, entries_of, hash, sharing};
use super::links::SCHEME;
use super::vocabulary::predicates_of;
use crate::catalog::{
    GraphInPlace, GraphRecord, Part, PartialGraph, Reads, Record, Spread, Transaction, decoded,
    keys, value_of,
};
use crate::model::{Graph, Statement};
use crate::{AvuChange, Result};

/// A description of more bytes than this is spread.
const MOST_IN_ONE: u64 = 32 << 10;
/// One that was spread is gathered again when it has no more than this.
const GATHERED: u64 = 8 << 10;
/// Looking up so many statements costs as much as reading one in a scan.
const LOOKUP: u64 = 4;

/// A description, or a part of it that a change reads.
#[derive(Debug, Default)]
pub(crate) struct Stored {
    /// The statements that were read.
    pub(crate) graph: Graph,
    spread: Option<Spread>,
}

/// What replaces a description.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Redescribed<'a> {
    /// What was read of the description.
    pub(crate) old: &'a Graph,
    /// What takes its place.
    pub(crate) new: &'a Graph,
    /// Whether `old` is all of it, and small.
    pub(crate) is_small: bool,
}

impl Stored {
    /// The whole description of the resource, person or place with this id.
    pub(crate) fn read(reads: &impl Reads, id: u64) -> Result<Self> {
        let record = reads.get::<GraphRecord>(&keys::graph(id))?.unwrap_or_default();
        let spread = record.spread;
        Ok(Self { graph: whole(reads, id, record)?, spread })
    }

    /// At least as much of it as these changes read and change.
    pub(crate) fn touched(reads: &impl Reads, id: u64, changes: &[AvuChange]) -> Result<Self> {
        let record = reads.get::<GraphRecord>(&keys::graph(id))?.unwrap_or_default();
        let spread = record.spread;
        let few = spread.map_or(0, |spread| spread.statements / LOOKUP);
        if changes.len() as u64 >= few {
            return Ok(Self { graph: whole(reads, id, record)?, spread });
        }
        let mut graph = Graph::new();
        for (predicate, object) in touched(changes) {
            let rows = reads.rows(&keys::quads_of(id, 0, predicate, object), usize::MAX)?;
            for (_, value) in rows {
                graph.extend(GraphRecord::from_value(&value)?.statements);
            }
        }
        Ok(Self { graph, spread })
    }

    /// The change that replaces it by `new`.
    pub(crate) fn redescribed<'a>(&'a self, new: &'a Graph) -> Redescribed<'a> {
        Redescribed { old: &self.graph, new, is_small: self.spread.is_none() }
    }

    /// The number of statements that were not read.
    pub(super) fn others(&self) -> u64 {
        self.spread.map_or(0, |spread| spread.statements.saturating_sub(self.graph.len() as u64))
    }
}

/// The hashes of predicates, and of objects if these are all that matters, of what changes of attributes read.
fn touched(changes: &[AvuChange]) -> BTreeSet<(u64, Option<u64>)> {
    let of = |change: &AvuChange| {
        let object = change.value().map(hash);
        predicates_of(change.attribute()).into_iter().map(move |p| (hash(&p), object))
    };
    changes.iter().flat_map(of).collect()
}

/// The description of the resource, person or place with this id.
pub(crate) fn read(reads: &impl Reads, id: u64) -> Result<Graph> {
    Ok(Stored::read(reads, id)?.graph)
}

/// The same, in no particular order if it is spread.
pub(super) fn statements(reads: &impl Reads, id: u64) -> Result<Vec<Statement>> {
    let record = reads.get::<GraphRecord>(&keys::graph(id))?.unwrap_or_default();
    statements_of(reads, id, record)
}

/// The statements of a description that have a predicate, in no particular order; the others are not copied.
///
/// Cost: a read of the record, and of a spread description the rows of these statements, and those about anything but the resource itself.
pub(crate) fn with_predicate(
    reads: &impl Reads,
    id: u64,
    predicate: &str,
) -> Result<Vec<Statement>> {
    let own = keys::quads_of(id, 0, hash(predicate), None);
    let part = Part { predicates: &[predicate], naming: None };
    part_of(reads, id, part, &[own, keys::quads_of_others(id)])
}

/// The same of those that have one of some predicates, or name a resource of the store.
///
/// Cost: a read of the record, and of a spread description all rows.
pub(super) fn abridged(reads: &impl Reads, id: u64, predicates: &[&str]) -> Result<Vec<Statement>> {
    let part = Part { predicates, naming: Some(SCHEME) };
    part_of(reads, id, part, &[keys::quads(id)])
}

/// A part of a description, which is in some ranges if that is spread.
fn part_of(
    reads: &impl Reads,
    id: u64,
    mut part: Part<'_>,
    ranges: &[KeyRange],
) -> Result<Vec<Statement>> {
    let Some(value) = reads.value(&keys::graph(id))? else { return Ok(Vec::new()) };
    let PartialGraph { mut statements, is_spread } = decoded(&value, &mut part)?;
    for range in ranges.iter().filter(|_| is_spread) {
        for (_, value) in reads.rows(range, usize::MAX)? {
            statements.extend(decoded::<_, PartialGraph>(&value, &mut part)?.statements);
        }
    }
    Ok(statements)
}

/// The description that has this record.
pub(crate) fn whole(reads: &impl Reads, id: u64, record: GraphRecord) -> Result<Graph> {
    Ok(statements_of(reads, id, record)?.into_iter().collect())
}

fn statements_of(reads: &impl Reads, id: u64, record: GraphRecord) -> Result<Vec<Statement>> {
    if record.spread.is_none() {
        return Ok(record.statements);
    }
    let mut statements = Vec::new();
    for (_, value) in reads.rows(&keys::quads(id), usize::MAX)? {
        statements.extend(GraphRecord::from_value(&value)?.statements);
    }
    Ok(statements)
}

/// Replaces what was read of a description by another, index and all.
pub(crate) fn replace(tx: &mut Transaction, id: u64, old: &Stored, new: &Graph) -> Result<()> {
    let classes = classes_in(new);
    if classes_in(&old.graph) != classes {
        tx.reclassified.insert(id, Some(classes).filter(|_| old.others() == 0));
    }
    index(tx, id, old, new)?;
    match old.spread {
        None if size(new.iter()) > MOST_IN_ONE => {
            update_rows(tx, id, &Graph::new(), new)?;
            put(tx, id, &Graph::new(), Some(Spread::default().updated(&Graph::new(), new)));
        }
        None => put(tx, id, new, None),
        Some(spread) => {
            update_rows(tx, id, &old.graph, new)?;
            let spread = spread.updated(&old.graph, new);
            match spread.bytes > GATHERED {
                true => put(tx, id, &Graph::new(), Some(spread)),
                false => gather(tx, id)?,
            }
        }
    }
    Ok(())
}

/// Replaces what was read of a description in the index.
fn index(tx: &mut Transaction, id: u64, old: &Stored, new: &Graph) -> Result<()> {
    if old.graph.is_empty() {
        new.iter().flat_map(|statement| entries_of(id, statement)).for_each(|key| tx.mark(key));
        return Ok(());
    }
    let (before, after) = (entries(id, &old.graph), entries(id, new));
    let shared = shared(tx, id, old, new)?;
    let gone = before.difference(&after).filter(|key| !shared.contains(*key));
    gone.for_each(|key| tx.delete(key.clone()));
    after.into_iter().filter(|key| !before.contains(key)).for_each(|key| tx.mark(key));
    Ok(())
}

/// Entries of the index that statements have which were not read: all of those that go with one, and maybe others.
///
/// Cost: nothing if all was read; else a scan of the statements with the predicate of a number or moment that goes, and of the whole
/// description if an IRI does.
fn shared(tx: &Transaction, id: u64, old: &Stored, new: &Graph) -> Result<BTreeSet<Bytes>> {
    if old.others() == 0 {
        return Ok(BTreeSet::new());
    }
    let ranges: HashSet<_> =
        old.graph.difference(new).filter_map(|gone| sharing(id, gone)).collect();
    let mut shared = BTreeSet::new();
    for range in ranges {
        for (_, value) in tx.rows(&range, usize::MAX)? {
            let row = GraphRecord::from_value(&value)?.statements;
            let others = row.iter().filter(|statement| !old.graph.contains(*statement));
            shared.extend(others.flat_map(|statement| entries_of(id, statement)));
        }
    }
    Ok(shared)
}

/// Deletes the description of a resource that is deleted.
pub(crate) fn erase(tx: &mut Transaction, id: u64) -> Result<()> {
    let old = Stored::read(tx, id)?;
    if !old.graph.is_empty() {
        replace(tx, id, &old, &Graph::new())?;
    }
    Ok(())
}

fn put(tx: &mut Transaction, id: u64, statements: &Graph, spread: Option<Spread>) {
    match statements.is_empty() && spread.is_none() {
        true => tx.delete(keys::graph(id)),
        false => tx.put_raw(keys::graph(id), value_of(&GraphInPlace { statements, spread })),
    }
}

/// Makes one record of a description that was spread.
fn gather(tx: &mut Transaction, id: u64) -> Result<()> {
    let mut all = Graph::new();
    for (key, value) in tx.rows(&keys::quads(id), usize::MAX)? {
        all.extend(GraphRecord::from_value(&value)?.statements);
        tx.delete(key);
    }
    put(tx, id, &all, None);
    Ok(())
}

fn update_rows(tx: &mut Transaction, id: u64, old: &Graph, new: &Graph) -> Result<()> {
    for gone in old.difference(new) {
        change_row(tx, id, gone, |row| row.remove(gone))?;
    }
    for come in new.difference(old) {
        change_row(tx, id, come, |row| row.insert(come.clone()))?;
    }
    Ok(())
}

/// Changes the row in which a statement is, or would be; hardly ever are there others in it.
fn change_row(
    tx: &mut Transaction,
    id: u64,
    statement: &Statement,
    change: impl FnOnce(&mut Graph) -> bool,
) -> Result<()> {
    let key = row_of(id, statement);
    let row = tx.get::<GraphRecord>(&key)?.unwrap_or_default();
    let mut row: Graph = row.statements.into_iter().collect();
    change(&mut row);
    match row.is_empty() {
        true => tx.delete(key),
        false => tx.put(key, &GraphRecord { statements: row.into_iter().collect(), spread: None }),
    }
    Ok(())
}

/// The key of the row in which a statement of a spread description is.
pub(crate) fn row_of(id: u64, statement: &Statement) -> Bytes {
    let subject = statement.subject.as_deref().map_or(0, |subject| hash(subject).max(1));
    let (predicate, object) = (hash(&statement.predicate), hash(statement.object.text()));
    keys::quad(id, [subject, predicate, object, whole_hash(statement)])
}

fn whole_hash(statement: &Statement) -> u64 {
    let bytes = minicbor::to_vec(statement).expect("writing to a Vec cannot fail");
    xxhash_rust::xxh3::xxh3_64(&bytes)
}

fn size<'a>(statements: impl Iterator<Item = &'a Statement>) -> u64 {
    statements.map(|statement| minicbor::len(statement) as u64).sum()
}

impl Spread {
    /// What the rows of a description have together.
    pub(crate) fn of(graph: &Graph) -> Self {
        Self { statements: graph.len() as u64, bytes: size(graph.iter()) }
    }

    /// The same after some of them were replaced by others.
    fn updated(self, old: &Graph, new: &Graph) -> Self {
        let (old, new) = (Self::of(old), Self::of(new));
        Self {
            statements: (self.statements + new.statements).saturating_sub(old.statements),
            bytes: (self.bytes + new.bytes).saturating_sub(old.bytes),
        }
    }
}
