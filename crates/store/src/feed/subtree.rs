//! The feed of a subtree.
//!
//! Invariant: a reader who knows the state of the subtree at a position, and applies all later changes of the feed, knows what it
//! contains now: what moves out is removed, and what moves in is to be read, with everything below it. If the top is gone, or out of
//! the caller's sight, there is no feed.

use std::collections::HashMap;

use super::seen_from;
use crate::access::{Act, Operation};
use crate::catalog::{ChangeRecord, View};
use crate::model::{At, ChangeKind, ResourceId};
use crate::resources::{find, locate};
use crate::{Caller, Result};

/// A subtree, as it is on one view.
pub(super) struct Subtree {
    top: ResourceId,
    /// The collections above it.
    above: Vec<ResourceId>,
    /// Collections of which it is known whether they are in it.
    known: HashMap<ResourceId, bool>,
}

impl Subtree {
    /// The subtree at `top`, if the caller sees it.
    pub(super) fn open(view: &View, caller: &Caller, top: ResourceId) -> Result<Self> {
        let chain = find(view, caller, &At::Id(top), Operation::Stat)?;
        let above = chain.links().map(|(id, _)| id).filter(|id| *id != top).collect();
        Ok(Self { top, above, known: HashMap::new() })
    }

    /// Whether a change moved it with a collection above it, so that other rights may be inherited there.
    pub(super) fn moves_with(&self, caller: &Caller, record: &ChangeRecord) -> bool {
        let is_move = record.kind == ChangeKind::Moved && !caller.may(Act::AllChanges);
        is_move && !stays(record) && self.above.contains(&record.id)
    }

    /// A change as far as it is one of this subtree.
    pub(super) fn part(
        &mut self,
        view: &View,
        mut record: ChangeRecord,
    ) -> Result<Option<ChangeRecord>> {
        if record.id == self.top {
            return Ok(Some(record));
        }
        let before = match record.from.take() {
            Some(from) if self.has(view, from.0)? => Some(from),
            _ => None,
        };
        let here = self.has(view, record.parent)?;
        Ok(seen_from(record, here, before))
    }

    fn has(&mut self, view: &View, collection: ResourceId) -> Result<bool> {
        if let Some(known) = self.known.get(&collection) {
            return Ok(*known);
        }
        let chain = locate(view, &At::Id(collection))?;
        let has = chain.is_some_and(|chain| chain.contains(self.top));
        self.known.insert(collection, has);
        Ok(has)
    }
}

/// Whether a moved resource is in the same collection as before.
fn stays(record: &ChangeRecord) -> bool {
    record.from.as_ref().is_some_and(|(parent, _)| *parent == record.parent)
}
