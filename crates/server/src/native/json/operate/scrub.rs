//! The search for rot.

use serde::Serialize;
use utoipa::ToSchema;

use crate::native::json::Instant;
/// A round of scrubbing, in which every copy of every content is read, and the copies that are damaged now.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Scrub {
    /// When the round began that is under way, or the last one; null before the first.
    pub(crate) begun: Option<Instant>,
    /// When it ended; null while it is under way.
    pub(crate) ended: Option<Instant>,
    /// How much of the store it has seen, about.
    pub(crate) percent: u8,
    /// The blobs that it has seen.
    pub(crate) blobs: u64,
    /// The bytes of their copies.
    pub(crate) bytes: u64,
    /// The copies that it found damaged or gone.
    pub(crate) found: u64,
    /// Copies that are damaged and could not be mended, whoever found them.
    pub(crate) damaged: Vec<DamagedCopy>,
}

/// A copy of a blob that is damaged.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct DamagedCopy {
    /// The id of the blob.
    pub(crate) blob: String,
    /// The place that the copy is in.
    pub(crate) place: String,
    /// When the damage was found.
    #[schema(value_type = String, format = DateTime)]
    pub(crate) found: Instant,
    /// What was found.
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
