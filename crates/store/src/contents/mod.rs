//! Contents: bytes in, bytes out, and who refers to them.
//!
//! Invariants: a content is durable before the commit that refers to it; it never changes
//! while more than one resource or version refers to it; what nothing refers to is swept.

mod compact;
mod conditions;
mod digest;
mod extents;
mod publish;
mod read;
mod receive;
mod refs;
mod sweep;
mod upload;
mod write_at;

pub use conditions::Conditions;
pub use publish::{BatchItem, BatchWhat, PutOptions};
pub use read::{ContentStream, Opened, ReadOptions};
pub use receive::{Expected, Limits, Received};
pub use sweep::Swept;
pub use upload::{Part, Upload, UploadOptions};
pub use write_at::Where;

pub(crate) use conditions::check_tag;
pub(crate) use extents::overlay;
pub(crate) use publish::replace;
pub(crate) use read::extent_stream;
pub(crate) use refs::{CURRENT, blob_ids, patches, refer, release, resolve, store_content};
pub(crate) use upload::forget as forget_upload;
