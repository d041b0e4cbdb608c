//! What came after a moment, undone: what each name held before its first change, and which revision a resource was before
//! its content or description was changed.
//!
//! Cost: one look at each change since; memory for those that matter to the question.

use std::collections::HashMap;

use super::moment::Cut;
use crate::catalog::{ChangeKind, ChangeRecord, View};
use crate::model::{Access, ResourceId};
use crate::{Error, ErrorKind, Result};

/// A question that needs more names or resources than this in memory is refused.
const MOST: usize = 1_000_000;

/// What a collection held under each name that has changed since.
#[derive(Debug, Default)]
pub(super) struct Names {
    before: HashMap<(ResourceId, String), Option<ResourceId>>,
    /// The access list of each resource that was removed, as it was then.
    removed: HashMap<ResourceId, Access>,
}

impl Names {
    /// Of the names for which `wanted` says so.
    pub(super) fn read(
        view: &View,
        cut: Cut,
        wanted: impl Fn(ResourceId, &str) -> bool,
    ) -> Result<Self> {
        let mut names = Self::default();
        for change in cut.later(view) {
            let change = change?;
            if let Some((parent, name)) = &change.from
                && wanted(*parent, name)
            {
                names.note(*parent, name, Some(change.id));
            }
            if wanted(change.parent, &change.name) {
                names.place(change);
            }
            require_room(names.before.len())?;
        }
        Ok(names)
    }

    /// Notes what a change says of the name that its resource has after it, or had before it was removed.
    fn place(&mut self, change: ChangeRecord) {
        let before = match change.kind {
            ChangeKind::Created | ChangeKind::Moved => None,
            ChangeKind::Removed => Some(change.id),
            ChangeKind::Written | ChangeKind::Described | ChangeKind::Granted => return,
        };
        self.note(change.parent, &change.name, before);
        if change.kind == ChangeKind::Removed {
            self.removed.insert(change.id, change.access.unwrap_or_default());
        }
    }

    fn note(&mut self, parent: ResourceId, name: &str, before: Option<ResourceId>) {
        self.before.entry((parent, name.to_owned())).or_insert(before);
    }

    /// What a name held, if it has changed since: a resource, or nothing.
    pub(super) fn of(&self, parent: ResourceId, name: &str) -> Option<Option<ResourceId>> {
        self.before.get(&(parent, name.to_owned())).copied()
    }

    /// All names in a collection that have changed since.
    pub(super) fn within(
        &self,
        parent: ResourceId,
    ) -> impl Iterator<Item = (&str, Option<ResourceId>)> {
        let within = self.before.iter().filter(move |((collection, _), _)| *collection == parent);
        within.map(|((_, name), before)| (name.as_str(), *before))
    }

    /// The access list of a resource when it was removed.
    pub(super) fn access_of(&self, removed: ResourceId) -> Option<&Access> {
        self.removed.get(&removed)
    }
}

/// The revision that each of these resources was before its content or description changed; none of those that have not
/// changed.
pub(super) fn revisions(
    view: &View,
    cut: Cut,
    wanted: impl Fn(ResourceId) -> bool,
) -> Result<HashMap<ResourceId, u64>> {
    let mut revisions = HashMap::new();
    for change in cut.later(view) {
        let change = change?;
        if matches!(change.kind, ChangeKind::Written | ChangeKind::Described) && wanted(change.id) {
            revisions.entry(change.id).or_insert(change.revision.saturating_sub(1));
            require_room(revisions.len())?;
        }
    }
    Ok(revisions)
}

fn require_room(held: usize) -> Result<()> {
    match held > MOST {
        true => Err(Error::new(ErrorKind::TooLarge, "too much has changed since that moment")
            .with_hint("name a later moment, or ask for less at a time")),
        false => Ok(()),
    }
}
