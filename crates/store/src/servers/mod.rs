//! The servers that have one catalog open: which of them are there, and which of them works in the background.
//!
//! Each shows itself by a row, whose number it increases every [`BEAT`]. Whoever has seen a row unchanged for [`SILENT`] on its own
//! clock removes it, with all that the server held; so no two clocks are compared. A server that finds its row gone goes on
//! under another id, and holds nothing any more.
//!
//! Invariants: the background work is that of one server ([`Store::leads`]), which stops by its own clock before the others take it
//! over; whatever a server holds is released in the commit that removes its row. In a catalog of one process there are no such rows.

pub(crate) mod copies;
mod copy_claim;
mod others;
mod reading;
#[cfg(test)]
pub(crate) mod testing;

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use tokio::sync::Notify;

pub(crate) use self::copy_claim::CopyClaim;
use self::copy_claim::DroppedClaim;
use self::others::Others;
use crate::catalog::{
    HolderRecord, KeyRecord, Reads, Record, ServerId, ServerRecord, Transaction, keys,
};
use crate::model::Time;
use crate::{Result, Store};

/// Time between two signs of life.
pub(crate) const BEAT: Duration = Duration::from_secs(2);
/// A server acts on what it holds for so long after its last sign of life. What it has begun then is over before [`SILENT`].
const SURE: Duration = Duration::from_secs(8);
/// A server that showed nothing for so long is gone.
const SILENT: Duration = Duration::from_secs(20);

/// What a server knows of itself and of the others.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    state: Mutex<State>,
    /// One sign of life at a time.
    turn: Mutex<()>,
    /// Rings when a claim was dropped whose row is still there.
    dropped: Notify,
    tag: OnceLock<Tag>,
}

/// Differs between processes, and begins the ids of what a process has in its memory.
pub(crate) type Tag = [u8; 4];

#[derive(Debug, Default)]
struct State {
    own: Option<Own>,
    others: Others,
    /// Claims that were dropped.
    left: Vec<DroppedClaim>,
}

/// A server as it has shown itself last.
#[derive(Debug, Clone, Copy)]
struct Own {
    id: ServerId,
    beat: u64,
    leads: bool,
    /// Before its last sign of life: on the clock of the store, and on one that nobody sets.
    shown: (Time, Duration),
}

impl Store {
    /// Whether the background work of the store is that of this process now.
    pub fn leads(&self) -> bool {
        let leads = || self.inner.servers.own().is_some_and(|own| own.leads && self.is_sure(&own));
        !self.is_shared() || leads()
    }

    /// The id of this server while what it holds is certainly its own.
    pub(crate) fn own_id(&self) -> Option<ServerId> {
        self.inner.servers.own().filter(|own| self.is_sure(own)).map(|own| own.id)
    }

    /// Neither a clock that was set nor a machine that was asleep makes it longer.
    fn is_sure(&self, own: &Own) -> bool {
        let clock = &self.parts().clock;
        let (time, steady) = own.shown;
        let passed = clock.now().nanos().saturating_sub(time.nanos());
        (0..SURE.as_nanos() as i64).contains(&passed)
            && clock.steady().saturating_sub(steady) < SURE
    }

    /// What the ids of this process begin with, if several may have the catalog open.
    pub(crate) fn tag(&self) -> Option<Tag> {
        self.is_shared().then(|| *self.inner.servers.tag.get_or_init(|| self.random()))
    }

    /// A key that all servers over a shared catalog have, made when it is first wanted; none in a catalog of one process.
    pub fn shared_key(&self, name: &str) -> Result<Option<[u8; 32]>> {
        if !self.is_shared() {
            return Ok(None);
        }
        let fresh: [u8; 32] = self.random();
        let key = self.itself().transact(|tx| {
            let row = keys::shared_key(name);
            match tx.get::<KeyRecord>(&row)? {
                Some(known) => Ok(known.key),
                None => {
                    tx.put(row, &KeyRecord { key: fresh });
                    Ok(fresh)
                }
            }
        });
        key.map(Some)
    }

    /// Shows a sign of life over a shared catalog, takes over the background work if nobody has it, and removes servers that are gone.
    pub fn beat(&self) -> Result<()> {
        if !self.is_shared() {
            return Ok(());
        }
        let itself = self.itself();
        let _turn = self.inner.servers.turn.lock().unwrap_or_else(PoisonError::into_inner);
        itself.show_life()?;
        itself.remove_silent()?;
        itself.return_left()?;
        itself.decide()
    }

    fn show_life(&self) -> Result<()> {
        let clock = &self.parts().clock;
        let shown = (clock.now(), clock.steady());
        let (before, fresh, reading) =
            (self.inner.servers.own(), self.random(), self.reading_since());
        let own = self.transact(|tx| {
            let (id, beat) = match before {
                Some(own) if tx.has(&keys::server(own.id))? => (own.id, own.beat + 1),
                _ => (fresh, 1),
            };
            tx.frees_space();
            let newest_format = Some(self.parts().formats.newest);
            tx.put(keys::server(id), &ServerRecord { beat, reading, newest_format });
            let leader = tx.get::<HolderRecord>(&keys::upkeep())?;
            if leader.is_none() {
                tx.put(keys::upkeep(), &HolderRecord { server: id });
            }
            let leads = leader.is_none_or(|leader| leader.server == id);
            Ok(Own { id, beat, leads, shown })
        })?;
        if own.leads && !before.is_some_and(|before| before.leads) {
            tracing::info!("this server does the background work of the store");
        }
        self.inner.servers.state().own = Some(own);
        Ok(())
    }

    fn remove_silent(&self) -> Result<()> {
        let rows = self.view()?.rows(&keys::servers(), usize::MAX)?;
        let steady = self.parts().clock.steady();
        let silent = self.inner.servers.state().others.silent(&rows, steady);
        for (row, last) in silent {
            self.transact(|tx| {
                // It has shown itself since.
                if tx.value(&row)?.as_ref() != Some(&last) {
                    return Ok(());
                }
                remove(tx, keys::server_id(&row))
            })?;
            tracing::warn!("a server over the same catalog is gone");
        }
        Ok(())
    }

    /// Ends what this server holds, so that others need not wait until it is missed.
    pub fn leave(&self) -> Result<()> {
        let _turn = self.inner.servers.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(own) = self.inner.servers.state().own.take() else { return Ok(()) };
        self.itself().transact(|tx| remove(tx, own.id))
    }
}

impl Servers {
    fn own(&self) -> Option<Own> {
        self.state().own
    }

    fn leave_behind(&self, left: DroppedClaim) {
        self.state().left.push(left);
        self.dropped.notify_one();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Removes a server and all that it holds.
fn remove(tx: &mut Transaction, id: ServerId) -> Result<()> {
    tx.frees_space();
    tx.delete(keys::server(id));
    let mut held = tx.rows(&keys::copy_claims(), usize::MAX)?;
    let upkeep = keys::upkeep();
    held.extend(tx.value(&upkeep)?.map(|holder| (upkeep, holder)));
    for (row, holder) in held {
        if HolderRecord::from_value(&holder)?.server == id {
            tx.delete(row);
        }
    }
    Ok(())
}
