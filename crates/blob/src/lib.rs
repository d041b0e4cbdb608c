//! The contents' seam: immutable bytes in one or more named places.
//!
//! A [`Place`] keeps blobs: runs of bytes written once under an id that the
//! caller chose, then only read and deleted. Nothing here knows what a resource
//! is or which blobs are referred to; the catalog does.
//!
//! # What holds
//!
//! - **Whole or absent.** A blob appears when [`BlobWriter::finish`] succeeds, or
//!   not at all. A dropped writer, a failure and a crash leave no visible blob.
//! - **Durable when finished.** On a disk the file, its directory entry and the
//!   directories above it are synced before `finish` returns; an object store
//!   promises the same by itself. The caller may then commit a reference.
//! - **Digested on the way in.** Every blob's SHA-256, and what else was asked
//!   for, is computed while its bytes are written, beside the writing.
//! - **Checked on the way out**, where the caller has the checksums of a blob's blocks: no byte of a block is given
//!   before all of the block was found right.
//! - **Constant memory.** A writer holds at most about 4 MiB on a local place
//!   (three parts in a remote one), a reader at most three chunks.
//!
//! All of it runs inside a tokio runtime; disks and hashes are worked on its
//! blocking threads.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod blocks;
mod digest;
mod disk;
mod error;
mod hashing;
mod id;
mod outside;
mod place;
mod private;
mod read;
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
pub use read::ReadStream;
pub use writer::{BlobWriter, Written};
