//! Changing access lists, and showing them as people know them.

use super::{Chain, Operation};
use crate::catalog::{ChangeKind, Reads};
use crate::model::{At, Changed, Grant, PersonId, Rights, Scope, Setting, Stat, StorePath};
use crate::people::{principal, principal_name};
use crate::resources::{count_change, find, update};
use crate::{Caller, Error, ErrorKind, Result, Store};

/// One change of an access list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessChange {
    /// Removes all lines.
    Clear,
    /// The rights of a principal, by name. An entry of which nothing is left is removed.
    Grant(String, Setting, Scope),
    /// Whether defaults of the collections above apply here.
    Closed(bool),
    /// Whether resources created here get a copy of the grants.
    Inherit(bool),
    /// Whether resources created here get no entry for their creator.
    NoCreator(bool),
}

/// A line that bears on a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantView {
    /// Who.
    pub person: PersonId,
    /// Their name.
    pub name: String,
    /// What they may do.
    pub rights: Rights,
    /// How far the line reaches.
    pub scope: Scope,
    /// The resource that has the line.
    pub from: StorePath,
}

impl Store {
    /// The lines that bear on a resource: its own, and those that reach it from above. Needs
    /// [`Rights::READ_DESCRIPTION`] or [`Rights::CONTROL`].
    pub fn access(&self, caller: &Caller, at: &At) -> Result<(Stat, Vec<GrantView>)> {
        let view = self.view()?;
        let chain = find(&view, caller, at, Operation::ShowAccess)?;
        let mut lines = Vec::new();
        let mut from = chain.path();
        for (distance, resource) in chain.resources().enumerate() {
            for grant in
                resource.access.grants.iter().filter(|g| distance == 0 || g.scope != Scope::This)
            {
                lines.push(GrantView::new(&view, grant, &from)?);
            }
            from = from.split_last().map_or_else(StorePath::root, |(above, _)| above);
        }
        Ok((chain.into(), lines))
    }

    /// Changes an access list: all of it or nothing. Needs [`Rights::CONTROL`].
    pub fn change_access(
        &self,
        caller: &Caller,
        at: &At,
        changes: &[AccessChange],
    ) -> Result<Stat> {
        self.transact(|tx| {
            let chain = find(tx, caller, at, Operation::ChangeAccess)?;
            let mut stat = Stat::from(chain.clone());
            let access = &mut stat.resource.access;
            for change in changes {
                match change {
                    AccessChange::Grant(name, setting, scope) => {
                        let person = principal(tx, name)?.ok_or_else(|| unknown(name))?;
                        let rights = setting.applied_to(access.of(person, *scope));
                        access.set(person, rights, *scope);
                    }
                    AccessChange::Clear => access.grants.clear(),
                    AccessChange::NoCreator(is_so) => access.no_creator = is_so.then_some(true),
                    AccessChange::Closed(closed) => access.closed = *closed,
                    AccessChange::Inherit(inherit) => access.inherit = *inherit,
                }
            }
            record(tx, caller, &chain, &mut stat);
            Ok(stat)
        })
    }
}

fn record(tx: &mut crate::catalog::Transaction, caller: &Caller, chain: &Chain, stat: &mut Stat) {
    if stat.resource.access != chain.resource().access {
        count_change(tx, &mut stat.resource, Changed::Access, caller.user());
        update(tx, ChangeKind::Granted, stat.id, chain.resource(), &stat.resource);
    }
}

impl GrantView {
    pub(super) fn new(reads: &impl Reads, grant: &Grant, from: &StorePath) -> Result<Self> {
        let Grant { person, rights, scope } = *grant;
        let name = principal_name(reads, person)?;
        Ok(Self { person, name, rights, scope, from: from.clone() })
    }
}

pub(super) fn unknown(name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("no such user or group: {name:.64}")).with_hint(
        "`public` stands for everyone who is logged in, `anonymous` for everyone who is not, `role:admin` for those with that role",
    )
}
