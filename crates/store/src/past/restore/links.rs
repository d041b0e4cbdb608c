//! Links between restored resources: a link to what was in the tree leads to what was restored at the place where that was.
//!
//! Invariant: they lead there before anybody sees the tree. A job that is stopped leads them again: those that do already stay.

use super::job::Restoring;
use crate::access::Chain;
use crate::catalog::{Child, Record, Transaction, View, keys};
use crate::metadata::{self, Stored};
use crate::model::{Kind, ResourceId, StorePath};
use crate::past::since::Places;
use crate::past::{AsOf, Moment};
use crate::waiting::go_on;
use crate::{Result, Store};

/// Where everything was, on one snapshot.
struct Then<'a> {
    view: &'a View,
    places: Places,
}

impl Store {
    /// Leads the links of all that was made; nothing if there are none.
    ///
    /// Cost: a look at each change since the moment and at each description; a commit for each that has such links.
    pub(super) fn relink_restored(&self, restoring: &Restoring) -> Result<()> {
        if restoring.job.links != Some(true) {
            return Ok(());
        }
        let view = self.view()?;
        let moment = Moment::Position(restoring.job.position.parse()?);
        let AsOf { cut, .. } = self.as_of(&view, &restoring.caller, moment)?;
        let then = Then { view: &view, places: Places::read(&view, cut)? };
        let mut left = vec![restoring.job.made];
        while let Some(collection) = left.pop() {
            self.relink_one(restoring, &then, collection)?;
            for row in view.snapshot.scan(&keys::children(collection), Default::default()) {
                go_on()?;
                let child = Child::from_value(&row?.1)?;
                match child.kind {
                    Kind::Collection => left.push(child.id),
                    _ => self.relink_one(restoring, &then, child.id)?,
                }
            }
        }
        Ok(())
    }

    fn relink_one(&self, restoring: &Restoring, then: &Then<'_>, id: ResourceId) -> Result<()> {
        if !metadata::has_links(&metadata::read(then.view, id.0)?) {
            return Ok(());
        }
        self.transact(|tx| {
            restoring.require_unchanged(tx)?;
            let old = Stored::read(tx, id.0)?;
            let lead = |target| restoring.restored(tx, then, target);
            let new = metadata::relinked(old.graph.clone(), lead)?;
            match new == old.graph {
                true => Ok(()),
                false => metadata::replace(tx, id.0, &old, &new),
            }
        })
    }
}

impl Restoring {
    /// What was restored of a resource, and the path that it will have.
    fn restored(
        &self,
        tx: &Transaction,
        then: &Then<'_>,
        target: ResourceId,
    ) -> Result<Option<(ResourceId, StorePath)>> {
        let Some(path) = then.places.path(then.view, target)? else { return Ok(None) };
        let Some(below) = path.names().strip_prefix(self.path.names()) else { return Ok(None) };
        let (mut chain, mut path) = (Chain::alone(self.job.made, self.made(tx)?), self.to.clone());
        for name in below {
            let Some(child) = chain.named_child(tx, name)? else { return Ok(None) };
            (chain, path) = (child, path.join(name.clone())?);
        }
        Ok(Some((chain.id(), path)))
    }
}
