//! The calls, by what they are about.

mod access;
mod admin;
mod batch;
mod content;
mod lines;
mod meta;
mod people;
mod places;
mod resources;
mod search;
mod trash;
mod uploads;
mod versions;

pub use admin::Changes;
pub use batch::BatchLine;
pub(crate) use content::compare;
pub use content::{Content, PutOptions, ReadOptions};
pub use people::{NewTicket, NewToken, NewUser, UserChange};
pub use places::{Done, Items, Job, NewPlace, PlaceChange, Registration, Trim, Trimmed};
pub use resources::{Attributes, NewResource, Relocation, Removal};
pub use trash::{Kept, RestoreRemoved, TrashItem};
pub use uploads::{NewUpload, Part};
pub use versions::VersionChange;
