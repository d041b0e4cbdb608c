//! The scrub.

use serde::Serialize;
use utoipa::ToSchema;

use crate::native::json::Instant;
/// A round of the scrub, in which every copy of every content is read, and the copies that are currently damaged.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Scrub {
    /// When the current or last round began; null before the first.
    pub(crate) begun: Option<Instant>,
    /// When it ended; null while it is running.
    pub(crate) ended: Option<Instant>,
    /// The approximate fraction of the store that it has processed.
    pub(crate) percent: u8,
    /// The number of blobs that it has read.
    pub(crate) blobs: u64,
    /// The bytes of their copies.
    pub(crate) bytes: u64,
    /// The copies that it found damaged or missing.
    pub(crate) found: u64,
    /// Damaged copies that could not be repaired, however they were found.
    pub(crate) damaged: Vec<DamagedCopy>,
}

/// A damaged copy of a blob.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DamagedCopy {
    /// The id of the blob.
    pub(crate) blob: String,
    /// The place that the copy is in.
    pub(crate) place: String,
    /// When the damage was found.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) found: Instant,
    /// A description of the damage.
    pub(crate) detail: String,
    /// The objects with bytes in it, now or in a version.
    pub(crate) objects: Vec<String>,
}

impl Scrub {
    pub(crate) fn new(round: Option<cenote_store::Scrub>, damaged: Vec<DamagedCopy>) -> Self {
        let round = round.as_ref();
        Self {
            begun: round.map(|round| Instant(round.begun)),
            ended: round.and_then(|round| round.ended).map(Instant),
            percent: round.map_or(0, |round| round.percent),
            blobs: round.map_or(0, |round| round.blobs),
            bytes: round.map_or(0, |round| round.bytes),
            found: round.map_or(0, |round| round.damaged),
            damaged,
        }
    }
}

impl From<cenote_store::DamagedCopy> for DamagedCopy {
    fn from(copy: cenote_store::DamagedCopy) -> Self {
        let cenote_store::DamagedCopy { blob, place, found, what, objects } = copy;
        let objects = objects.iter().map(ToString::to_string).collect();
        Self { blob: blob.to_string(), place, found: Instant(found), detail: what, objects }
    }
}
