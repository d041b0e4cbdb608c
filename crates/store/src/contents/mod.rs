//! Contents: bytes in, bytes out, and who refers to them.
//!
//! Invariants: a content is durable before the commit that refers to it; it never changes
//! while more than one resource or version refers to it; what nothing refers to is swept.

mod blocks;
mod compact;
mod complete;
mod conditions;
mod damage;
mod digest;
mod digesting;
mod expected;
mod extents;
mod gather;
mod intake;
mod layout;
mod media_type;
mod parts;
mod publish;
mod read;
mod receive;
mod refs;
mod register;
mod replica_view;
mod replicas;
mod replicate;
mod runs;
mod scrub;
mod scrub_rows;
mod sweep;
mod transfer;
mod upload;
mod write_at;

pub use conditions::Conditions;
pub use damage::{DamageCounts, DamagedCopy};
pub use expected::Expected;
pub use layout::ContentStream;
pub use publish::{BatchItem, BatchWhat, PutOptions};
pub use read::{Opened, ReadOptions};
pub use receive::{Limits, Received, ReceivedBlob};
pub use register::Registration;
pub use replica_view::{ReplicaChange, ReplicaView};
pub use replicate::Trim;
pub use scrub::Scrub;
pub use sweep::Swept;
pub use upload::{Part, Upload, UploadId, UploadOptions};
pub use write_at::Where;

pub(crate) use blocks::{all_blocks, delete_blob, groups};
pub(crate) use conditions::check_removal;
pub(crate) use damage::Damage;
pub(crate) use digesting::Digesting;
pub(crate) use extents::overlay;
pub(crate) use layout::{Layout, is_loss};
pub(crate) use receive::NewBlob;
pub(crate) use refs::{
    CURRENT, blob_ids, count_copy, exchange, is_held, patches, put_blob, refer, release,
    replica_user, require_up, resolve, store_content,
};
pub(crate) use sweep::{Due, Pins};
pub(crate) use transfer::Mended;
pub(crate) use upload::forget as forget_upload;
