//! What the server says of a resource, as far as the mount keeps it: a listing can have very many, and each page of memory that holds them has to be
//! cleared by the kernel first.

use cenote_client::{Brief, Resource, ResourceKind};
use jiff::Timestamp;

use crate::attr::Attr;

/// What is in a collection, in the portions in which it arrived: one long vector would be copied each time that it outgrows its room.
pub(crate) type Listing = Vec<Vec<Found>>;

/// A resource that the server told of.
#[derive(Debug, Clone)]
pub(crate) struct Found {
    pub(crate) id: u64,
    pub(crate) name: String,
    pub(crate) kind: ResourceKind,
    pub(crate) created: Option<Timestamp>,
    pub(crate) attr: Attr,
    /// The rights of the caller, if the server said them.
    pub(crate) level: Option<String>,
}

impl From<&Resource> for Found {
    fn from(resource: &Resource) -> Self {
        Self {
            id: resource.id,
            name: resource.name.clone().unwrap_or_default(),
            kind: resource.kind,
            created: resource.created,
            attr: Attr::of(resource),
            level: resource.level.clone(),
        }
    }
}

impl From<Brief> for Found {
    fn from(mut brief: Brief) -> Self {
        Self {
            id: brief.id,
            name: std::mem::take(&mut brief.name),
            kind: brief.kind,
            created: Some(brief.created),
            attr: Attr::of_brief(brief),
            level: None,
        }
    }
}
