//! Links within a copied tree: in the copy, a link to something in the tree leads to the corresponding resource of the copy, if
//! something that the caller may see exists there.
//!
//! Invariant: a copy is described as its source is shown, with the paths of the copy in the place of those of the source.

use super::rebase;
use crate::access::{Chain, Operation};
use crate::catalog::{ChangeKind, Reads, Transaction};
use crate::metadata::{self, Stored};
use crate::model::{At, Changed, Graph, ResourceId, Stat, StorePath};
use crate::resources::{count_change, find, locate, update};
use crate::{Caller, Result, Store, versions};

/// The description of a copy that is made at `to`, with what leads to its source itself leading to it.
pub(super) fn of_copy(
    reads: &impl Reads,
    source: &Chain,
    (copy, to): (ResourceId, &StorePath),
) -> Result<Graph> {
    let graph = metadata::read(reads, source.id().0)?;
    metadata::relinked(graph, |target| Ok((target == source.id()).then(|| (copy, to.clone()))))
}

/// Where a tree was copied from, and to.
pub(super) struct Copied<'a> {
    pub(super) from: &'a StorePath,
    pub(super) to: &'a StorePath,
}

impl Copied<'_> {
    /// Leads the links of one copy to what was copied with it. Links that were changed or removed in the meantime are not touched.
    pub(super) fn relink(&self, store: &Store, caller: &Caller, copy: ResourceId) -> Result<()> {
        store.transact(|tx| {
            let Ok(chain) = find(tx, caller, &copy.into(), Operation::ChangeDescription) else {
                return Ok(());
            };
            let old = Stored::read(tx, copy.0)?;
            let new = metadata::relinked(old.graph.clone(), |it| self.same_place(tx, caller, it))?;
            if new == old.graph {
                return Ok(());
            }
            let mut stat = Stat::from(chain.clone());
            let change = Some(old.redescribed(&new));
            versions::keep_replaced(tx, caller, &chain, &mut stat.resource, change)?;
            metadata::replace(tx, copy.0, &old, &new)?;
            count_change(tx, &mut stat.resource, Changed::Description, caller.user());
            update(tx, ChangeKind::Described, copy, chain.resource(), &stat.resource);
            Ok(())
        })
    }

    /// The resource of the copy that corresponds to one of the source.
    fn same_place(
        &self,
        tx: &Transaction,
        caller: &Caller,
        target: ResourceId,
    ) -> Result<Option<(ResourceId, StorePath)>> {
        let Some(chain) = Chain::read(tx, target)? else { return Ok(None) };
        let path = chain.path();
        if !path.starts_with(self.from) {
            return Ok(None);
        }
        let place = rebase(&path, self.from, self.to)?;
        let there = locate(tx, &At::Path(place.clone()))?;
        let seen = there.filter(|there| there.rights(caller).allow(Operation::Stat));
        Ok(seen.map(|there| (there.id(), place)))
    }
}
