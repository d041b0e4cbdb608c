//! A change of the description in the commit that publishes: either both are made, or neither.

use crate::access::{Chain, Operation};
use crate::catalog::Transaction;
use crate::metadata::{self, Stored, describe_new};
use crate::model::{At, Dangling, Graph, ResourceId};
use crate::{Caller, ErrorKind, Result, describe};

/// What happens to the description of an object with its bytes.
#[derive(Clone, Copy)]
pub struct Describing<'a> {
    /// Makes the description of what it is, as the caller sees it: empty for a new object.
    pub change: &'a (dyn Fn(&Graph) -> Result<Graph> + Sync),
    /// The rule of the opening for links to nothing.
    pub dangling: Dangling,
    /// Whether the description stays as it is if the caller may not change it; otherwise nothing is published.
    pub optional: bool,
}

impl std::fmt::Debug for Describing<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { dangling, optional, .. } = self;
        f.debug_struct("Describing")
            .field("dangling", dangling)
            .field("optional", optional)
            .finish_non_exhaustive()
    }
}

/// The description of an object that is replaced, and what it becomes.
pub(super) struct Redescription {
    pub(super) old: Stored,
    pub(super) new: Graph,
}

impl Describing<'_> {
    /// What the change makes of an existing object; none if its description stays as it is.
    pub(super) fn of_existing(
        &self,
        tx: &Transaction,
        caller: &Caller,
        chain: &Chain,
        at: &At,
    ) -> Result<Option<Redescription>> {
        match self.changed(tx, caller, chain, at) {
            Err(error) if self.optional && error.kind() == ErrorKind::Denied => Ok(None),
            done => done,
        }
    }

    fn changed(
        &self,
        tx: &Transaction,
        caller: &Caller,
        chain: &Chain,
        at: &At,
    ) -> Result<Option<Redescription>> {
        chain.require(caller, Operation::ReadDescription, at)?;
        let old = Stored::read(tx, chain.id().0)?;
        let new = describe::changed(tx, caller, (chain, at), self.dangling, &old, self.change)?;
        Ok((old.graph != new).then_some(Redescription { old, new }))
    }

    /// Describes an object that the same commit creates.
    pub(super) fn of_new(
        &self,
        tx: &mut Transaction,
        caller: &Caller,
        id: ResourceId,
    ) -> Result<()> {
        let new = (self.change)(&Graph::new())?;
        if !new.is_empty() {
            describe_new(tx, caller, id, (&new, self.dangling))?;
        }
        Ok(())
    }
}

impl Redescription {
    pub(super) fn write(&self, tx: &mut Transaction, id: ResourceId) -> Result<()> {
        metadata::replace(tx, id.0, &self.old, &self.new)
    }
}
