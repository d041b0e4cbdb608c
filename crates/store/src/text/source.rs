//! What an index of texts is made from.
//!
//! It contains the words of all resources, whoever may see them: an index gives none of them to a caller, but only to the store, as a
//! [lead](super::TextLead). Removed resources are among them, for as long as they can be restored.

use std::collections::BTreeSet;

use super::mark::Mark;
use super::passages::passages;
use super::words::words;
use crate::catalog::keys::Counter;
use crate::catalog::{ChangeRecord, Reads, Record, View, keys};
use crate::feed::{self, Position};
use crate::model::{ChangeKind, Resource, ResourceId};
use crate::resources::children;
use crate::{Result, Store, metadata};

/// One state of the store, as an index reads it.
#[derive(Debug)]
pub struct TextSource(View);

/// A resource and all its words, each once; none if it is not there any more.
pub type Worded = (ResourceId, Option<BTreeSet<String>>);

/// What changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextChanges {
    /// Whose words may be others now.
    pub ids: BTreeSet<ResourceId>,
    /// Up to where.
    pub next: Mark,
    /// Whether there is more.
    pub more: bool,
}

/// So many resources may come with one change: a collection that is brought back, with all below it.
const TREE: usize = 10_000;
/// How many rows are read at a time.
const STEP: usize = 1_000;

impl Store {
    /// The state of the store now, for an index of its texts.
    pub fn text_source(&self) -> Result<TextSource> {
        self.view().map(TextSource)
    }
}

impl TextSource {
    /// The mark of this state.
    pub fn mark(&self) -> Result<Mark> {
        Mark::newest(&self.0)
    }

    /// How many resources there are, with removed ones for as long as they can be restored.
    pub fn count(&self) -> Result<u64> {
        Ok(self.0.counter(0, Counter::Resources)?.max(0) as u64)
    }

    /// The words of the next resources by id, at most `limit`.
    pub fn after(&self, id: Option<ResourceId>, limit: usize) -> Result<Vec<Worded>> {
        let range = match id {
            Some(id) => keys::resources().after(&keys::resource(id)),
            None => keys::resources(),
        };
        let rows = self.0.rows(&range, limit)?;
        let ids: Vec<_> =
            rows.iter().filter_map(|(key, _)| keys::last_id(key).map(ResourceId)).collect();
        self.of(&ids)
    }

    /// The words of these resources.
    pub fn of(&self, ids: &[ResourceId]) -> Result<Vec<Worded>> {
        let records = self.0.resources(ids)?;
        ids.iter().zip(records).map(|(id, record)| Ok((*id, self.words(*id, record)?))).collect()
    }

    fn words(&self, id: ResourceId, record: Option<Resource>) -> Result<Option<BTreeSet<String>>> {
        let Some(record) = record else { return Ok(None) };
        let description = metadata::read(&self.0, id.0)?;
        Ok(Some(passages(&record.name, &description).flat_map(words).collect()))
    }

    /// The next changes after a mark, at most `limit`. None if they are no longer kept, the mark is from another history, or more came
    /// with one of them than is worth to be told one by one: everything is to be read again.
    pub fn changes(&self, since: &Mark, limit: usize) -> Result<Option<TextChanges>> {
        changes(&self.0, since, limit)
    }
}

pub(super) fn changes(view: &View, since: &Mark, limit: usize) -> Result<Option<TextChanges>> {
    if !since.is_valid(view)? {
        return Ok(None);
    }
    let rows = view.rows(&feed::after(since.position), limit.saturating_add(1))?;
    let more = rows.len() > limit;
    let mut ids = BTreeSet::new();
    for (_, value) in rows.iter().take(limit) {
        if !touched(view, &ChangeRecord::from_value(value)?, &mut ids)? {
            return Ok(None);
        }
    }
    let last = rows.iter().take(limit).next_back();
    let next = last.map(|(key, _)| Mark::at(view, Position::of_key(key))).transpose()?;
    Ok(Some(TextChanges { ids, next: next.unwrap_or_else(|| since.clone()), more }))
}

/// Notes whose words a change may have changed; false if these are too many.
fn touched(view: &View, change: &ChangeRecord, ids: &mut BTreeSet<ResourceId>) -> Result<bool> {
    match (change.kind, &change.from) {
        // What is removed has its words still, and is no candidate that anybody sees.
        (ChangeKind::Granted | ChangeKind::Removed, _) => Ok(true),
        // It came from out of sight, where it may have been made, with all below it.
        (ChangeKind::Moved, None) => tree(view, change.id, ids),
        _ => {
            ids.insert(change.id);
            Ok(true)
        }
    }
}

fn tree(view: &View, top: ResourceId, ids: &mut BTreeSet<ResourceId>) -> Result<bool> {
    let (mut left, mut count) = (vec![top], 0);
    while let Some(id) = left.pop() {
        ids.insert(id);
        count += 1;
        let mut next = Some(None);
        while let Some(from) = next {
            let (entries, more) = children(view, id, from.as_ref(), STEP)?;
            left.extend(entries.iter().map(|(_, child)| child.id));
            next = more.map(Some);
            if left.len() + count > TREE {
                return Ok(false);
            }
        }
    }
    Ok(true)
}
