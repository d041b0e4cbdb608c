//! Backups: the rows of the catalog at one moment in a file, and the blobs that they name in a directory, under their ids.
//!
//! A store gives a backup as a stream of frames ([`taken`]), which is also what the file has ([`frames`]). A directory collects them
//! ([`directory`], [`intake`]): blobs never change, so that a further backup adds only those that are not there yet. A backup becomes
//! a store as any copy does ([`restored`]).
//!
//! Invariants: a catalog has its name in the directory only once all its blobs are there, but for those that it was told are damaged;
//! while a store is backed up, it erases no contents.

mod directory;
mod frames;
mod intake;
mod restored;
mod taken;
mod verify;

pub use self::directory::{BackupDir, CatalogInfo};
#[cfg(any(test, feature = "fuzzing"))]
pub(crate) use self::frames::FrameReader;
pub use self::intake::{BackupBlob, Intake};
pub use self::restored::RestoredPlaces;
pub use self::taken::Backup;
pub use self::verify::{BackupFault, Verified};
