//! Existing resources.

use crate::access::{Chain, Operation};
use crate::catalog::Reads;
use crate::model::{At, Rights, Stat, StorePath};
use crate::resources::{find, read_ahead, trace};
use crate::{Caller, Result, Store};

impl Store {
    /// Returns one resource. Needs [`Rights::READ_DESCRIPTION`].
    pub fn stat(&self, caller: &Caller, at: &At) -> Result<Stat> {
        stat(&self.view_at(at)?, caller, at)
    }

    /// Returns many resources on one snapshot; each has its own answer. It is one read of the catalog if all were seen before.
    pub fn stat_many(&self, caller: &Caller, at: &[At]) -> Result<Vec<Result<Stat>>> {
        let view = self.view()?.cached();
        read_ahead(&view, at.iter())?;
        Ok(at.iter().map(|at| stat(&view, caller, at)).collect())
    }

    /// Whether the caller's credential leaves them any rights at a path, or in the last existing collection on it: a
    /// token for another subtree does not.
    pub fn is_open_to(&self, caller: &Caller, path: &StorePath) -> Result<bool> {
        let met = trace(&self.view()?, path)?;
        Ok(met.is_some_and(|chain| chain.is_open_to(caller)))
    }

    /// What `caller` may do with a resource that they may see.
    pub fn rights(&self, caller: &Caller, at: &At) -> Result<Rights> {
        Ok(find(&self.view_at(at)?, caller, at, Operation::ShowAccess)?.rights(caller))
    }
}

fn stat(reads: &impl Reads, caller: &Caller, at: &At) -> Result<Stat> {
    Ok(find(reads, caller, at, Operation::Stat)?.into())
}

impl From<Chain> for Stat {
    fn from(chain: Chain) -> Self {
        Self { id: chain.id(), path: chain.path(), resource: chain.into_resource() }
    }
}
