//! The words of the heart as plain data. Nothing here reads or writes.

mod change;
mod clocks;
mod content;
mod grant;
mod id;
mod name;
mod path;
mod person;
mod place;
mod replica;
mod resource;
mod rights;
mod statement;
mod time;
mod token;
mod versioning;

pub use change::ChangeKind;
pub(crate) use clocks::Changed;
pub use clocks::{Membership, Stamp};
pub(crate) use content::check_media_type;
pub use content::{Content, ContentHead, Digests, Extent, Piece};
pub use grant::{Access, Grant, Scope};
pub(crate) use id::FIRST_FREE_ID;
pub use id::{ContentId, PersonId, PlaceId, ResourceId};
pub use name::Name;
pub use path::{At, StorePath};
pub use person::{Person, PersonKind, Role};
pub use place::{PlaceInfo, PlaceKind, PlaceState};
pub use replica::{Replica, Replicas};
pub use resource::{Kind, Resource, Stat};
pub use rights::{Rights, Setting, Vocabulary};
pub use statement::{Avu, Graph, Statement, Term};
pub use time::Time;
pub use token::TokenScope;
pub use versioning::{Retention, Versioning};
