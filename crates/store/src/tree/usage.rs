//! How much there is: below a collection, and in the whole store.

use crate::access::Operation;
use crate::catalog::Reads;
use crate::catalog::keys::Counter;
use crate::model::{At, Kind, Stat};
use crate::trash::TrashTotal;
use crate::tree::{Walk, locate};
use crate::{Caller, Error, Result, Store};

/// What lies below a collection, as far as the caller may see it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Usage {
    /// Resources that are no collections.
    pub objects: u64,
    /// Collections.
    pub collections: u64,
    /// Bytes of contents; those of versions and copies in several places do not count.
    pub bytes: u64,
    /// What was removed from below it and can be restored by the caller; not in the numbers above.
    pub removed: TrashTotal,
}

/// What the whole store holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStats {
    /// Resources, the root not counted.
    pub resources: u64,
    /// Bytes of contents.
    pub bytes: u64,
    /// What was removed and can be restored; in the numbers above, too.
    pub removed: TrashTotal,
    /// The catalog's engine.
    pub engine: &'static str,
    /// The places for contents, and how many bytes each has free, where that can be known.
    pub places: Vec<(String, Option<u64>)>,
    /// Jobs that wait.
    pub jobs: usize,
}

impl Store {
    /// Adds up what lies below a collection, which needs `Rights::LIST` on it, or tells about one object, which needs
    /// `Rights::READ_DESCRIPTION`.
    pub fn usage(&self, caller: &Caller, at: &At) -> Result<Usage> {
        let view = self.view()?;
        let top = locate(&view, at)?.ok_or_else(|| Error::not_found(at))?;
        let mut usage = Usage::default();
        if top.resource().kind != Kind::Collection {
            top.require(caller, Operation::Stat, at)?;
            usage.add(&Stat::from(top));
            return Ok(usage);
        }
        top.require(caller, Operation::Usage, at)?;
        if caller.require_login().is_ok() {
            usage.removed = self.trash_below(&view, caller, top.id())?;
        }
        let mut walk = Walk::below(&view, caller, top);
        while let Some(entry) = walk.step()? {
            usage.add(&entry);
        }
        Ok(usage)
    }

    /// What the whole store holds, from its counters.
    pub fn stats(&self) -> Result<StoreStats> {
        let view = self.view()?;
        let count = |what| Ok::<_, crate::Error>(view.counter(0, what)?.max(0).unsigned_abs());
        let known = self.known();
        let places = known.opened().map(|(id, place)| (known.name(id), place.free_space()));
        Ok(StoreStats {
            resources: count(Counter::Resources)?,
            // As many as that are never below zero.
            bytes: view.counter(0, Counter::Bytes)? as u64,
            removed: TrashTotal::read(&view)?,
            engine: self.parts().engine.name(),
            places: places.collect(),
            jobs: self.pending_jobs()?,
        })
    }
}

impl Usage {
    fn add(&mut self, entry: &Stat) {
        match entry.resource.kind {
            Kind::Collection => self.collections += 1,
            _ => self.objects += 1,
        }
        self.bytes = self.bytes.saturating_add(entry.size());
    }
}
