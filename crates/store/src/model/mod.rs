//! The words of the heart as plain data. Nothing here reads or writes.

mod access;
mod change;
mod content;
mod id;
mod name;
mod optional;
mod path;
mod quota;
mod resource;
mod time;

pub use access::{
    Access, Grant, Only, Person, PersonKind, Rights, Role, Scope, Setting, TokenScope, Vocabulary,
};
pub(crate) use access::{Classes, GrantTable};
pub use change::ChangeKind;
pub(crate) use content::check_media_type;
pub use content::{
    Content, ContentHead, Digests, Extent, Piece, PlaceInfo, PlaceKind, PlaceState, Placement,
    Replica, Replicas, Retention, Versioning,
};
pub(crate) use id::FIRST_FREE_ID;
pub use id::{ContentId, PersonId, PlaceId, ResourceId};
pub use name::Name;
pub use path::{At, StorePath};
pub(crate) use quota::Counted;
pub use quota::{Counting, Measure, QuotaLimits, QuotaOf, QuotaTotal};
pub(crate) use resource::Changed;
pub use resource::{
    Avu, Dangling, Graph, Kind, LinkIntegrity, Membership, Resource, Stamp, Stat, Statement, Term,
};
pub use time::Time;
