//! What versions count.
//!
//! Invariant: the versions of a resource count the bytes that are kept only by them. A version whose content equals that of the
//! state after it (a change of the description made it) counts nothing, so each content counts once, however often its description
//! changed. What follows the newest version is the current state, so that counts from when its bytes are replaced
//! ([`Tallies::replace`](super::Tallies::replace)).

use cenote_kv::ScanOptions;

use super::Delta;
use super::above::{Lies, above, of_owner};
use crate::Result;
use crate::access::Chain;
use crate::catalog::{Reads, Record, Transaction, VersionRecord, View, keys};
use crate::model::{PersonId, Resource, ResourceId, Versioning};
use crate::waiting::go_on;

/// Names the bytes of a content, however they are stored.
type Stamp = Option<u64>;

/// A resource that got other bytes.
#[derive(Debug, Clone)]
pub(super) struct Replaced {
    id: ResourceId,
    pub(super) of: (Lies, PersonId),
    /// The revision that had the old ones.
    revision: u64,
    old: Stamp,
    new: Stamp,
}

impl Replaced {
    /// Nothing, if the bytes are the same.
    pub(super) fn between(id: ResourceId, old: &Resource, new: &Resource) -> Option<Self> {
        let (replaced, by) = (stamp(old), stamp(new));
        (replaced != by).then(|| Self {
            id,
            of: (Lies::of(new), new.owner),
            revision: old.revision,
            old: replaced,
            new: by,
        })
    }

    /// How much more or less the newest version counts since then.
    ///
    /// Cost: nothing where there is no quota, or what was replaced was kept; else a read of all versions.
    pub(super) fn settle(&self, tx: &Transaction) -> Result<Delta> {
        let (lies, owner) = &self.of;
        if above(tx, lies)?.is_empty() && of_owner(tx, *owner)?.is_empty() {
            return Ok(Delta::default());
        }
        let key = keys::version(self.id, self.revision);
        let kept = if tx.knows(&key) { tx.get::<VersionRecord>(&key)? } else { None };
        let newest = match kept {
            Some(kept) => Some(kept),
            None => VersionRecord::all_of(tx, self.id)?.pop().map(|(_, record)| record),
        };
        let bytes = newest.map_or(0, |newest| {
            newest.counted_bytes(self.new).wrapping_sub(newest.counted_bytes(self.old))
        });
        Ok(Delta::bytes(bytes))
    }
}

impl VersionRecord {
    /// How many bytes it counts, if the state after it has the content with this stamp.
    fn counted_bytes(&self, next: Stamp) -> i64 {
        match &self.content {
            Some(content) if Some(content.stamp) != next => content.size as i64,
            _ => 0,
        }
    }
}

fn stamp(resource: &Resource) -> Stamp {
    resource.content.as_ref().map(|content| content.stamp)
}

/// How many bytes these versions of a resource count, which are all that it has, in the order of their numbers.
pub(crate) fn bytes_of_versions<'a>(
    versions: impl DoubleEndedIterator<Item = &'a VersionRecord>,
    present: &Resource,
) -> i64 {
    let (mut bytes, mut next) = (0i64, stamp(present));
    for version in versions.rev() {
        bytes = bytes.wrapping_add(version.counted_bytes(next));
        next = version.content.as_ref().map(|content| content.stamp);
    }
    bytes
}

/// How many bytes the versions of a resource count.
pub(super) fn versions_of(reads: &impl Reads, id: ResourceId, present: &Resource) -> Result<i64> {
    let versions = VersionRecord::all_of(reads, id)?;
    Ok(bytes_of_versions(versions.iter().map(|(_, version)| version), present))
}

/// The same of a resource that is read only if it has versions.
pub(super) fn versions_in(view: &View, id: ResourceId) -> Result<i64> {
    let versions = VersionRecord::all_of(view, id)?;
    let present = match versions.is_empty() {
        true => None,
        false => view.get::<Resource>(&keys::resource(id))?,
    };
    let versions = versions.iter().map(|(_, version)| version);
    Ok(present.map_or(0, |present| bytes_of_versions(versions, &present)))
}

/// By how many bytes more, at least, a resource counts with its versions once a content of this size replaces that which it has.
/// Which older versions are dropped then, the commit finds out.
pub(super) fn least_growth(reads: &impl Reads, chain: &Chain, size: i64) -> Result<i64> {
    let (id, present) = (chain.id(), chain.resource());
    let less = size.saturating_sub(Delta::of(present).bytes);
    Ok(match chain.versioning().unwrap_or_default() {
        Versioning::EachChange(retention) if retention.is_unlimited() => size,
        Versioning::EachChange(_) => less.saturating_sub(versions_of(reads, id, present)?),
        Versioning::Off | Versioning::OnRequest(_) => {
            let newest = VersionRecord::all_of(reads, id)?.pop();
            let kept = newest.map_or(0, |(_, newest)| {
                newest.counted_bytes(None).wrapping_sub(newest.counted_bytes(stamp(present)))
            });
            less.saturating_add(kept)
        }
    })
}

/// Iterates over all resources that have versions, with the bytes that these count.
pub(super) fn all_versions(view: &View, mut count: impl FnMut(&Resource, i64)) -> Result<()> {
    let mut count_all = |kept: Option<(ResourceId, Vec<VersionRecord>)>| -> Result<()> {
        let Some((id, versions)) = kept else { return Ok(()) };
        // A version without its resource is reported by a check.
        if let Some(resource) = view.get::<Resource>(&keys::resource(id))? {
            count(&resource, bytes_of_versions(versions.iter(), &resource));
        }
        Ok(())
    };
    let mut kept: Option<(ResourceId, Vec<VersionRecord>)> = None;
    for row in view.snapshot.scan(&keys::all_versions(), ScanOptions::default()) {
        go_on()?;
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        let record = VersionRecord::from_value(&value)?;
        match &mut kept {
            Some((of, versions)) if *of == id => versions.push(record),
            _ => count_all(kept.replace((id, vec![record])))?,
        }
    }
    count_all(kept)
}
