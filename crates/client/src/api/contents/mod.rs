//! Bytes: whole contents, uploads, stages, and the files on the server's disk.

mod batch;
mod content;
mod leases;
mod patch;
mod stages;
mod uploads;

pub use batch::{BatchLine, SmallContent};
pub(crate) use content::compare;
pub use content::{Content, PutOptions, ReadOptions};
pub use leases::{ContentLease, Lease, LocalBytes, LocalPiece};
pub use patch::Patch;
pub use stages::{Attempt, NewStage, Stage, StageFrom};
pub use uploads::{NewUpload, Part};
