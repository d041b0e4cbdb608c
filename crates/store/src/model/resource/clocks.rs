//! The three clocks of a resource: when its content, its description and, of a collection, its membership
//! changed, each with a tag.
//!
//! Invariant: a change moves the clocks of what it changes, and no other. The record keeps a clock only if it is not that
//! of the record's latest change, so that records of programs before there were clocks read as if all moved together.

use minicbor::{Decode, Encode};

use crate::model::{Kind, PersonId, Resource, ResourceId, Stat, Time};

/// A change of a record: its time, and the resulting revision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Encode, Decode)]
pub struct Stamp {
    /// When it was.
    #[n(0)]
    pub time: Time,
    /// The [`Resource::revision`] that it made.
    #[n(1)]
    pub revision: u64,
}

/// What of a resource's record a change is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Changed {
    Content,
    /// Statements, mode, times, owner, media type, or what happens to versions.
    Description,
    ContentAndDescription,
    /// Only who may do what: the state changes, and none of the three clocks.
    Access,
}

impl Changed {
    fn content(self) -> bool {
        matches!(self, Self::Content | Self::ContentAndDescription)
    }

    fn description(self) -> bool {
        matches!(self, Self::Description | Self::ContentAndDescription)
    }
}

impl Resource {
    /// When the content last changed, whatever modification time a client set; of what has no content, when it was
    /// created.
    pub fn written(&self) -> Time {
        match &self.content {
            Some(_) => self.content_changed.unwrap_or(self.modified),
            None => self.created,
        }
    }

    /// When the description last changed, and the resulting revision.
    pub fn described(&self) -> Stamp {
        let latest = Stamp { time: self.modified, revision: self.revision };
        self.description_changed.unwrap_or(latest)
    }

    /// The modification time to show for the content: the one that a client set, or when it was written.
    pub fn shown_mtime(&self) -> Time {
        self.mtime.unwrap_or(self.written())
    }

    /// Counts one change.
    pub(crate) fn count_change(&mut self, changed: Changed, now: Time, by: PersonId) {
        let content = self.content_changed.unwrap_or(self.modified);
        let description = self.described();
        self.modified = now;
        self.modified_by = by;
        self.revision += 1;
        self.content_changed = (!changed.content()).then_some(content);
        self.description_changed = (!changed.description()).then_some(description);
    }

    /// Takes the next number for the same state: no clock moves.
    pub(crate) fn renumber(&mut self) {
        self.content_changed = Some(self.content_changed.unwrap_or(self.modified));
        self.description_changed = Some(self.described());
        self.revision += 1;
    }

    /// Sets the modification time to show, if one is given.
    pub(crate) fn set_mtime(&mut self, mtime: Option<Time>, now: Time) {
        if mtime.is_some() {
            self.mtime = mtime;
            self.mtime_set = (self.kind == Kind::Collection).then_some(now);
        }
    }
}

/// The membership of a collection: which names its children have. It changes with every child that is created, removed,
/// moved in or out, or renamed, and with nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Membership {
    /// Whose.
    pub collection: ResourceId,
    /// Counts its changes.
    pub changes: u64,
    /// When it last changed; when the collection was created, where no change was recorded. Of changes at the same
    /// time the one that is committed last counts, so it can go back by the time that a commit takes.
    pub changed: Time,
}

impl Membership {
    /// Changes with every change of the membership.
    pub fn tag(&self) -> String {
        format!("m{}.{}", self.collection, self.changes)
    }

    /// The modification time to show for the collection `of`: the one that a client set, unless the membership changed
    /// after that.
    pub fn shown_mtime(&self, of: &Resource) -> Time {
        let set = of.mtime_set.unwrap_or(of.created);
        of.mtime.filter(|_| self.changed <= set).unwrap_or(self.changed)
    }
}

impl Stat {
    /// The tag of the content: changes with every change of the bytes.
    pub fn content_tag(&self) -> Option<String> {
        self.resource.content.as_ref().map(crate::model::ContentHead::tag)
    }

    /// The tag of the description: changes with every change of a statement or of an attribute that a client may set.
    pub fn description_tag(&self) -> String {
        format!("d{}.{}", self.id, self.resource.described().revision)
    }

    /// The tag of the state: changes with every change of content, description or access.
    pub fn state_tag(&self) -> String {
        format!("r{}.{}", self.id, self.resource.revision)
    }
}
