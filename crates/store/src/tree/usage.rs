//! How much there is: below a collection, and in the whole store.

use crate::access::{Act, Operation};
use crate::catalog::Reads;
use crate::catalog::keys::Counter;
use crate::model::{At, Kind, Stat};
use crate::resources::{Walk, locate};
use crate::trash::TrashTotal;
use crate::{Caller, Error, Result, Store};

/// Totals below a collection, as far as the caller may see it.
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

/// Counts of the whole store. Counts over all resources are shown only to callers who may see all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreStats {
    /// Resources, the root not counted.
    pub resources: Option<u64>,
    /// Bytes of contents.
    pub bytes: Option<u64>,
    /// What was removed and can be restored; in the numbers above, too.
    pub removed: Option<TrashTotal>,
    /// The catalog's engine.
    pub engine: &'static str,
    /// The places for contents, and how many bytes each has free, where that can be known.
    pub places: Vec<(String, Option<u64>)>,
    /// Jobs that wait.
    pub jobs: Option<usize>,
}

impl Store {
    /// Sums up what is below a collection, which needs `Rights::LIST` on it, or describes one object, which needs
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
        if caller.may(Act::Trash) {
            usage.removed = self.trash_below(&view, caller, top.id())?;
        }
        let mut walk = Walk::below(&view, caller, top);
        while let Some(entry) = walk.step()? {
            usage.add(&entry);
        }
        Ok(usage)
    }

    /// Counts of the whole store, from its counters. Needs [`Act::Names`], and [`Act::Inspect`] for the counts.
    pub fn stats(&self, caller: &Caller) -> Result<StoreStats> {
        caller.require(Act::Names)?;
        let view = self.view()?;
        let counted = caller.may(Act::Inspect);
        let resources = || view.counter(0, Counter::Resources).map(|n| n.max(0).unsigned_abs());
        // Bytes are never negative: a negative counter is a value above `i64::MAX`.
        let bytes = || view.counter(0, Counter::Bytes).map(|n| n as u64);
        let known = self.known();
        let places = known.opened().map(|(id, place)| (known.name(id), place.free_space()));
        Ok(StoreStats {
            resources: counted.then(resources).transpose()?,
            bytes: counted.then(bytes).transpose()?,
            removed: counted.then(|| TrashTotal::read(&view)).transpose()?,
            engine: self.parts().engine.name(),
            places: places.collect(),
            jobs: counted.then(|| self.pending_jobs()).transpose()?,
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
