//! Moves over the edge of a collection with a quota.
//!
//! Invariant: how much a tree holds is part of the commit that moves it. A tree is marked first, so that changes below it are counted;
//! then it is counted on a snapshot; then it is moved in one commit that depends on what was counted since. A tree that stays within its
//! quotas is not counted.

use std::collections::BTreeSet;
use std::time::Duration;

use super::above::{Count, Lies, above, forget, in_use, unmark};
use super::count::{below, held, itself};
use super::{Delta, settle};
use crate::catalog::{JobRecord, Reads, Transaction, keys};
use crate::model::{Counting, Resource, ResourceId, Time};
use crate::resources::{has_children, rewrite_record};
use crate::{Error, ErrorKind, Result, Store};

/// A mark is forgotten after this time, if nothing was moved.
const FORGOTTEN: Duration = Duration::from_secs(600);

/// How often a tree is counted again that others change so that it cannot be moved.
const ATTEMPTS: usize = 8;

/// A tree that was counted to be moved.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mark {
    /// The counters of what changed since it was marked.
    count: u64,
    /// What was there when it was marked, its top not counted.
    before: Delta,
}

/// What became of a move.
pub(crate) enum Crossing<T> {
    Done(T),
    /// Nothing was written: how much this tree holds has to be known first.
    CountFirst(ResourceId),
}

impl Store {
    /// Runs a change that may move a tree into or out of a quota. It gets the counts.
    pub(crate) fn transact_move<T>(
        &self,
        mut change: impl FnMut(&mut Transaction, Option<&Mark>) -> Result<Crossing<T>>,
    ) -> Result<T> {
        let mut mark = None;
        for _ in 0..ATTEMPTS {
            match self.transact(|tx| change(tx, mark.as_ref()))? {
                Crossing::Done(done) => return Ok(done),
                // Changes by others below it before the set is committed would not be counted.
                Crossing::CountFirst(_) if self.is_within() => return Err(not_in_a_set()),
                Crossing::CountFirst(top) => mark = self.mark_tree(top)?,
            }
        }
        Err(Error::new(ErrorKind::Conflict, "the moved tree keeps changing")
            .with_hint("try again when nothing below it is being removed"))
    }

    /// Counts a tree before it is moved.
    fn mark_tree(&self, top: ResourceId) -> Result<Option<Mark>> {
        let fresh = self.new_id()?;
        let Some(count) = self.transact(|tx| set_mark(tx, top, fresh))? else { return Ok(None) };
        let view = self.view()?;
        let before = below(&view, top)? - held(&view, count)?;
        Ok(Some(Mark { count, before }))
    }

    /// Carries out the job of a mark; returns whether it has finished.
    pub(crate) fn forget_mark(&self, top: ResourceId, since: Time) -> Result<bool> {
        if since.plus(FORGOTTEN) > self.now() {
            return Ok(false);
        }
        self.transact(|tx| {
            tx.frees_space();
            let resource = tx.get::<Resource>(&keys::resource(top))?;
            let count = resource.and_then(|it| it.counting).and_then(|counting| counting.moving);
            count.map_or(Ok(()), |count| unmark(tx, top, count))
        })?;
        Ok(true)
    }
}

fn not_in_a_set() -> Error {
    Error::invalid("moving a tree into or out of a quota cannot be part of a change set")
        .with_hint("move it without the change set: it then takes effect at once")
}

/// Marks a tree, or returns its mark. None if it does not exist.
fn set_mark(tx: &mut Transaction, top: ResourceId, fresh: u64) -> Result<Option<u64>> {
    let Some(old) = tx.get::<Resource>(&keys::resource(top))? else { return Ok(None) };
    let counting = old.counting.clone().unwrap_or_default();
    if counting.moving.is_some() {
        return Ok(counting.moving);
    }
    let counting = Some(Counting { moving: Some(fresh), ..counting });
    rewrite_record(tx, top, &old, &Resource { counting, ..old.clone() });
    tx.put(keys::job(fresh), &JobRecord::Unmark(top, tx.now()));
    Ok(Some(fresh))
}

/// Charges a resource that is moved to a collection, with everything below it, to the quotas that apply there, and takes it from those
/// that it leaves. To be called before anything is written.
pub(crate) fn cross(
    tx: &mut Transaction,
    (id, resource): (ResourceId, &Resource),
    to: ResourceId,
    mark: Option<&Mark>,
) -> Result<Crossing<()>> {
    if !in_use(tx)? {
        return Ok(Crossing::Done(()));
    }
    let left: BTreeSet<Count> = above(tx, &Lies::of(resource))?.into_iter().collect();
    let entered: BTreeSet<Count> = above(tx, &Lies::In(to))?.into_iter().collect();
    if left == entered {
        return Ok(Crossing::Done(()));
    }
    let mut amount = itself(tx, id, resource)?;
    if has_children(tx, id)? {
        let moving = resource.counting.as_ref().and_then(|counting| counting.moving);
        let Some(mark) = mark.filter(|mark| moving == Some(mark.count)) else {
            return Ok(Crossing::CountFirst(id));
        };
        amount += mark.before;
        amount += held(tx, mark.count)?;
    }
    left.difference(&entered).for_each(|count| tx.tallies.charge(*count, -amount));
    entered.difference(&left).for_each(|count| tx.tallies.charge(*count, amount));
    settle(tx)?;
    Ok(Crossing::Done(()))
}

/// The record of a resource that was moved.
pub(crate) fn landed(tx: &mut Transaction, old: &Resource) -> Option<Counting> {
    let counting = old.counting.clone()?;
    if let Some(count) = counting.moving {
        forget(tx, count);
    }
    Counting { removed_from: Vec::new(), moving: None, ..counting }.or_none()
}

/// Deletes the counts of a deleted resource.
pub(crate) fn erase(tx: &mut Transaction, id: ResourceId, resource: &Resource) {
    let Some(counting) = &resource.counting else { return };
    if let Some(count) = counting.quota {
        tx.delete(keys::quota(id.0));
        forget(tx, count);
    }
    if let Some(count) = counting.moving {
        forget(tx, count);
    }
}
