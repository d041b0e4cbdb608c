//! Making room: before a disk is so full that changes are refused, the trash is emptied, in the
//! order of expiry.
//!
//! Cost: a look at the disks of the catalog and of the default place for each [`LOOK`] bytes that were added.

use std::sync::atomic::{AtomicU64, Ordering};

use cenote_kv::CommitError;
use tokio::sync::Mutex;

use super::TrashTotal;
use crate::catalog::keys;
use crate::contents::LOOK;
use crate::{Result, Store};

/// Space is freed if less than this can be added to a disk,
const LOW: u64 = 1 << 30;
/// or, on a smaller one, less than this part of it.
const LOW_PART: u64 = 32;

/// When to look, and whose turn it is to make room.
#[derive(Debug, Default)]
pub(crate) struct Room {
    added: AtomicU64,
    turn: Mutex<()>,
}

impl Store {
    /// Records that a commit added this many bytes. If little space is left, upkeep frees some.
    pub(crate) fn added(&self, bytes: u64) {
        let added = &self.inner.room.added;
        if added.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes) >= LOOK {
            added.store(0, Ordering::Relaxed);
            if self.lacking() > 0 {
                self.inner.work.notify_one();
            }
        }
    }

    /// Waits until room was made, where little is left, and refuses contents that could not be published.
    pub(crate) async fn require_room(&self) -> Result<()> {
        if self.lacking() > 0
            && let Err(error) = self.itself().make_room().await
        {
            tracing::warn!(%error, "the trash could not be emptied to make room");
        }
        match self.parts().engine.has_room() {
            true => Ok(()),
            false => Err(CommitError::NoSpace.into()),
        }
    }

    /// Removes for good what expires first, as much as necessary, and frees its space.
    pub(crate) async fn make_room(&self) -> Result<()> {
        let _turn = self.inner.room.turn.lock().await;
        if self.lacking() == 0 || TrashTotal::read(&self.view()?)?.items == 0 {
            return Ok(());
        }
        self.blocking(|store| {
            // Until it is counted, its size is not known.
            store.run_jobs()?;
            store.purge_for_room()?;
            store.run_jobs()
        })
        .await?;
        self.sweep_due().await?;
        self.blocking(|store| Ok(store.parts().engine.reclaim()?)).await.map(drop)
    }

    fn purge_for_room(&self) -> Result<()> {
        let gone = self.purge_bytes(keys::all_expiries(), self.lacking())?;
        if gone.items > 0 {
            let (items, bytes) = (gone.items, gone.bytes);
            tracing::warn!(items, bytes, "a disk is nearly full: the trash was emptied in part");
        }
        Ok(())
    }

    /// How many bytes are lacking, on the disk of the catalog or where contents go, until it is no longer nearly full.
    fn lacking(&self) -> u64 {
        let catalog = self.parts().engine.room().map(|room| lacking(room.free, room.disk));
        let places = self.known().destination(None).map(|to| to.places).unwrap_or_default();
        let places = places.iter().filter_map(|(_, place)| place.space());
        let places = places.map(|space| lacking(space.free, space.disk));
        catalog.into_iter().chain(places).max().unwrap_or_default()
    }
}

fn lacking(free: u64, disk: u64) -> u64 {
    LOW.min(disk / LOW_PART).saturating_sub(free)
}
