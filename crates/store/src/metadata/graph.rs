//! Reading and changing the description of a resource.

use super::links::Links;
use super::stored::{Stored, read, replace};
use crate::access::{Chain, Operation};
use crate::catalog::{ChangeKind, Transaction};
use crate::model::{At, Changed, Graph, ResourceId, Stat, Statement};
use crate::tree::{count_change, find, update};
use crate::{Caller, Conditions, Error, ErrorKind, Result, Store, versions};

/// The largest description, in statements.
const MAX_STATEMENTS: u64 = 100_000;
/// The largest term, in bytes.
const MAX_TERM: usize = 1 << 20;

impl Store {
    /// The description of a resource, its links as the caller sees them. Needs `Rights::READ_DESCRIPTION`.
    pub fn graph(&self, caller: &Caller, at: &At) -> Result<(Stat, Graph)> {
        let view = self.view()?;
        let chain = find(&view, caller, at, Operation::ReadDescription)?;
        let graph = read(&view, chain.id().0)?;
        Ok((chain.into(), Links::new(&view, caller).graph(&graph)?))
    }

    /// Changes the description by a function of what it is, both as the caller sees them. An IRI of a resource that the caller
    /// may see becomes a link. Needs `Rights::CREATE_METADATA` to add,
    /// `Rights::CHANGE_DESCRIPTION` to do both, `Rights::DELETE_METADATA` only to remove.
    pub fn change_graph(
        &self,
        caller: &Caller,
        at: &At,
        conditions: &Conditions,
        change: impl Fn(&Graph) -> Result<Graph>,
    ) -> Result<Stat> {
        self.change_stored(caller, at, conditions, Stored::read, change)
    }

    /// The same of as much of the description as `read` gives.
    pub(super) fn change_stored(
        &self,
        caller: &Caller,
        at: &At,
        conditions: &Conditions,
        read: impl Fn(&Transaction, u64) -> Result<Stored>,
        change: impl Fn(&Graph) -> Result<Graph>,
    ) -> Result<Stat> {
        self.transact(|tx| {
            let chain = find(tx, caller, at, Operation::ReadDescription)?;
            conditions.check_description(&chain)?;
            let old = read(tx, chain.id().0)?;
            let links = Links::new(tx, caller);
            let shown = links.shown(&old.graph)?;
            let new = change(&shown.graph)?;
            check(&old, &new)?;
            chain.require(caller, needed(&shown.graph, &new), at)?;
            let new = links.kept(&chain, &shown, new)?;
            let mut stat = Stat::from(chain.clone());
            if old.graph != new {
                let change = Some(old.redescribed(&new));
                versions::keep_replaced(tx, caller, &chain, &mut stat.resource, change)?;
                replace(tx, stat.id.0, &old, &new)?;
                count_change(tx, &mut stat.resource, Changed::Description, caller.user());
                update(tx, ChangeKind::Described, stat.id, chain.resource(), &stat.resource);
            }
            Ok(stat)
        })
    }
}

/// Gives a resource that the same commit creates its first description.
pub(crate) fn describe_new(
    tx: &mut Transaction,
    caller: &Caller,
    id: ResourceId,
    description: &Graph,
) -> Result<()> {
    let old = Stored::default();
    check(&old, description)?;
    let chain = Chain::read(tx, id)?.ok_or_else(|| Error::not_found(id))?;
    let links = Links::new(tx, caller);
    let kept = links.kept(&chain, &links.shown(&old.graph)?, description.clone())?;
    replace(tx, id.0, &old, &kept)
}

/// What a change of a description needs.
pub(super) fn needed(old: &Graph, new: &Graph) -> Operation {
    match (new.is_subset(old), old.is_subset(new)) {
        (true, true) => Operation::ReadDescription,
        (true, false) => Operation::RemoveDescription,
        (false, true) => Operation::AddDescription,
        (false, false) => Operation::ChangeDescription,
    }
}

/// Refuses a description that is too large or says nothing.
pub(super) fn check(old: &Stored, graph: &Graph) -> Result<()> {
    let too_large =
        |what: &str| Error::new(ErrorKind::TooLarge, format!("a description is too large: {what}"));
    if old.others() + graph.len() as u64 > MAX_STATEMENTS {
        return Err(too_large("more than 100,000 statements"));
    }
    if graph.iter().any(|statement| statement.predicate.is_empty()) {
        return Err(Error::invalid("a statement needs a predicate"));
    }
    let long = |s: &Statement| s.predicate.len().max(s.object.text().len()) > MAX_TERM;
    match graph.iter().any(long) {
        true => Err(too_large("a term of more than 1 MiB")),
        false => Ok(()),
    }
}
