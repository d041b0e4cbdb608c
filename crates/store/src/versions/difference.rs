//! How the description of a version is kept: whole, or as its difference to that of the next version, so that a change of a
//! large description costs what it changes.
//!
//! Invariant: a difference leads from the description of the next version that is kept, or from the current one if
//! there is none, to that of the version. The resource names its newest version if that has a difference
//! ([`Resource::compared_version`](crate::model::Resource::compared_version)): whatever changes the description extends it.

use crate::catalog::{DifferenceRecord, Reads, Record, Transaction, VersionRecord, keys};
use crate::model::{Graph, ResourceId, Statement};
use crate::{Error, Result, metadata};

/// About this many bytes of statements are in a row.
const PART: u64 = 256 << 10;
/// So many rows are read at a time.
const PAGE: usize = 64;

/// What leads from one description to another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Difference {
    /// Additional changes of the other one.
    pub(crate) has: Graph,
    /// What the other one has not.
    pub(crate) lacks: Graph,
}

impl Difference {
    /// What leads from `from` to `to`. Both may be parts of descriptions that are the same otherwise.
    pub(crate) fn between(from: &Graph, to: &Graph) -> Self {
        let without = |one: &Graph, other: &Graph| one.difference(other).cloned().collect();
        Self { has: without(to, from), lacks: without(from, to) }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.has.is_empty() && self.lacks.is_empty()
    }

    /// The description that it leads to from this one.
    fn apply(&self, mut graph: Graph) -> Graph {
        graph.retain(|statement| !self.lacks.contains(statement));
        graph.extend(self.has.iter().cloned());
        graph
    }

    /// What leads where `next` leads to after this.
    pub(super) fn then(&self, next: &Self) -> Self {
        let merged = |mine: &Graph, undone: &Graph, further: &Graph, done: &Graph| {
            mine.difference(undone).chain(further.difference(done)).cloned().collect()
        };
        Self {
            has: merged(&self.has, &next.lacks, &next.has, &self.lacks),
            lacks: merged(&self.lacks, &next.has, &next.lacks, &self.has),
        }
    }
}

/// The description of a version, as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kept {
    Whole(Graph),
    Difference(Difference),
}

impl Kept {
    pub(super) fn read(
        reads: &impl Reads,
        id: ResourceId,
        version: u64,
        record: &VersionRecord,
    ) -> Result<Self> {
        if !record.is_apart {
            return Ok(Self::Whole(record.statements.iter().cloned().collect()));
        }
        let mut kept = Self::Difference(Difference::default());
        let rows = reads.rows(&keys::differences(id, version), usize::MAX)?;
        if rows.is_empty() {
            return Err(missing(id, version));
        }
        for (_, value) in rows {
            kept.add(DifferenceRecord::from_value(&value)?);
        }
        Ok(kept)
    }

    /// Adds what a row has.
    fn add(&mut self, row: DifferenceRecord) {
        match self {
            Self::Difference(difference) if row.is_whole => {
                *self = Self::Whole(std::mem::take(&mut difference.has));
                self.add(row);
            }
            Self::Difference(Difference { has, lacks }) => {
                has.extend(row.has);
                lacks.extend(row.lacks);
            }
            Self::Whole(graph) => graph.extend(row.has),
        }
    }

    /// The description that this leads to, then `next`.
    pub(super) fn then(&self, next: &Difference) -> Self {
        match self {
            Self::Whole(graph) => Self::Whole(next.apply(graph.clone())),
            Self::Difference(difference) => Self::Difference(difference.then(next)),
        }
    }

    /// Writes it, instead of what was kept of the version.
    pub(super) fn replace(&self, tx: &mut Transaction, id: ResourceId, version: u64) -> Result<()> {
        erase(tx, id, version)?;
        self.write(tx, id, version);
        Ok(())
    }

    pub(super) fn write(&self, tx: &mut Transaction, id: ResourceId, version: u64) {
        for (part, row) in self.rows().iter().enumerate() {
            tx.put(keys::difference(id, version, part as u32), row);
        }
    }

    /// At least one row, so that a lost one is missed.
    fn rows(&self) -> Vec<DifferenceRecord> {
        let whole = |has| DifferenceRecord { has, is_whole: true, ..DifferenceRecord::default() };
        match self {
            Self::Whole(graph) if graph.is_empty() => vec![whole(Vec::new())],
            Self::Whole(graph) => parts(graph).into_iter().map(whole).collect(),
            Self::Difference(difference) if difference.is_empty() => {
                vec![DifferenceRecord::default()]
            }
            Self::Difference(Difference { has, lacks }) => {
                let has = parts(has).into_iter();
                let lacks = parts(lacks).into_iter();
                has.map(|has| DifferenceRecord { has, ..DifferenceRecord::default() })
                    .chain(
                        lacks
                            .map(|lacks| DifferenceRecord { lacks, ..DifferenceRecord::default() }),
                    )
                    .collect()
            }
        }
    }
}

/// Statements in the parts that are in a row each.
fn parts(graph: &Graph) -> Vec<Vec<Statement>> {
    let (mut parts, mut size) = (Vec::<Vec<Statement>>::new(), PART);
    for statement in graph {
        if size >= PART {
            parts.push(Vec::new());
            size = 0;
        }
        size += minicbor::len(statement) as u64;
        parts.last_mut().expect("the first statement begins one").push(statement.clone());
    }
    parts
}

fn missing(id: ResourceId, version: u64) -> Error {
    Error::damaged(format!("the description of version {version} of {id} is missing"))
}

/// Deletes what was kept of the description of a version.
pub(super) fn erase(tx: &mut Transaction, id: ResourceId, version: u64) -> Result<()> {
    let rows = tx.rows(&keys::differences(id, version), usize::MAX)?;
    rows.into_iter().for_each(|(key, _)| tx.delete(key));
    Ok(())
}

/// The description of a version.
///
/// Cost: the differences from there to the next version that is kept whole, or to the current description.
pub(crate) fn description(
    reads: &impl Reads,
    id: ResourceId,
    version: u64,
    record: &VersionRecord,
) -> Result<Graph> {
    if !record.is_apart {
        return Ok(record.statements.iter().cloned().collect());
    }
    let mut way = Vec::new();
    let base = match walk(reads, id, version, &mut way)? {
        Some(whole) => whole,
        None => metadata::read(reads, id.0)?,
    };
    Ok(way.iter().rev().fold(base, |graph, difference| difference.apply(graph)))
}

/// Collects differences from a version on, up to a description that is whole, if there is one.
fn walk(
    reads: &impl Reads,
    id: ResourceId,
    version: u64,
    way: &mut Vec<Difference>,
) -> Result<Option<Graph>> {
    let mut range = keys::differences_from(id, version);
    let mut open: Option<(u64, Kept)> = None;
    let first = reads.rows(&range, 1)?.pop().map(|(key, _)| keys::difference_version(&key));
    if first != Some(version) {
        return Err(missing(id, version));
    }
    loop {
        let rows = reads.rows(&range, PAGE)?;
        let is_last = rows.len() < PAGE;
        for (key, value) in rows {
            let number = keys::difference_version(&key);
            if open.as_ref().is_some_and(|(version, _)| *version != number)
                && let Some(whole) = close(open.take(), way)
            {
                return Ok(Some(whole));
            }
            let start = || (number, Kept::Difference(Difference::default()));
            open.get_or_insert_with(start).1.add(DifferenceRecord::from_value(&value)?);
            range = range.after(&key);
        }
        if is_last {
            return Ok(close(open, way));
        }
    }
}

fn close(open: Option<(u64, Kept)>, way: &mut Vec<Difference>) -> Option<Graph> {
    match open?.1 {
        Kept::Whole(graph) => Some(graph),
        Kept::Difference(difference) => {
            way.push(difference);
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;
    use crate::model::Term;

    fn graph() -> impl Strategy<Value = Graph> {
        let statement = |n: u8| Statement {
            subject: None,
            predicate: format!("p{n}"),
            object: Term::string("x"),
            unit: None,
        };
        btree_set((0u8..6).prop_map(statement), 0..6)
    }

    proptest! {
        #[test]
        fn consecutive_differences_can_be_combined(graphs in vec(graph(), 2..6)) {
            let step = |pair: &[Graph]| Difference::between(&pair[0], &pair[1]);
            let all = graphs.windows(2).map(step).reduce(|all, next| all.then(&next)).unwrap();
            prop_assert_eq!(&all.apply(graphs[0].clone()), graphs.last().unwrap());
            prop_assert_eq!(all, Difference::between(&graphs[0], graphs.last().unwrap()));
            let whole = Kept::Whole(graphs[0].clone()).then(&step(&graphs[..2]));
            prop_assert_eq!(whole, Kept::Whole(graphs[1].clone()));
        }

        #[test]
        fn rows_round_trip(from in graph(), to in graph()) {
            for kept in [Kept::Whole(to.clone()), Kept::Difference(Difference::between(&from, &to))] {
                let mut read = Kept::Difference(Difference::default());
                kept.rows().into_iter().for_each(|row| read.add(row));
                prop_assert_eq!(read, kept);
            }
        }
    }
}
