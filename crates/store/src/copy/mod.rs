//! A whole store copied elsewhere: into another engine and another place for its contents.
//!
//! The rows of the catalog are copied as they are, so that ids, versions, positions of the change feed and digests stay the same;
//! so are the blobs, under their ids. Where they come from is an [`Origin`]: a store, or a backup of one.
//!
//! Invariants: the target of a copy is not a store before everything has arrived and was compared ([`landing`]); a copy that was
//! interrupted does only what is left when it is begun again, since rows and blobs that are there already are recognised;
//! a blob becomes visible only if its bytes have the digests that its record names ([`blobs`]).

mod blobs;
mod landing;
mod live;
mod rows;

use std::fmt::Debug;
use std::sync::Arc;

use bytes::Bytes;
use cenote_kv::{Row, Version};

pub(crate) use self::blobs::fault;
pub use self::blobs::{CopiedBlobs, Damaged};
pub use self::landing::Landing;
pub(crate) use self::landing::unfinished;
pub use self::rows::RowTotal;
pub(crate) use self::rows::Tally;
use crate::catalog::BlobRecord;
use crate::{BlobId, ContentStream, Error, ErrorKind, Result};

/// Where a copy comes from: one state of a catalog, and the contents that it names.
pub(crate) trait Origin: Debug + Send + Sync + 'static {
    /// Passes each row to `take`, in the order of the keys, and returns the version that they are of. Blocks.
    fn rows(&self, take: &mut dyn FnMut(Row) -> Result<()>) -> Result<Version>;

    /// Whether the bytes of a blob are to be copied. Those of others stay where they are.
    fn has(&self, record: &BlobRecord) -> bool;

    /// The bytes of a blob.
    fn bytes(&self, id: BlobId, record: &BlobRecord) -> ContentStream;

    /// What is added to counters when the copy becomes a store, with their keys.
    fn additions(&self) -> Vec<(Bytes, i64)> {
        Vec::new()
    }
}

/// How a store is copied.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopyChoices {
    /// Read all blobs again where they were copied to, those of an earlier run among them, and compare their digests.
    pub read_back: bool,
    /// Complete the copy without the blobs whose bytes are damaged or missing, and with damaged rows as they are.
    pub leave_damaged: bool,
}

/// What was copied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Copied {
    /// The catalog.
    pub rows: RowTotal,
    /// The contents.
    pub blobs: CopiedBlobs,
}

/// How far a copy is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyProgress {
    /// So many rows were copied, with so many bytes.
    Rows(u64, u64),
    /// So many blobs are there, with so many bytes.
    Blobs(u64, u64),
}

/// Receives the progress of a copy.
pub type Watch = Arc<dyn Fn(CopyProgress) + Send + Sync>;

/// Copies all of an origin.
///
/// # Errors
/// [`ErrorKind::Exists`] if there is a store, or something else, where it should go; [`ErrorKind::Damaged`] if rows or, unless they
/// are to be left out, blobs are damaged: everything else was copied then, but it is no store yet.
pub(crate) async fn copy(
    origin: Arc<dyn Origin>,
    landing: &Landing,
    choices: CopyChoices,
    watch: &Watch,
) -> Result<Copied> {
    landing.begin().await?;
    let arrived = rows::copy(origin.clone(), landing, choices, watch).await?;
    let blobs = blobs::copy(&*origin, landing, choices, watch).await?;
    if !choices.leave_damaged && !blobs.damaged.is_empty() {
        return Err(incomplete(&blobs.damaged));
    }
    landing.finish(&arrived, origin.additions()).await?;
    Ok(Copied { rows: arrived.total, blobs })
}

/// The error for contents that could not be copied, which names the first of them.
fn incomplete(damaged: &[Damaged]) -> Error {
    const NAMED: usize = 10;
    let first: Vec<String> =
        damaged.iter().take(NAMED).map(|one| format!("{}: {}", one.blob, one.what)).collect();
    let more = if damaged.len() > NAMED { "; and others" } else { "" };
    let message =
        format!("{} blobs could not be copied: {}{more}", damaged.len(), first.join("; "));
    Error::new(ErrorKind::Damaged, message)
        .with_hint("repair them with `cenote check --repair` and repeat the command, or leave them out with --leave-damaged")
}
