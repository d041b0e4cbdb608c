//! The Oxford Common File Layout (OCFL) 1.0 and 1.1, independent of any store.
//!
//! * `root` finds and creates storage roots, and places objects in them (`layout`);
//! * `inventory` reads and writes `inventory.json`, and checks what can be checked without the files;
//! * `object` checks an object with all its files, and writes new versions.
//!
//! Invariant: nothing is read from an object before the digest of its inventory is verified, and no path of an
//! inventory leads out of the object: `path` validates paths, and symbolic links are refused everywhere.

#![forbid(unsafe_code)]

mod digest;
mod fault;
mod inventory;
mod number;
mod object;
mod path;
mod root;

pub use digest::{Algorithm, Hashes};
pub use fault::{Fault, Faults};
pub use inventory::{Inventory, Spec, User, Version};
pub use number::VersionNumber;
pub use object::{Checked, Content, Draft, Incoming, Object, Stamp};
pub use root::{Layout, Root};
