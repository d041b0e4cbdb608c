//! The storage layer for contents: immutable bytes in one or more named places.
//!
//! A [`Place`] stores blobs: runs of bytes written once under an id that the caller chose, then only read and
//! deleted. This crate does not know what a resource is or which blobs are referenced; the catalog does.
//!
//! # Guarantees
//!
//! - **Whole or absent.** A blob appears when [`BlobWriter::finish`] succeeds, or
//!   not at all. A dropped writer, a failure and a crash leave no visible blob.
//! - **Durable when finished.** On a disk the file, its directory entry and the directories above it are synced
//!   before `finish` returns; an object store guarantees the same by itself. The caller may then commit a reference.
//! - **Digested on the way in.** Every blob's SHA-256, and any other requested digest, is computed concurrently while
//!   its bytes are written.
//! - **Checked on the way out**, if the caller has the blob's block checksums: no byte of a block is returned before
//!   the whole block has been verified.
//! - **Constant memory.** A writer holds at most about 4 MiB on a local place (three parts in a remote one), a reader
//!   at most three chunks.
//!
//! All of it runs inside a tokio runtime; disk I/O and hashing run on its blocking threads.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod blocks;
mod cache;
mod digest;
mod disk;
mod error;
mod hashing;
mod id;
mod outside;
mod place;
mod private;
mod read;
mod turns;
mod verify;
mod writer;

#[cfg(feature = "testing")]
pub mod conformance;
#[cfg(feature = "testing")]
pub mod faulty;

pub use blocks::Blocks;
pub use digest::{Algorithm, Digests, Hasher, Sha256State, append_crc64nvme, crc64nvme_of_zeros};
pub use disk::Space;
pub use error::{Damage, Error, Result, Source};
pub use hashing::Hashing;
pub use id::{BlobId, BlobIdError};
pub use outside::Outside;
pub use place::{Place, Stored};
pub use private::{make_all_private, make_file_private, make_private};
pub use read::{ReadStream, read_here};
pub use writer::{BlobWriter, Written};
