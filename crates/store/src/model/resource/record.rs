//! A resource: one node of the tree.

use minicbor::{Decode, Encode};

use crate::model::{
    Access, ContentHead, Counting, LinkIntegrity, Name, PersonId, Placement, ResourceId, Stamp,
    StorePath, Time, Versioning, optional,
};

/// What a resource is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum Kind {
    /// Has children and no content.
    #[n(0)]
    Collection,
    /// Has content.
    #[n(1)]
    Object,
    /// Points to a path.
    #[n(2)]
    Link,
    /// Has a description only.
    #[n(3)]
    Description,
}

impl Kind {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Collection => "collection",
            Self::Object => "object",
            Self::Link => "link",
            Self::Description => "description",
        }
    }
}

/// The record of a resource, as the catalog keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Resource {
    /// The collection it is in; [`ResourceId::ROOT`] is its own parent.
    #[n(0)]
    pub parent: ResourceId,
    /// Its name there; empty for the root.
    #[n(1)]
    pub name: String,
    /// What it is.
    #[n(2)]
    pub kind: Kind,
    /// Who it belongs to.
    #[n(3)]
    pub owner: PersonId,
    /// When it was created.
    #[n(4)]
    pub created: Time,
    /// Who created it.
    #[n(5)]
    pub created_by: PersonId,
    /// When its content, description or access last changed.
    #[n(6)]
    pub modified: Time,
    /// Who changed it.
    #[n(7)]
    pub modified_by: PersonId,
    /// Counts the changes of content, description and access: the tag of the state.
    #[n(8)]
    pub revision: u64,
    /// Its bytes, for an object.
    #[n(9)]
    pub content: Option<ContentHead>,
    /// Who may do what.
    #[n(10)]
    pub access: Access,
    /// Mode bits as in `st_mode & 0o7777`, if a client set them.
    #[cbor(n(11), with = "optional", has_nil)]
    pub mode: Option<u32>,
    /// The modification time that a client set.
    #[cbor(n(12), with = "optional", has_nil)]
    pub mtime: Option<Time>,
    /// What happens to replaced states here and below, for a collection with a setting.
    #[cbor(n(13), with = "optional", has_nil)]
    pub versioning: Option<Versioning>,
    /// Where it points, for a link.
    #[cbor(n(14), with = "optional", has_nil)]
    pub target: Option<String>,
    /// Where its content is.
    #[n(15)]
    pub placement: Placement,
    /// When the content last changed, if that was before `modified`: see [`Resource::written`].
    #[n(16)]
    pub content_changed: Option<Time>,
    /// When the description last changed, if that was before `modified`: see [`Resource::described`].
    #[n(17)]
    pub description_changed: Option<Stamp>,
    /// When `mtime` was set, for a collection; when it was created, if this is none.
    #[n(18)]
    pub mtime_set: Option<Time>,
    /// For how many seconds resources removed below are kept, for a collection with a setting; 0 for not at all.
    #[n(19)]
    pub keep_removed: Option<u64>,
    /// The newest version, if its description is kept as its difference to the current one.
    #[n(20)]
    pub compared_version: Option<u64>,
    /// The counts of quotas that it bears on, if there are any.
    #[n(24)]
    pub counting: Option<Counting>,
    /// The requirement for links in descriptions here and below, for a collection with a setting.
    #[n(25)]
    pub link_integrity: Option<LinkIntegrity>,
    /// Of the root: whether a collection ever said that links are bound late.
    #[n(26)]
    pub late_links: Option<bool>,
    /// The maximum number of bytes of removed resources below to keep, for a collection with such a limit.
    #[n(27)]
    pub keep_removed_bytes: Option<u64>,
}

impl Resource {
    /// A record that says nothing but this.
    pub fn new(
        parent: ResourceId,
        name: &Name,
        kind: Kind,
        owner: PersonId,
        created: Time,
    ) -> Self {
        Self {
            parent,
            name: name.as_str().to_owned(),
            kind,
            owner,
            created,
            created_by: owner,
            modified: created,
            modified_by: owner,
            revision: 1,
            content: None,
            access: Access::default(),
            mode: None,
            mtime: None,
            versioning: None,
            target: None,
            placement: Placement::default(),
            content_changed: None,
            description_changed: None,
            mtime_set: None,
            keep_removed: None,
            keep_removed_bytes: None,
            compared_version: None,
            counting: None,
            link_integrity: None,
            late_links: None,
        }
    }
}

/// The attributes of a resource that are shown to callers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Its id.
    pub id: ResourceId,
    /// Where it is now.
    pub path: StorePath,
    /// Its record.
    pub resource: Resource,
}

impl Stat {
    /// The size of its content in bytes; 0 where there is none.
    pub fn size(&self) -> u64 {
        self.resource.content.as_ref().map_or(0, |content| content.size)
    }

    /// Its name; none for the root.
    pub fn name(&self) -> Option<&Name> {
        self.path.names().last()
    }
}
