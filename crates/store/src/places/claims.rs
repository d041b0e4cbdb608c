//! Claims on copies of blobs, so that no copy is deleted while it is being made.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::BlobId;
use crate::catalog::Announced;
use crate::contents::Due;
use crate::model::PlaceId;

type Key = (BlobId, PlaceId);

/// The copies that are being made or deleted.
#[derive(Debug, Default, Clone)]
pub(crate) struct Claims {
    taken: Arc<Mutex<HashMap<Key, Fate>>>,
    due: Due,
}

/// The state of a copy that is being made or deleted.
#[derive(Debug, Default, Clone, Copy)]
struct Fate {
    settled: bool,
    /// Somebody else wanted to delete it in the meantime.
    wanted: bool,
}

/// The right to make or delete one copy, until its last clone is dropped. Unless it is known then what became of the copy, the
/// sweep looks whether the catalog knows it: its creator may have failed, or have been dropped half way.
#[derive(Debug, Clone)]
pub(crate) struct Claim(Arc<Taken>);

#[derive(Debug)]
struct Taken {
    claims: Claims,
    copy: Key,
}

impl Claims {
    /// Those of which nothing is known in the end are handed to `due`.
    pub(crate) fn new(due: Due) -> Self {
        Self { due, ..Self::default() }
    }

    /// None, if it is claimed already; the sweep then looks at the copy when the claim is released.
    pub(crate) fn take(&self, blob: BlobId, place: PlaceId) -> Option<Claim> {
        let copy = (blob, place);
        match self.taken().entry(copy) {
            Entry::Occupied(mut taken) => {
                taken.get_mut().wanted = true;
                None
            }
            Entry::Vacant(free) => {
                free.insert(Fate::default());
                Some(Claim(Arc::new(Taken { claims: self.clone(), copy })))
            }
        }
    }

    fn taken(&self) -> MutexGuard<'_, HashMap<Key, Fate>> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Claim {
    /// It is known what became of the copy: it was deleted, or the catalog knows it.
    pub(crate) fn settle(&self) {
        if let Some(fate) = self.0.claims.taken().get_mut(&self.0.copy) {
            fate.settled = true;
        }
    }
}

impl Announced for Claim {
    fn committed(&self) {
        self.settle();
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let fate = self.claims.taken().remove(&self.copy);
        if fate.is_some_and(|fate| fate.wanted || !fate.settled) {
            self.claims.due.add_copy(self.copy.0, self.copy.1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_has_one_writer_and_is_examined_if_its_state_is_unknown() {
        let due = Due::default();
        let claims = Claims::new(due.clone());
        let (blob, place) = (BlobId::from_bytes([1; 16]), PlaceId::MAIN);
        let settled = claims.take(blob, place).unwrap();
        settled.settle();
        drop(settled);
        assert!(due.take_copies().is_empty());
        let claim = claims.take(blob, place).unwrap();
        let clone = claim.clone();
        drop(claim);
        assert!(due.take_copies().is_empty() && claims.take(blob, place).is_none());
        drop(clone);
        assert_eq!(due.take_copies(), [(blob, place)]);
        let claim = claims.take(blob, place).unwrap();
        assert!(claims.take(blob, place).is_none(), "whoever comes in between");
        claim.settle();
        drop(claim);
        assert_eq!(due.take_copies(), [(blob, place)], "is not forgotten");
    }
}
