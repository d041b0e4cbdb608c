//! The few attributes of a resource that a file system shows.
//!
//! Invariant: each has the name and the value that it has in [`Resource`](super::Resource); what does not apply is left out, and so is the
//! time of the content if it is that of the last change.

use serde::Serialize;
use utoipa::ToSchema;

use crate::layer::conditional::quoted;
use crate::native::json::{Instant, KindWord, Names};

/// The attributes of a resource that a file system shows.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Brief {
    /// Does not change when the resource is renamed, and is never reused.
    pub(crate) id: u64,
    /// Its name.
    pub(crate) name: String,
    /// Its kind.
    pub(crate) kind: KindWord,
    /// Bytes of content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) size: Option<u64>,
    /// The entity tag of the content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) etag: Option<String>,
    /// The entity tag of the state.
    pub(crate) state: String,
    /// When it was created.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created: Instant,
    /// When content, description or access last changed.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) modified: Instant,
    /// When the content last changed, if that differs from `modified`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) content_modified: Option<Instant>,
    /// When the membership of a collection last changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) members_modified: Option<Instant>,
    /// Mode bits as in `st_mode & 0o7777`, if a client set them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mode: Option<u32>,
    /// The modification time that a client set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mtime: Option<Instant>,
    /// The target of a link.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) target: Option<String>,
}

impl Brief {
    pub(crate) fn of(
        stat: &cenote_store::Stat,
        names: &mut Names<'_>,
    ) -> cenote_store::Result<Self> {
        let resource = &stat.resource;
        let content = resource.content.as_ref();
        let written = content.map(|_| resource.written());
        let membership = names.membership(stat)?;
        Ok(Self {
            id: stat.id.0,
            name: resource.name.clone(),
            kind: resource.kind.into(),
            size: content.map(|content| content.size),
            etag: stat.content_tag().as_deref().map(quoted),
            state: quoted(&stat.state_tag()),
            created: Instant(resource.created),
            modified: Instant(resource.modified),
            content_modified: written.filter(|time| *time != resource.modified).map(Instant),
            members_modified: membership.map(|membership| Instant(membership.changed)),
            mode: resource.mode,
            mtime: resource.mtime.map(Instant),
            target: resource.target.clone(),
        })
    }
}
