//! Present and past changes: the change feed, change sets, versions, the past and the trash.

mod changes;
mod changesets;
mod past;
mod trash;
mod versions;

pub use changes::{Change, ChangeKind, Changes, Event, Origin};
pub use changesets::ChangeSet;
pub use past::{Lost, PastEntry, RestorePast};
pub use trash::{Kept, RestoreRemoved, TrashItem};
pub use versions::{Retention, VersionChange};
