//! Groups and who is in them.

use super::account::{add, by_name, name_of, nobody, person};
use super::renew::announce;
use crate::catalog::{Reads, Transaction, keys};
use crate::model::{Person, PersonId, PersonKind, Role};
use crate::quotas::change_members;
use crate::{Act, Caller, Error, Result, Store};

impl Store {
    /// Creates a group. Needs [`Act::Groups`].
    pub fn add_group(&self, caller: &Caller, name: &str) -> Result<PersonId> {
        caller.require(Act::Groups)?;
        let id = PersonId(self.new_id()?);
        self.transact(|tx| add(tx, id, name, PersonKind::Group, Role::User, None))?;
        Ok(id)
    }

    /// Puts users into a group, and takes users out. Needs [`Act::Groups`].
    pub fn change_group(
        &self,
        caller: &Caller,
        group: &str,
        join: &[String],
        leave: &[String],
    ) -> Result<()> {
        caller.require(Act::Groups)?;
        let counted = self.transact(|tx| {
            let group = find(tx, group, PersonKind::Group)?;
            let users = |names: &[String]| -> Result<Vec<PersonId>> {
                names.iter().map(|name| find(tx, name, PersonKind::User)).collect()
            };
            let (joining, leaving) = (users(join)?, users(leave)?);
            let counted = change_members(tx, group, (&joining, &leaving), || self.new_id())?;
            for user in joining {
                tx.mark(keys::member(group, user));
                record_group(tx, user, group)?;
                announce(tx, user, caller.user());
            }
            for user in leaving {
                tx.delete(keys::member(group, user));
                forget_group(tx, user, group)?;
                announce(tx, user, caller.user());
            }
            Ok(counted.then_some(group))
        })?;
        self.inner.credentials.forget_all();
        counted.map_or(Ok(()), |group| self.count_quota(group.0))
    }

    /// The names of the users in a group.
    pub fn members(&self, group: &str) -> Result<Vec<String>> {
        let view = self.view()?;
        let group = find(&view, group, PersonKind::Group)?;
        members_of(&view, group)?.into_iter().map(|id| name_of(&view, id)).collect()
    }
}

/// The users in a group.
pub(crate) fn members_of(reads: &impl Reads, group: PersonId) -> Result<Vec<PersonId>> {
    let rows = reads.rows(&keys::members(group), usize::MAX)?;
    Ok(rows.iter().filter_map(|(key, _)| keys::last_id(key)).map(PersonId).collect())
}

/// Adds a group to the record of a user, if they are one.
pub(crate) fn record_group(tx: &mut Transaction, user: PersonId, group: PersonId) -> Result<()> {
    let Some(mut record) = person(tx, user)? else { return Ok(()) };
    if let Err(place) = record.groups.binary_search(&group) {
        record.groups.insert(place, group);
        tx.put(keys::person(user), &record);
    }
    Ok(())
}

/// Removes a group from the record of a user, if it is there.
fn forget_group(tx: &mut Transaction, user: PersonId, group: PersonId) -> Result<()> {
    let Some(mut record) = person(tx, user)? else { return Ok(()) };
    if let Ok(place) = record.groups.binary_search(&group) {
        record.groups.remove(place);
        tx.put(keys::person(user), &record);
    }
    Ok(())
}

/// Removes a deleted user from every group, or all members from a deleted group.
pub(super) fn leave_all(
    tx: &mut Transaction,
    (id, person): (PersonId, &Person),
    by: PersonId,
) -> Result<()> {
    for group in &person.groups {
        tx.delete(keys::member(*group, id));
    }
    for (key, _) in tx.rows(&keys::members(id), usize::MAX)? {
        if let Some(user) = keys::last_id(&key).map(PersonId) {
            forget_group(tx, user, id)?;
            announce(tx, user, by);
        }
        tx.delete(key);
    }
    Ok(())
}

/// The user or the group of this name.
pub(crate) fn find(reads: &impl Reads, name: &str, kind: PersonKind) -> Result<PersonId> {
    let (id, person) = by_name(reads, name)?.ok_or_else(|| nobody(name))?;
    match person.kind == kind {
        true => Ok(id),
        false => Err(Error::invalid(match kind {
            PersonKind::User => format!("a group, not a user: {name}"),
            PersonKind::Group => format!("a user, not a group: {name}"),
        })),
    }
}
