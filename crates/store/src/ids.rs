//! Ids come in blocks: one small commit reserves a thousand, and what a stopped process
//! leaves of its block is never used.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use minicbor::{Decode, Encode};

use crate::catalog::{Reads, Transaction, keys};
use crate::model::FIRST_FREE_ID;
use crate::{Result, Store};

const BLOCK: u64 = 1_000;

/// The ids that this process may still give.
#[derive(Debug, Default)]
pub(crate) struct Ids {
    free: Mutex<Range<u64>>,
}

#[derive(Debug, Encode, Decode)]
struct NextId(#[n(0)] u64);

impl Ids {
    pub(crate) fn next(&self, store: &Store) -> Result<u64> {
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        if free.is_empty() {
            *free = reserve(store)?;
        }
        let id = free.start;
        free.start += 1;
        Ok(id)
    }

    /// Returns nothing more of the current block.
    pub(crate) fn forget(&self) {
        *self.free.lock().unwrap_or_else(PoisonError::into_inner) = 0..0;
    }
}

/// The first id that no block holds yet.
pub(crate) fn next_id(reads: &impl Reads) -> Result<u64> {
    let next = reads.get::<NextId>(&keys::setting("next-id"))?;
    Ok(next.map_or(FIRST_FREE_ID, |next| next.0))
}

/// Sets that, if it was too low.
pub(crate) fn set_next_id(tx: &mut Transaction, next: u64) {
    tx.put(keys::setting("next-id"), &NextId(next.max(FIRST_FREE_ID)));
}

fn reserve(store: &Store) -> Result<Range<u64>> {
    store.transact(|tx| {
        tx.frees_space();
        let start = next_id(tx)?;
        set_next_id(tx, start + BLOCK);
        Ok(start..start + BLOCK)
    })
}
