//! Counting everything again, from the records themselves: what a check compares the counts with.

use std::collections::{BTreeMap, HashMap, HashSet};

use cenote_kv::{KeyRange, ScanOptions};

use super::Delta;
use super::above::{Count, Lies, NOT_COUNTED, above, of_owner};
use super::kept::all_versions;
use crate::catalog::{QuotaRecord, Record, View, keys};
use crate::model::{Counted, PersonId, Resource, ResourceId};
use crate::waiting::go_on;
use crate::{ErrorKind, Result};

/// What each count of a quota should hold that is not being counted yet; none if a record does not decode.
///
/// Cost: nothing without quotas; else all resources and versions, and memory for each collection.
pub(crate) fn recount(view: &View) -> Result<Option<BTreeMap<u64, Delta>>> {
    let (mut counts, mut quotas) = (BTreeMap::new(), HashMap::new());
    for row in rows(view, &keys::quotas()) {
        let (key, value) = row?;
        let Ok(record) = QuotaRecord::from_value(&value) else { return Ok(None) };
        if !record.counting && record.count != NOT_COUNTED {
            let of = keys::first_id(&key).unwrap_or_default();
            quotas.insert(Counted { of, count: record.count }, record.count);
            counts.insert(record.count, Delta::default());
        }
    }
    if counts.is_empty() {
        return Ok(Some(counts));
    }
    let Some((lying, owned)) = everything(view)? else { return Ok(None) };
    let mut count = |counted: Counted, delta: Delta| {
        if let Some(total) = quotas.get(&counted).and_then(|count| counts.get_mut(count)) {
            *total += delta;
        }
    };
    for (lies, delta) in lying {
        for above in above(view, &lies)? {
            if let Count::Quota(counted) = above {
                count(counted, delta);
            }
        }
    }
    for (owner, delta) in owned {
        of_owner(view, owner)?.into_iter().for_each(|counted| count(counted, delta));
    }
    Ok(Some(counts))
}

/// The counts that hold only what was added since a quota was set.
pub(crate) fn unsettled(view: &View) -> Result<HashSet<u64>> {
    let mut counts = HashSet::new();
    for row in rows(view, &keys::quotas()) {
        let record = QuotaRecord::from_value(&row?.1)?;
        counts.extend(record.counting.then_some(record.count));
    }
    Ok(counts)
}

/// The totals of each collection and of each owner.
type Everything = (HashMap<Lies, Delta>, HashMap<PersonId, Delta>);

/// All resources, with their versions; none if a record does not decode.
fn everything(view: &View) -> Result<Option<Everything>> {
    let mut all = Everything::default();
    let mut count = |resource: &Resource, delta: Delta| {
        *all.0.entry(Lies::of(resource)).or_default() += delta;
        *all.1.entry(resource.owner).or_default() += delta;
    };
    for row in rows(view, &keys::resources()) {
        let (key, value) = row?;
        let Ok(resource) = Resource::from_value(&value) else { return Ok(None) };
        if keys::first_id(&key) != Some(ResourceId::ROOT.0) {
            count(&resource, Delta::of(&resource));
        }
    }
    let counted = all_versions(view, |resource, bytes| count(resource, Delta::bytes(bytes)));
    match counted {
        // It is reported with the versions.
        Err(error) if error.kind() == ErrorKind::Damaged => Ok(None),
        counted => counted.map(|()| Some(all)),
    }
}

fn rows<'a>(view: &'a View, range: &KeyRange) -> impl Iterator<Item = Result<cenote_kv::Row>> + 'a {
    let rows = view.snapshot.scan(range, ScanOptions::default());
    rows.map(|row| {
        go_on()?;
        Ok(row?)
    })
}
