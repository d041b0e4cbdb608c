//! Undoing the changes after a moment: what each name held before its first change, and which revision a resource had before
//! its content or description was changed.
//!
//! Cost: one look at each change since; memory for those that matter to the question.

use std::collections::{BTreeMap, HashMap};

use super::moment::{Cut, changes_after, require_kept};
use crate::catalog::{ChangeKind, ChangeRecord, Reads, View, keys};
use crate::feed::Position;
use crate::model::{Access, Name, Resource, ResourceId, StorePath};
use crate::{Error, ErrorKind, Result};

/// A question that needs more names or resources than this in memory is refused.
const MOST: usize = 1_000_000;

/// All that came after a moment, undone as far as it was read. The additional changes of a later snapshot can be added, so that many
/// requests about one moment, on one snapshot after another, read each change once.
#[derive(Debug)]
pub(super) struct Since {
    pub(super) names: Names,
    pub(super) revisions: Revisions,
    read: Position,
}

impl Since {
    pub(super) fn new(cut: Cut) -> Self {
        Self { names: Names::default(), revisions: Revisions::new(), read: cut.0 }
    }

    /// Undoes the changes after those that were read, up to the newest one of a snapshot.
    pub(super) fn read_on(&mut self, view: &View) -> Result<()> {
        require_kept(view, self.read)?;
        for change in changes_after(view, self.read) {
            let (position, change) = change?;
            note_revision(&mut self.revisions, &change);
            self.names.undo(change, |_, _| true);
            require_room(self.names.held.max(self.revisions.len()))?;
            self.read = position;
        }
        Ok(())
    }
}

/// The collection that a resource was in after its last change (for a removal: before it), and its access list then.
#[derive(Debug)]
pub(super) struct Last {
    pub(super) parent: ResourceId,
    pub(super) access: Access,
}

impl From<ChangeRecord> for Last {
    fn from(change: ChangeRecord) -> Self {
        Self { parent: change.parent, access: change.access.unwrap_or_default() }
    }
}

/// What each collection held under the names that have changed since.
#[derive(Debug, Default)]
pub(super) struct Names {
    before: HashMap<ResourceId, BTreeMap<Box<str>, Option<ResourceId>>>,
    /// How many names there are.
    held: usize,
    /// What the last change of each resource that these names held says of it; nothing before that change was read.
    last: HashMap<ResourceId, Option<Last>>,
}

impl Names {
    /// Reads the changes of the names for which `wanted` is true.
    pub(super) fn read(
        view: &View,
        cut: Cut,
        wanted: impl Fn(ResourceId, &str) -> bool,
    ) -> Result<Self> {
        let mut names = Self::default();
        for change in cut.later(view) {
            names.undo(change?, &wanted);
            require_room(names.held)?;
        }
        Ok(names)
    }

    fn undo(&mut self, change: ChangeRecord, wanted: impl Fn(ResourceId, &str) -> bool) {
        if let Some((parent, name)) = &change.from
            && wanted(*parent, name)
        {
            self.note(*parent, name, Some(change.id));
        }
        if wanted(change.parent, &change.name) {
            self.place(&change);
        }
        if let Some(last) = self.last.get_mut(&change.id) {
            *last = Some(change.into());
        }
    }

    /// Notes what a change says of the name that its resource has after it, or had before it was removed.
    fn place(&mut self, change: &ChangeRecord) {
        let before = match change.kind {
            ChangeKind::Created | ChangeKind::Moved => None,
            ChangeKind::Removed => Some(change.id),
            ChangeKind::Written | ChangeKind::Described | ChangeKind::Granted => return,
        };
        self.note(change.parent, &change.name, before);
    }

    fn note(&mut self, parent: ResourceId, name: &str, before: Option<ResourceId>) {
        let names = self.before.entry(parent).or_default();
        if !names.contains_key(name) {
            names.insert(name.into(), before);
            self.held += 1;
            if let Some(id) = before {
                self.last.entry(id).or_default();
            }
        }
    }

    /// What a name held, if it has changed since: a resource, or nothing.
    pub(super) fn of(&self, parent: ResourceId, name: &str) -> Option<Option<ResourceId>> {
        self.before.get(&parent)?.get(name).copied()
    }

    /// All names in a collection that have changed since.
    pub(super) fn within(
        &self,
        parent: ResourceId,
    ) -> Option<&BTreeMap<Box<str>, Option<ResourceId>>> {
        self.before.get(&parent)
    }

    /// What the last change of a resource that a name held says of it.
    pub(super) fn last_of(&self, id: ResourceId) -> Option<&Last> {
        self.last.get(&id)?.as_ref()
    }
}

/// Where resources were that were created, moved or removed since; nowhere, if they were not in the tree.
pub(super) struct Places(HashMap<ResourceId, Option<(ResourceId, String)>>);

impl Places {
    pub(super) fn read(view: &View, cut: Cut) -> Result<Self> {
        let mut places = HashMap::new();
        for change in cut.later(view) {
            let change = change?;
            let was = match change.kind {
                ChangeKind::Created => None,
                ChangeKind::Moved => change.from,
                ChangeKind::Removed => Some((change.parent, change.name)),
                ChangeKind::Written | ChangeKind::Described | ChangeKind::Granted => continue,
            };
            places.entry(change.id).or_insert(was);
            require_room(places.len())?;
        }
        Ok(Self(places))
    }

    /// The path that a resource had; `view` is the one that this was read on.
    pub(super) fn path(&self, view: &View, id: ResourceId) -> Result<Option<StorePath>> {
        let (mut names, mut next) = (Vec::new(), id);
        while next != ResourceId::ROOT {
            let place = match self.0.get(&next) {
                Some(place) => place.clone(),
                None => view.get::<Resource>(&keys::resource(next))?.map(|it| (it.parent, it.name)),
            };
            let Some((parent, name)) = place.filter(|_| names.len() < StorePath::MOST_NAMES) else {
                return Ok(None);
            };
            names.push(Name::trusted(name));
            next = parent;
        }
        names.reverse();
        Ok(Some(StorePath::trusted(names)))
    }
}

/// The revision that each resource was before its content or description changed; none of those that have not changed.
pub(super) type Revisions = HashMap<ResourceId, u64>;

/// The revisions of these resources.
pub(super) fn revisions(
    view: &View,
    cut: Cut,
    wanted: impl Fn(ResourceId) -> bool,
) -> Result<Revisions> {
    let mut revisions = Revisions::new();
    for change in cut.later(view) {
        let change = change?;
        if wanted(change.id) {
            note_revision(&mut revisions, &change);
            require_room(revisions.len())?;
        }
    }
    Ok(revisions)
}

fn note_revision(revisions: &mut Revisions, change: &ChangeRecord) {
    if matches!(change.kind, ChangeKind::Written | ChangeKind::Described) {
        revisions.entry(change.id).or_insert(change.revision.saturating_sub(1));
    }
}

fn require_room(held: usize) -> Result<()> {
    match held > MOST {
        true => Err(Error::new(ErrorKind::TooLarge, "too much has changed since that time")
            .with_hint("give a later time, or read less at a time")),
        false => Ok(()),
    }
}
