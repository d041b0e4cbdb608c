//! The calls, by subject.

mod access;
mod admin;
mod batch;
mod changes;
mod changesets;
mod content;
mod items;
mod leases;
mod lines;
mod meta;
mod past;
mod patch;
mod people;
mod places;
mod resources;
mod search;
mod trash;
mod uploads;
mod versions;
mod xattrs;

pub use batch::BatchLine;
pub use changes::{Change, ChangeKind, Changes, Event, Origin};
pub use changesets::ChangeSet;
pub(crate) use content::compare;
pub use content::{Content, PutOptions, ReadOptions};
pub use leases::{Lease, LocalBytes, LocalPiece};
pub use past::{Lost, PastEntry};
pub use patch::Patch;
pub use people::{NewTicket, NewToken, NewUser, UserChange};
pub use places::{Done, Items, Job, NewPlace, PlaceChange, Registration, Trim, Trimmed};
pub use resources::{Attributes, NewResource, Relocation, Removal, With};
pub use trash::{Kept, RestoreRemoved, TrashItem};
pub use uploads::{NewUpload, Part};
pub use versions::{Retention, VersionChange};
pub use xattrs::{Xattr, XattrMode};
