//! Who works on which copy of a blob just now, so that no copy is deleted while it is made.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use crate::BlobId;
use crate::model::PlaceId;

type Copy = (BlobId, PlaceId);

/// The copies that somebody is making or deleting.
#[derive(Debug, Default, Clone)]
pub(crate) struct Claims(Arc<Mutex<HashSet<Copy>>>);

/// The right to make or delete one copy, until it is dropped.
#[derive(Debug)]
pub(crate) struct Claim {
    claims: Claims,
    copy: Copy,
}

impl Claims {
    /// None, if somebody else has it.
    pub(crate) fn take(&self, blob: BlobId, place: PlaceId) -> Option<Claim> {
        let copy = (blob, place);
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(copy);
        taken.then(|| Claim { claims: self.clone(), copy })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.claims.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.copy);
    }
}
