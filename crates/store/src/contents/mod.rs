//! Contents: bytes in, bytes out, and who refers to them.
//!
//! Invariants: a content is durable before the commit that refers to it; it never changes
//! while more than one resource or version refers to it; what nothing refers to is swept.

mod blocks;
mod damage;
mod hints;
mod incoming;
mod layout;
mod lease;
mod media_type;
mod patches;
mod publish;
mod read;
mod refs;
mod replicas;
mod stages;
mod sweep;
mod uploads;

pub use damage::copies::{DamageCounts, DamagedCopy};
pub use damage::scrub::Scrub;
pub use incoming::expected::Expected;
pub use incoming::receive::ReceiveOptions;
pub use incoming::received::{Limits, Received, ReceivedBlob};
pub use layout::{ContentStream, LocalBytes, LocalPiece};
pub use lease::{Lease, LeaseId};
pub use patches::write_at::Where;
pub use publish::{Describing, PutOptions};
pub use read::{Opened, ReadOptions};
pub use replicas::register::Registration;
pub use replicas::replicate::Trim;
pub use replicas::view::{ReplicaChange, ReplicaView};
pub use stages::{Attempt, Positions, Ranges, StageFrom, Staged};
pub use sweep::Swept;
pub use uploads::upload::{Completion, Part, Upload, UploadId, UploadOptions};

pub(crate) use blocks::{all_blocks, delete_blob, groups};
pub(crate) use damage::copies::Damage;
pub(crate) use hints::ContentHints;
pub(crate) use incoming::digesting::Digesting;
pub(crate) use incoming::receive::LOOK;
pub(crate) use incoming::received::NewBlob;
pub(crate) use layout::{ExtentCache, Layout, is_loss};
pub(crate) use lease::Leases;
pub(crate) use patches::extents::overlay;
pub(crate) use read::content_of;
pub(crate) use refs::{
    blob_ids, count_copy, patches, put_blob, require_up, resolve, store_content,
};
pub(crate) use replicas::transfer::{Mended, damage_of};
pub(crate) use sweep::{Due, Hold, Pins};
pub(crate) use uploads::upload::forget as forget_upload;
