//! Changing the description of a resource.

use crate::access::{Chain, Operation};
use crate::catalog::{ChangeKind, Transaction};
use crate::metadata::{Links, Stored, check, needed, replace};
use crate::model::{At, Changed, Dangling, Graph, Stat};
use crate::resources::{count_change, find, update};
use crate::{Caller, Conditions, Result, Store, versions};

impl Store {
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
        self.change_graph_with(caller, at, conditions, Dangling::Kept, change)
    }

    /// The same with the rule of an opening for links to nothing.
    pub fn change_graph_with(
        &self,
        caller: &Caller,
        at: &At,
        conditions: &Conditions,
        dangling: Dangling,
        change: impl Fn(&Graph) -> Result<Graph>,
    ) -> Result<Stat> {
        self.change_stored(caller, at, (conditions, dangling), Stored::read, change)
    }

    /// The same for as much of the description as `read` returns.
    pub(crate) fn change_stored(
        &self,
        caller: &Caller,
        at: &At,
        (conditions, dangling): (&Conditions, Dangling),
        read: impl Fn(&Transaction, u64) -> Result<Stored>,
        change: impl Fn(&Graph) -> Result<Graph>,
    ) -> Result<Stat> {
        self.transact_described(at, |tx| {
            let chain = find(tx, caller, at, Operation::ReadDescription)?;
            conditions.check_description(&chain)?;
            let old = read(tx, chain.id().0)?;
            let new = changed(tx, caller, (&chain, at), dangling, &old, &change)?;
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

/// What a change makes of a description, as it is kept.
pub(crate) fn changed(
    tx: &Transaction,
    caller: &Caller,
    (chain, at): (&Chain, &At),
    dangling: Dangling,
    old: &Stored,
    change: &dyn Fn(&Graph) -> Result<Graph>,
) -> Result<Graph> {
    let links = Links::new(tx, caller).ruled(chain, dangling);
    links.read_ahead(&old.graph)?;
    let shown = links.shown(&old.graph)?;
    let new = change(&shown.graph)?;
    check(old, &new)?;
    chain.require(caller, needed(&shown.graph, &new), at)?;
    links.kept(chain, &shown, new)
}
