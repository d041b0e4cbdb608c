//! From a path or an id to the resource, with the collections above it.
//!
//! Cost: one read of many keys where all collections on the way were met before, whatever the depth; another one for a
//! resource that was not, or that has been moved. Without any hint, one per level.

use std::sync::Arc;

use crate::access::{Chain, Operation};
use crate::catalog::{Child, Edges, Reads, Record, keys};
use crate::model::{At, Name, Resource, ResourceId, StorePath};
use crate::{Bytes, Caller, Error, Result};

/// The current resource, for any caller.
pub(crate) fn locate(reads: &impl Reads, at: &At) -> Result<Option<Chain>> {
    match at {
        At::Path(path) => {
            let met = trace(reads, path)?;
            Ok(met.filter(|chain| chain.depth() == path.names().len()))
        }
        At::Id(id) => Chain::read(reads, *id),
        At::Child(id, name) => match Chain::read(reads, *id)? {
            Some(collection) => collection.named_child(reads, name),
            None => Ok(None),
        },
    }
}

/// The resource, if `caller` has the `needed` rights on it.
pub(crate) fn find(
    reads: &impl Reads,
    caller: &Caller,
    at: &At,
    operation: Operation,
) -> Result<Chain> {
    let chain = locate(reads, at)?.ok_or_else(|| Error::not_found(at))?;
    chain.require(caller, operation, at)?;
    Ok(chain)
}

/// The last existing resource on a path, for any caller: the named one, if its depth is that of the path.
pub(crate) fn trace(reads: &impl Reads, path: &StorePath) -> Result<Option<Chain>> {
    let mut met = Vec::new();
    let (mut next, mut names) = (Some(ResourceId::ROOT), path.names());
    while let Some(id) = next {
        (next, names) = step(reads, id, names, &mut met)?;
    }
    Ok(Chain::from_root(met))
}

/// Reads in one call what finding each of these is likely to read.
pub(crate) fn read_ahead<'a>(reads: &impl Reads, at: impl Iterator<Item = &'a At>) -> Result<()> {
    reads.read_ahead(&keys_ahead(reads.edges(), at))
}

/// Reads what finding each of these paths reads, for a transaction, which remembers it: whatever their number, a call for each level that
/// was not met before.
pub(crate) fn read_together(tx: &impl Reads, paths: &[At]) -> Result<()> {
    loop {
        read_ahead(tx, paths.iter())?;
        let mut met = false;
        for path in paths {
            met |= meet(tx, path)?;
        }
        if !met {
            return Ok(());
        }
    }
}

/// Remembers the first edge on a path that was not met before, if it is there. It has been read.
fn meet(tx: &impl Reads, path: &At) -> Result<bool> {
    let At::Path(path) = path else { return Ok(false) };
    let ids = tx.edges().down(ResourceId::ROOT, path.names());
    let Some((parent, name)) = ids.last().zip(path.names().get(ids.len() - 1)) else {
        return Ok(false);
    };
    let child = tx.look(&[keys::child(*parent, name.as_str())])?.pop().flatten();
    let child = read::<Child>(child)?;
    child.iter().for_each(|child| tx.edges().remember(*parent, name, child.id));
    Ok(child.is_some())
}

/// The keys that finding each of these is likely to read: their previous targets and the records there.
pub(crate) fn keys_ahead<'a>(edges: &Edges, at: impl Iterator<Item = &'a At>) -> Vec<Bytes> {
    let mut keys = vec![keys::resource(ResourceId::ROOT)];
    let mut last: &[Name] = &[];
    for at in at {
        match at {
            At::Path(path) => {
                let names = path.names();
                let ids = edges.down(ResourceId::ROOT, names);
                // Many are in one collection: the way there is read once.
                let same = names.iter().zip(last).take_while(|(one, other)| one == other).count();
                keys.extend(way(&ids, names, 2 * same + 1));
                last = names;
            }
            At::Id(id) => keys.extend(edges.up(*id).into_iter().map(keys::resource)),
            At::Child(id, name) => {
                keys.extend(edges.up(*id).into_iter().map(keys::resource));
                keys.extend(way(
                    &edges.down(*id, std::slice::from_ref(name)),
                    std::slice::from_ref(name),
                    1,
                ));
            }
        }
    }
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// What was met last at some place, if anything was.
pub(crate) fn likely(edges: &Edges, at: &At) -> Option<ResourceId> {
    let beyond = |from, names: &[Name]| {
        let ids = edges.down(from, names);
        ids.last().copied().filter(|_| ids.len() == names.len() + 1)
    };
    match at {
        At::Path(path) => beyond(ResourceId::ROOT, path.names()),
        At::Id(id) => Some(*id),
        At::Child(id, name) => beyond(*id, std::slice::from_ref(name)),
    }
}

/// Resources from the root down.
type Met = Vec<(ResourceId, Arc<Resource>)>;

/// Reads a resource whose location is certain, and in the same call everything below it on the path that hints suggest. Returns
/// where to continue, with the names from there: the child that is not where it was remembered.
fn step<'a>(
    reads: &impl Reads,
    id: ResourceId,
    names: &'a [Name],
    met: &mut Met,
) -> Result<(Option<ResourceId>, &'a [Name])> {
    let ids = reads.edges().down(id, names);
    let keys: Vec<Bytes> = way(&ids, names, 0).collect();
    let mut rows = keys.iter().zip(reads.look(&keys)?);
    // What was read in vain, behind a wrong hint, may change: the result does not depend on it.
    let mut next = || {
        let (key, value) = rows.next()?;
        reads.rest_on(key);
        value
    };
    for (at, id) in ids.iter().enumerate() {
        let Some(resource) = read::<Resource>(next())? else { break };
        met.push((*id, Arc::new(resource)));
        let Some(name) = names.get(at) else { break };
        let Some(Child { id: child, .. }) = read(next())? else { break };
        if ids.get(at + 1) != Some(&child) {
            reads.edges().remember(*id, name, child);
            return Ok((Some(child), &names[at + 1..]));
        }
    }
    Ok((None, &[]))
}

/// The keys of resources on a way down, each followed by that of the edge to the next; without the first so many keys.
fn way<'a>(
    ids: &'a [ResourceId],
    names: &'a [Name],
    skipped: usize,
) -> impl Iterator<Item = Bytes> + 'a {
    let resource = |at: usize| keys::resource(ids[at]);
    let edge = |at: usize| Some(keys::child(ids[at], names.get(at)?.as_str()));
    (skipped..2 * ids.len())
        .filter_map(move |n| if n % 2 == 0 { Some(resource(n / 2)) } else { edge(n / 2) })
}

fn read<T: Record>(value: Option<Bytes>) -> Result<Option<T>> {
    value.map(|value| T::from_value(&value)).transpose()
}

#[cfg(test)]
mod hints;
