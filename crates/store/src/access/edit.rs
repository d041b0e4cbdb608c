//! Changing access lists, and showing them as people know them.
//!
//! Invariant: a restricted line names a class that a description can state, or a resource below that was seen by who set it.

use super::{Chain, Operation};
use crate::catalog::{ChangeKind, Reads, Transaction};
use crate::metadata::is_class;
use crate::model::{
    Access, At, Changed, Grant, GrantTable, Only, PersonId, ResourceId, Rights, Scope, Setting,
    Stat, StorePath,
};
use crate::people::{principal_name, principals};
use crate::resources::{count_change, find, update};
use crate::{Caller, Error, ErrorKind, Result, Store};

/// The longest access list, in lines: each decision below looks at all of them.
const MAX_LINES: usize = 10_000;

/// One change of an access list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AccessChange {
    /// Removes all lines.
    Clear,
    /// The rights of a principal, by name; [`EVERYONE`](crate::EVERYONE) is two of them. An entry of which nothing is left is removed.
    Grant(String, Setting, Scope),
    /// The same for some of the resources in the scope: a line of its own beside the one for all of them.
    GrantOnly(String, Setting, Scope, Only),
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
    /// Which of the resources in the scope the line is about, if not all.
    pub only: Option<Only>,
    /// The resource that has the line.
    pub from: StorePath,
}

impl Store {
    /// The lines that bear on a resource: its own, and those that reach it from above. Needs
    /// [`Rights::READ_DESCRIPTION`] or [`Rights::CONTROL`].
    pub fn access(&self, caller: &Caller, at: &At) -> Result<(Stat, Vec<GrantView>)> {
        let view = self.view_at(at)?;
        let chain = find(&view, caller, at, Operation::ShowAccess)?;
        let mut lines = Vec::new();
        let mut from = chain.path();
        for (distance, resource) in chain.resources().enumerate() {
            let bears = |line: &&Grant| distance == 0 || bears_below(line, chain.id());
            for grant in resource.access.grants.iter().filter(bears) {
                lines.push(GrantView::new(&view, grant, &from)?);
            }
            from = from.split_last().map_or_else(StorePath::root, |(above, _)| above);
        }
        Ok((chain.into(), lines))
    }

    /// Changes an access list: all of it or nothing. Needs [`Rights::CONTROL`].
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for an unknown principal, or a resource that the caller does not see; [`ErrorKind::Invalid`] for a
    /// class that is no IRI or that names a resource, and for a resource that is not below; [`ErrorKind::TooLarge`] for a list of more than
    /// 10,000 lines.
    pub fn change_access(
        &self,
        caller: &Caller,
        at: &At,
        changes: &[AccessChange],
    ) -> Result<Stat> {
        self.transact_at(at, |tx| {
            let chain = find(tx, caller, at, Operation::ChangeAccess)?;
            let mut stat = Stat::from(chain.clone());
            let access = &mut stat.resource.access;
            apply(tx, caller, &chain, access, changes)?;
            if access.grants.len() > MAX_LINES.max(chain.resource().access.grants.len()) {
                return Err(Error::new(
                    ErrorKind::TooLarge,
                    "an access list has at most 10,000 lines",
                )
                .with_hint("grant rights to groups instead of users"));
            }
            record(tx, caller, &chain, &mut stat);
            Ok(stat)
        })
    }
}

fn apply(
    tx: &Transaction,
    caller: &Caller,
    chain: &Chain,
    access: &mut Access,
    changes: &[AccessChange],
) -> Result<()> {
    let mut lines: GrantTable = std::mem::take(&mut access.grants).into_iter().collect();
    for change in changes {
        match change {
            AccessChange::Grant(name, setting, scope) => {
                set(tx, (caller, chain), &mut lines, (name, *setting, *scope, None))?;
            }
            AccessChange::GrantOnly(name, setting, scope, only) => {
                set(tx, (caller, chain), &mut lines, (name, *setting, *scope, Some(only)))?;
            }
            AccessChange::Clear => lines.clear(),
            AccessChange::NoCreator(is_so) => access.no_creator = is_so.then_some(true),
            AccessChange::Closed(closed) => access.closed = *closed,
            AccessChange::Inherit(inherit) => access.inherit = *inherit,
        }
    }
    access.grants = lines.into();
    Ok(())
}

/// Sets the rights of those that a name stands for.
fn set(
    tx: &Transaction,
    (caller, chain): (&Caller, &Chain),
    lines: &mut GrantTable,
    (name, setting, scope, only): (&str, Setting, Scope, Option<&Only>),
) -> Result<()> {
    for person in known(tx, name)? {
        let rights = setting.applied_to(lines.of(person, scope, only.cloned()));
        let line = Grant { person, rights, scope, only: only.cloned() };
        check_restricted(tx, caller, chain, &line)?;
        lines.put(line);
    }
    Ok(())
}

/// Who is meant by a name.
fn known(tx: &Transaction, name: &str) -> Result<Vec<PersonId>> {
    let persons = principals(tx, name)?;
    if persons.is_empty() { Err(unknown(name)) } else { Ok(persons) }
}

/// Whether a line of a collection can bear on this resource below it.
fn bears_below(line: &Grant, id: ResourceId) -> bool {
    let is_other = matches!(line.only, Some(Only::Resource(only)) if only != id);
    line.scope != Scope::This && !is_other
}

/// Refuses a new line that could have no effect.
fn check_restricted(tx: &Transaction, caller: &Caller, chain: &Chain, line: &Grant) -> Result<()> {
    match &line.only {
        _ if line.rights.is_empty() => Ok(()),
        Some(Only::Class(class)) if !is_class(class) => {
            Err(Error::invalid(format!("not the IRI of a class: {class:.64?}"))
                .with_hint("give an absolute IRI, such as http://xmlns.com/foaf/0.1/Document"))
        }
        Some(Only::Resource(id)) => {
            let below = find(tx, caller, &At::Id(*id), Operation::Stat)?;
            let is_below = below.id() != chain.id() && below.contains(chain.id());
            match is_below && line.scope != Scope::This {
                true => Ok(()),
                false => Err(Error::invalid("a line about one resource is about one below")
                    .with_hint(
                        "give it the scope `default`, or change the access of that resource",
                    )),
            }
        }
        _ => Ok(()),
    }
}

fn record(tx: &mut Transaction, caller: &Caller, chain: &Chain, stat: &mut Stat) {
    if stat.resource.access != chain.resource().access {
        count_change(tx, &mut stat.resource, Changed::Access, caller.user());
        update(tx, ChangeKind::Granted, stat.id, chain.resource(), &stat.resource);
    }
}

impl GrantView {
    pub(super) fn new(reads: &impl Reads, grant: &Grant, from: &StorePath) -> Result<Self> {
        let Grant { person, rights, scope, only } = grant.clone();
        let name = principal_name(reads, person)?;
        Ok(Self { person, name, rights, scope, only, from: from.clone() })
    }
}

pub(super) fn unknown(name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("no such user or group: {name:.64}")).with_hint(
        "`public` stands for everyone who is logged in, `anonymous` for everyone who is not, `everyone` for both, `role:admin` for those with that role",
    )
}
