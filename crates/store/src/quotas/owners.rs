//! Quotas of users and groups.
//!
//! Invariants: the record of a user names the counts of the groups with a quota that they are in, so that a commit finds all of them in
//! one record; and the root records that somebody has a quota, so that nothing is looked up if nobody has one. Whenever somebody joins
//! or leaves a group with a quota, what its members own is counted again.

use std::collections::BTreeSet;

use super::above::{NOT_COUNTED, forget, of_owner};
use super::count::itself;
use super::edit::{QuotaSetting, begin, no_quota, note_use, unlimited};
use crate::access::Act;
use crate::catalog::{JobRecord, QuotaKind, QuotaRecord, Reads, Transaction, keys};
use crate::model::{Counted, PersonId, PersonKind, Resource, ResourceId};
use crate::people::{find, members_of};
use crate::{Caller, Error, Result};

pub(super) fn set_on_user(
    tx: &mut Transaction,
    caller: &Caller,
    name: &str,
    setting: QuotaSetting,
    count: u64,
) -> Result<u64> {
    let user = person(tx, caller, name, PersonKind::User)?;
    let known = tx.get::<QuotaRecord>(&keys::quota(user.0))?;
    match known {
        Some(record) if record.count != NOT_COUNTED => {
            tx.put(keys::quota(user.0), &setting.apply(record));
        }
        Some(record) => {
            tx.put(
                keys::quota(user.0),
                &setting.apply(QuotaRecord { count, counting: true, ..record }),
            );
            tx.put(keys::job(count), &JobRecord::Count(user.0));
        }
        None => begin(tx, user.0, QuotaKind::User, setting, count),
    }
    note_use(tx, true)?;
    Ok(user.0)
}

pub(super) fn set_on_group(
    tx: &mut Transaction,
    caller: &Caller,
    name: &str,
    setting: QuotaSetting,
    count: u64,
) -> Result<u64> {
    let group = person(tx, caller, name, PersonKind::Group)?;
    if group == PersonId::PUBLIC {
        return Err(Error::invalid(format!("everyone is in this group: {name}"))
            .with_hint("set the quota of the root instead (`cenote quota set /`)"));
    }
    if let Some(record) = tx.get::<QuotaRecord>(&keys::quota(group.0))? {
        tx.put(keys::quota(group.0), &setting.apply(record));
        return Ok(group.0);
    }
    begin(tx, group.0, QuotaKind::Group, setting, count);
    for user in members_of(tx, group)? {
        join(tx, user, Counted { of: group.0, count })?;
    }
    note_use(tx, true)?;
    Ok(group.0)
}

pub(super) fn remove_from_user(tx: &mut Transaction, caller: &Caller, name: &str) -> Result<()> {
    let user = person(tx, caller, name, PersonKind::User)?;
    let record = tx.get::<QuotaRecord>(&keys::quota(user.0))?;
    let record = record.filter(|record| record.count != NOT_COUNTED);
    let record = record.ok_or_else(|| no_quota(name))?;
    forget(tx, record.count);
    keep_user(tx, user, QuotaRecord { groups: record.groups, ..unlimited(QuotaKind::User) });
    Ok(())
}

pub(super) fn remove_from_group(tx: &mut Transaction, caller: &Caller, name: &str) -> Result<()> {
    let group = person(tx, caller, name, PersonKind::Group)?;
    if !tx.has(&keys::quota(group.0))? {
        return Err(no_quota(name));
    }
    drop_group(tx, group)
}

fn person(tx: &Transaction, caller: &Caller, name: &str, kind: PersonKind) -> Result<PersonId> {
    caller.require(Act::People)?;
    find(tx, name, kind)
}

/// Charges what a user owns to a group from now on.
fn join(tx: &mut Transaction, user: PersonId, group: Counted) -> Result<()> {
    let record = tx.get::<QuotaRecord>(&keys::quota(user.0))?;
    let mut record = record.unwrap_or_else(|| unlimited(QuotaKind::User));
    record.groups.push(group);
    keep_user(tx, user, record);
    Ok(())
}

/// Charges it to that group no more.
fn leave(tx: &mut Transaction, user: PersonId, group: PersonId) -> Result<()> {
    if let Some(mut record) = tx.get::<QuotaRecord>(&keys::quota(user.0))? {
        record.groups.retain(|counted| counted.of != group.0);
        keep_user(tx, user, record);
    }
    Ok(())
}

/// Writes the record of a user, unless it is empty.
fn keep_user(tx: &mut Transaction, user: PersonId, record: QuotaRecord) {
    match record.count == NOT_COUNTED && record.groups.is_empty() {
        true => tx.delete(keys::quota(user.0)),
        false => tx.put(keys::quota(user.0), &record),
    }
}

fn drop_group(tx: &mut Transaction, group: PersonId) -> Result<()> {
    let Some(record) = tx.get::<QuotaRecord>(&keys::quota(group.0))? else { return Ok(()) };
    forget(tx, record.count);
    tx.delete(keys::quota(group.0));
    for user in members_of(tx, group)? {
        leave(tx, user, group)?;
    }
    Ok(())
}

/// Counts a group again under another count. To be called before `joining` join and `leaving` leave it; returns whether it has a
/// quota.
pub(crate) fn change_members(
    tx: &mut Transaction,
    group: PersonId,
    (joining, leaving): (&[PersonId], &[PersonId]),
    count: impl FnOnce() -> Result<u64>,
) -> Result<bool> {
    let key = keys::quota(group.0);
    let Some(record) = tx.get::<QuotaRecord>(&key)? else { return Ok(false) };
    let (mut members, count) = (BTreeSet::from_iter(members_of(tx, group)?), count()?);
    members.extend(joining);
    for user in members {
        leave(tx, user, group)?;
        if !leaving.contains(&user) {
            join(tx, user, Counted { of: group.0, count })?;
        }
    }
    forget(tx, record.count);
    tx.put(key, &QuotaRecord { count, counting: true, over_since: None, ..record });
    tx.put(keys::job(count), &JobRecord::Count(group.0));
    Ok(true)
}

/// Deletes the quota of a user or a group that is removed. To be called before they leave their groups, or their members them.
pub(crate) fn erase_person(tx: &mut Transaction, id: PersonId, kind: PersonKind) -> Result<()> {
    if kind == PersonKind::Group {
        return drop_group(tx, id);
    }
    if let Some(record) = tx.get::<QuotaRecord>(&keys::quota(id.0))? {
        if record.count != NOT_COUNTED {
            forget(tx, record.count);
        }
        tx.delete(keys::quota(id.0));
    }
    Ok(())
}

/// Counts a resource for its new owner, and no longer for the one before.
pub(crate) fn change_owner(
    tx: &mut Transaction,
    id: ResourceId,
    old: &Resource,
    new: &Resource,
) -> Result<()> {
    let is_counted = !of_owner(tx, old.owner)?.is_empty() || !of_owner(tx, new.owner)?.is_empty();
    if old.owner != new.owner && is_counted {
        let amount = itself(tx, id, new)?;
        tx.tallies.count(old, -amount);
        tx.tallies.count(new, amount);
    }
    Ok(())
}
