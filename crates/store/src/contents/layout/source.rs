//! One copy of a blob, read wherever it is.

use std::ops::Range;

use cenote_blob::{Blocks, Digests as Inspected, Error as BlobError, ReadStream};

use crate::BlobId;
use crate::contents::damage::copies::Damage;
use crate::model::PlaceId;
use crate::places::Source;

impl Source {
    pub(crate) fn place(&self) -> PlaceId {
        match self {
            Self::Kept(place, _) | Self::Outside(place, _) => *place,
        }
    }

    pub(crate) async fn size(&self, id: BlobId) -> Result<Option<u64>, BlobError> {
        match self {
            Self::Kept(_, place) => place.size(id).await,
            Self::Outside(_, file) => file.size().await,
        }
    }

    pub(crate) fn read(&self, id: BlobId, range: Range<u64>) -> ReadStream {
        match self {
            Self::Kept(_, place) => place.read(id, range),
            Self::Outside(_, file) => file.read(id, range),
        }
    }

    pub(crate) fn read_checked(&self, id: BlobId, range: Range<u64>, blocks: Blocks) -> ReadStream {
        match self {
            Self::Kept(_, place) => place.read_checked(id, range, blocks),
            Self::Outside(_, file) => file.read_checked(id, range, blocks),
        }
    }

    /// The same for a client; what is kept on this machine will do.
    pub(crate) fn read_cached(&self, id: BlobId, range: Range<u64>, blocks: Blocks) -> ReadStream {
        match self {
            Self::Kept(_, place) => place.read_cached(id, range, blocks),
            Self::Outside(_, file) => file.read_checked(id, range, blocks),
        }
    }

    pub(crate) async fn inspect(
        &self,
        id: BlobId,
        size: u64,
    ) -> Result<(Inspected, Blocks), BlobError> {
        match self {
            Self::Kept(_, place) => place.inspect(id, size).await,
            Self::Outside(_, file) => file.inspect(id, size).await,
        }
    }

    pub(crate) fn read_verified(&self, id: BlobId, size: u64, sha256: [u8; 32]) -> ReadStream {
        match self {
            Self::Kept(_, place) => place.read_verified(id, size, sha256),
            Self::Outside(_, file) => file.read_verified(id, size, sha256),
        }
    }

    /// Notes a copy whose bytes are not what they should be. A file that was registered may not be there yet.
    pub(crate) fn blame(&self, id: BlobId, error: &BlobError, damage: &Damage) {
        let lost = match self {
            Self::Kept(..) => is_loss(error),
            Self::Outside(..) => matches!(error, BlobError::Damaged { .. }),
        };
        if lost {
            damage.note(id, self.place(), error);
        }
    }
}

/// Whether an error of a read says that the copy itself is lost, not only out of reach.
pub(crate) fn is_loss(error: &BlobError) -> bool {
    use BlobError as E;
    matches!(error, E::NotFound { .. } | E::Damaged { .. } | E::Io { .. })
}
