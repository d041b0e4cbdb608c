//! One node of a tree, on either side.

use std::collections::BTreeMap;

use cenote_client::transfer::LocalFile;
use cenote_client::{Resource, ResourceKind};
use jiff::Timestamp;

/// The nodes of a tree by their path below its root; a collection precedes its children.
pub(super) type Tree = BTreeMap<String, Entry>;

/// The compared attributes, and those needed for a transfer.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) kind: EntryKind,
    pub(super) mode: Option<u32>,
    pub(super) mtime: Option<Timestamp>,
    /// The tag of the description, in the store and where descriptions are compared.
    pub(super) description: Option<String>,
    /// The tag of the state, in the store.
    pub(super) state: Option<String>,
}

#[derive(Debug, Clone)]
pub(super) enum EntryKind {
    Directory,
    Link(String),
    /// A file on this machine.
    File(LocalFile),
    /// An object of the store.
    Object(Box<Resource>),
    /// A resource of the store that has a description only.
    Description,
}

impl Entry {
    /// Something on this machine.
    pub(super) fn local(kind: EntryKind, mode: Option<u32>, mtime: Option<Timestamp>) -> Self {
        Self { kind, mode, mtime, description: None, state: None }
    }

    /// A resource; none for a link that points nowhere.
    pub(super) fn from_resource(mut resource: Resource) -> Option<Self> {
        let (mode, mtime) = (resource.mode, resource.mtime);
        let (description, state) = (resource.description_tag.take(), resource.state.take());
        let kind = match resource.kind {
            ResourceKind::Collection => EntryKind::Directory,
            ResourceKind::Link => EntryKind::Link(resource.target?),
            ResourceKind::Object => EntryKind::Object(Box::new(resource)),
            ResourceKind::Description => EntryKind::Description,
        };
        Some(Self { kind, mode, mtime, description, state })
    }

    /// Its size in bytes; 0 without content.
    pub(super) fn size(&self) -> u64 {
        match &self.kind {
            EntryKind::File(file) => file.size,
            EntryKind::Object(resource) => resource.size.unwrap_or(0),
            EntryKind::Directory | EntryKind::Link(_) | EntryKind::Description => 0,
        }
    }

    pub(super) fn is_directory(&self) -> bool {
        matches!(self.kind, EntryKind::Directory)
    }
}

/// The size counted in a report: directories are not counted.
pub(super) fn counted(entry: &Entry) -> Option<u64> {
    (!entry.is_directory()).then(|| entry.size())
}
