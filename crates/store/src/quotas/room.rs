//! Whether a quota leaves room, before anything is written. The commit decides; this spares a caller who would be refused the bytes
//! that they would send, and distinguishes the items of a batch.

use super::above::quotas_in;
use super::kept::least_growth;
use super::settle::{counters, measures};
use super::{Delta, Exceeded};
use crate::access::{Chain, Slot};
use crate::catalog::{QuotaRecord, Reads, Record, keys};
use crate::model::{PersonId, Time};
use crate::{Caller, Result};

/// Refuses what would exceed a quota now: a content of this size at a slot.
pub(crate) fn require_room(
    reads: &impl Reads,
    now: Time,
    slot: &Slot,
    size: u64,
    caller: &Caller,
) -> Result<()> {
    let size = i64::try_from(size).unwrap_or(i64::MAX);
    match slot {
        Slot::Occupied(chain) => {
            let (resource, Some(collection)) = (chain.resource(), chain.collection()) else {
                return Ok(());
            };
            require(reads, now, (&collection, resource.owner), || {
                Ok(Delta::bytes(least_growth(reads, chain, size)?))
            })
        }
        Slot::Vacant(free) => {
            let resources = 1 + free.missing.len() as i64;
            let owner = caller.owner_in(&free.above);
            require(reads, now, (&free.above, owner), || Ok(Delta { bytes: size, resources }))
        }
    }
}

fn require(
    reads: &impl Reads,
    now: Time,
    (collection, owner): (&Chain, PersonId),
    more: impl FnOnce() -> Result<Delta>,
) -> Result<()> {
    let quotas = quotas_in(reads, collection, owner)?;
    if quotas.is_empty() {
        return Ok(());
    }
    let more = more()?;
    let keys: Vec<_> = quotas.iter().map(|counted| keys::quota(counted.of)).collect();
    for (counted, value) in quotas.into_iter().zip(reads.values(&keys)?) {
        let record = value.map(|value| QuotaRecord::from_value(&value)).transpose()?;
        if let Some(record) = record.filter(|record| record.count == counted.count) {
            require_of(reads, now, counted.of, &record, more)?;
        }
    }
    Ok(())
}

fn require_of(
    reads: &impl Reads,
    now: Time,
    of: u64,
    record: &QuotaRecord,
    more: Delta,
) -> Result<()> {
    if record.counting {
        return Ok(());
    }
    let held = reads.glance(&counters(record.count))?;
    let limits = measures(&record.enforced(now)).into_iter().zip([more.bytes, more.resources]);
    for (((measure, most), more), held) in limits.zip(held) {
        if let Some(most) = most.filter(|most| more > 0 && held.saturating_add(more) > *most) {
            return Err(Exceeded::new(reads, record.of(of), measure, most, held)?.into());
        }
    }
    Ok(())
}
