//! A store as a file system, used by `cenote mount`.
//!
//! * [`FileSystem`] is the logic, without a kernel: operations on inodes, as asynchronous functions. `docs/mount.md`
//!   describes their guarantees.
//! * [`fuse`] is the layer that connects it to the kernel.
//!
//! Invariants: no lock but that of the draft of one file is held across a call to the server, so one slow file never blocks another; cached data was true at a
//! position of the change feed, and is dropped when a later change is reported.

mod attr;
mod cache;
mod disk;
mod dxfuse;
mod error;
mod feed;
mod found;
pub mod fuse;
mod journal;
mod layout;
mod ops;
mod options;
mod past;
mod reach;
mod read;
mod source;
mod status;
mod write;

pub use attr::{Attr, FileKind};
pub use cache::Stale;
pub use error::{Fault, Level, Result};
pub use layout::{Folder, Layout, LayoutError, Placed};
pub use ops::{Allocation, DirEntry, Entry, FileSystem, Opened, Room, SetAttr, Space};
pub use options::{CacheOptions, Log, Manners, Options, Ownership};
pub use status::{CacheStatus, STATUS, Share, Status, Unpublished};
