//! Showing quotas with their counts.

use std::collections::HashMap;

use cenote_kv::ScanOptions;

use super::above::NOT_COUNTED;
use super::count::held;
use super::edit::no_quota;
use crate::access::{Act, Chain, Operation};
use crate::catalog::{QuotaKind, QuotaRecord, Reads, Record, TrashRecord, View, keys};
use crate::model::{
    Counted, PersonId, PersonKind, QuotaLimits, QuotaOf, QuotaTotal, Resource, ResourceId, Time,
};
use crate::people::{self, name_of};
use crate::resources::find;
use crate::{Caller, QuotaTarget, Result, Store};

/// A quota and its totals.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quota {
    /// What it limits.
    pub of: QuotaOf,
    /// The path of the collection, or the name of the user or group.
    pub name: String,
    /// Never exceeded.
    pub hard: QuotaLimits,
    /// May be exceeded for a time.
    pub soft: QuotaLimits,
    /// For how many seconds.
    pub grace: u64,
    /// How much there is; none while what was there when it was set is being counted. Nothing is refused until then.
    pub total: Option<QuotaTotal>,
    /// What of that was removed and can be restored, as far as it has been counted, versions not counted.
    pub removed: QuotaTotal,
    /// When the soft limit that is exceeded becomes a hard one.
    pub until: Option<Time>,
}

impl Store {
    /// The quotas that the caller may see: of a collection in which they may create something or whose quota they may set, their
    /// own, and those of their groups; with [`Act::People`] those of everybody.
    /// With a target, only those that bear on it: of a collection, its own and those of the collections above.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`](crate::ErrorKind::NotFound) if the target is not seen.
    pub fn quotas(&self, caller: &Caller, target: Option<&QuotaTarget>) -> Result<Vec<Quota>> {
        seen_by(&self.view()?, caller, target)
    }

    /// One quota, for any caller.
    pub(super) fn shown_quota(&self, id: u64) -> Result<Quota> {
        let view = self.view()?;
        let record = view.get::<QuotaRecord>(&keys::quota(id))?.ok_or_else(|| no_quota(id))?;
        let name = name(&view, id, &record)?.unwrap_or_default();
        let one = [(id, record.clone(), name.clone())];
        let removed = removed(&view, &one)?;
        show(&view, id, record, name, &removed)
    }
}

/// The quotas that a caller may see, as [`Store::quotas`].
pub(crate) fn seen_by(
    view: &View,
    caller: &Caller,
    target: Option<&QuotaTarget>,
) -> Result<Vec<Quota>> {
    let within = match target {
        Some(QuotaTarget::Collection(at)) => Some(find(view, caller, at, Operation::Stat)?),
        _ => None,
    };
    let person = match target {
        Some(QuotaTarget::User(name)) => Some(people::find(view, name, PersonKind::User)?),
        Some(QuotaTarget::Group(name)) => Some(people::find(view, name, PersonKind::Group)?),
        _ => None,
    };
    let mut quotas = Vec::new();
    for row in view.snapshot.scan(&keys::quotas(), ScanOptions::default()) {
        crate::waiting::go_on()?;
        let (key, value) = row?;
        let id = keys::first_id(&key).unwrap_or_default();
        let record = QuotaRecord::from_value(&value)?;
        let bears = within.as_ref().is_none_or(|chain| chain.contains(ResourceId(id)))
            && person.is_none_or(|person| person.0 == id);
        if bears && let Some(name) = seen(view, caller, id, &record)? {
            quotas.push((id, record, name));
        }
    }
    let removed = removed(view, &quotas)?;
    let shown = quotas.into_iter().map(|(id, record, name)| show(view, id, record, name, &removed));
    shown.collect()
}

/// The name of what has a quota, if the caller may see the quota.
fn seen(view: &View, caller: &Caller, id: u64, record: &QuotaRecord) -> Result<Option<String>> {
    let may = match record.kind {
        QuotaKind::Collection => {
            let chain = Chain::read(view, ResourceId(id))?;
            chain.is_some_and(|chain| may_see(caller, &chain))
        }
        QuotaKind::User if record.count == NOT_COUNTED => false,
        QuotaKind::User => caller.user().0 == id || caller.may(Act::People),
        QuotaKind::Group => caller.groups().contains(&PersonId(id)) || caller.may(Act::People),
    };
    if may { name(view, id, record) } else { Ok(None) }
}

fn may_see(caller: &Caller, chain: &Chain) -> bool {
    let above = chain.collection();
    let may_set = above.is_some_and(|above| above.rights(caller).allow(Operation::SetQuota));
    let rights = chain.rights(caller);
    rights.allow(Operation::Stat) && (may_set || rights.allow(Operation::Create))
}

fn name(view: &View, id: u64, record: &QuotaRecord) -> Result<Option<String>> {
    Ok(match record.of(id) {
        QuotaOf::Collection(id) => Chain::read(view, id)?.map(|chain| chain.path().to_string()),
        QuotaOf::User(id) | QuotaOf::Group(id) => Some(name_of(view, id)?),
    })
}

fn show(
    view: &View,
    id: u64,
    record: QuotaRecord,
    name: String,
    removed: &HashMap<Counted, QuotaTotal>,
) -> Result<Quota> {
    let total = held(view, record.count)?;
    let total = QuotaTotal {
        bytes: total.bytes.max(0).unsigned_abs(),
        resources: total.resources.max(0).unsigned_abs(),
    };
    let counted = Counted { of: id, count: record.count };
    Ok(Quota {
        of: record.of(id),
        name,
        until: record.until(),
        hard: record.hard,
        soft: record.soft,
        grace: record.grace,
        total: (!record.counting).then_some(total),
        removed: removed.get(&counted).copied().unwrap_or_default(),
    })
}

/// The items of the trash, by the quotas for which they count.
///
/// Cost: each item of the trash.
fn removed(
    view: &View,
    quotas: &[(u64, QuotaRecord, String)],
) -> Result<HashMap<Counted, QuotaTotal>> {
    let mut totals = HashMap::<Counted, QuotaTotal>::new();
    if quotas.is_empty() {
        return Ok(totals);
    }
    for row in view.snapshot.scan(&keys::all_trash(), ScanOptions::default()) {
        crate::waiting::go_on()?;
        let (key, value) = row?;
        let id = ResourceId(keys::first_id(&key).unwrap_or_default());
        // Damage is reported by a check.
        let Ok(TrashRecord { amount: Some(amount), .. }) = TrashRecord::from_value(&value) else {
            continue;
        };
        let Some(resource) = view.get::<Resource>(&keys::resource(id))? else { continue };
        for counted in resource.counting.iter().flat_map(|counting| &counting.removed_from) {
            let total = totals.entry(*counted).or_default();
            total.bytes = total.bytes.saturating_add(amount.bytes);
            total.resources += amount.resources;
        }
    }
    Ok(totals)
}
