//! How bytes are received: their target, what is expected of them, and whether they are part of a whole.

use cenote_blob::{Hasher, Place, Sha256State};

use super::receive::Writing;
use crate::Store;
use crate::contents::Expected;
use crate::model::PlaceId;
use crate::places::Destination;

/// What bytes are to the SHA-256 of a whole that comes in several runs.
pub(crate) enum Running {
    /// Nothing: they are the whole.
    No,
    /// Nothing: they are a part that arrived out of order, or a patch, after which the whole is read again. A SHA-256 of them is not
    /// needed unless the sender announced one.
    Apart,
    /// It begins with them.
    Begin,
    /// Continues them from here.
    After(Sha256State),
}

/// How bytes are taken in.
pub(crate) struct Intake<'a> {
    pub(crate) destination: Destination,
    pub(crate) expected: &'a Expected,
    /// Up to how many bytes are kept in the catalog.
    pub(crate) inline: usize,
    /// Whether the SHA-256 of a whole continues with them.
    pub(crate) running: Running,
}

impl Intake<'_> {
    /// One blob, to be written to each place.
    pub(crate) fn new_blob(&self, store: &Store) -> Writing {
        let id = store.new_blob_id();
        let places = &self.destination.places;
        let claims = places.iter().filter_map(|(place, _)| store.inner.claims.take(id, *place));
        let writer = |(_, place): &(PlaceId, Place)| place.hashing_writer(id, self.hasher());
        Writing { id, claims: claims.collect(), copies: places.iter().map(writer).collect() }
    }

    fn hasher(&self) -> Hasher {
        let all = self.expected.hasher();
        let announced = self.expected.sha256.is_some();
        let of_part = |all: Hasher| if announced { all } else { all.without_sha256() };
        match &self.running {
            Running::No | Running::Begin => all,
            Running::Apart => of_part(all),
            Running::After(before) => of_part(all).after(before.clone()),
        }
    }
}

impl Running {
    pub(crate) fn is_wanted(&self) -> bool {
        !matches!(self, Self::No | Self::Apart)
    }

    pub(crate) fn state_after(&self, bytes: &[u8]) -> Option<Sha256State> {
        let mut state = match self {
            Self::No | Self::Apart => return None,
            Self::Begin => Sha256State::default(),
            Self::After(before) => before.clone(),
        };
        state.update(bytes);
        Some(state)
    }
}
