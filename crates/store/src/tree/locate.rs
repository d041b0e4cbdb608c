//! From a path or an id to the resource, with the collections above it.

use crate::access::Chain;
use crate::catalog::{Child, Reads, keys};
use crate::model::{At, Level, ResourceId, StorePath};
use crate::{Caller, Error, Result};

/// What is there now, whoever asks.
pub(crate) fn locate(reads: &impl Reads, at: &At) -> Result<Option<Chain>> {
    match at {
        At::Path(path) => match walk_down(reads, path)? {
            Some(id) => Chain::read(reads, id),
            None => Ok(None),
        },
        At::Id(id) => Chain::read(reads, *id),
    }
}

/// What is there, if `caller` may do with it what `needed` says.
pub(crate) fn find(reads: &impl Reads, caller: &Caller, at: &At, needed: Level) -> Result<Chain> {
    let chain = locate(reads, at)?.ok_or_else(|| Error::not_found(at))?;
    chain.require(caller, needed, at)?;
    Ok(chain)
}

fn walk_down(reads: &impl Reads, path: &StorePath) -> Result<Option<ResourceId>> {
    let mut id = ResourceId::ROOT;
    for name in path.names() {
        match reads.get::<Child>(&keys::child(id, name.as_str()))? {
            Some(child) => id = child.id,
            None => return Ok(None),
        }
    }
    Ok(Some(id))
}
