//! Late binding: text that names a path becomes a link once the path exists, below collections with that setting
//! ([`LinkIntegrity::Lenient`]).
//!
//! Invariants: it is bound in the commit by which a resource appears at the path, or, where more descriptions name it than one commit
//! binds, by a job that this commit records; on behalf of the owner of the described resource, and only to what they may see. The shown form does not change, so no clock advances and no version is made. Where no
//! collection has that setting, which the root's record shows, nothing is read.

use std::collections::BTreeSet;

use cenote_kv::{KeyRange, Row};

use crate::access::Chain;
use crate::catalog::{JobRecord, Placed, Reads, Transaction, keys};
use crate::metadata::{Links, Stored, integrity, path_of, replace};
use crate::model::{Graph, Kind, LinkIntegrity, Person, Resource, ResourceId, StorePath};
use crate::people::caller_by_password;
use crate::resources::rewrite_record;
use crate::{Bytes, Result, Store, versions};

/// At most so many descriptions are bound in one commit; a job binds the others.
const MOST: usize = 1_000;

/// Notes in the root's record that links are bound late somewhere. `new` is what the record of the last resource of the chain becomes.
pub(crate) fn note_late(tx: &mut Transaction, chain: &Chain, new: &mut Resource) -> Result<()> {
    if new.link_integrity != Some(LinkIntegrity::Lenient) || is_used(tx)? {
        return Ok(());
    }
    if chain.id() == ResourceId::ROOT {
        new.late_links = Some(true);
        return Ok(());
    }
    if let Some(root) = tx.get::<Resource>(&keys::resource(ResourceId::ROOT))? {
        let noted = Resource { late_links: Some(true), ..root.clone() };
        rewrite_record(tx, ResourceId::ROOT, &root, &noted);
    }
    Ok(())
}

fn is_used(reads: &impl Reads) -> Result<bool> {
    let root = reads.get::<Placed>(&keys::resource(ResourceId::ROOT))?;
    Ok(root.is_some_and(|root| root.late_links == Some(true)))
}

/// Binds what names the path, or one below it, of each resource that the transaction brought to where it is. Returns whether it left
/// something to a job.
///
/// Cost: nothing where links are not bound late; else a scan, two for a collection, and a read of each description that is bound.
pub(crate) fn bind_late(tx: &mut Transaction) -> Result<bool> {
    let come = std::mem::take(&mut tx.come);
    if come.is_empty() || !is_used(tx)? {
        return Ok(false);
    }
    let mut is_left = false;
    for id in come {
        if bind_some(tx, id, None)?.is_some() {
            // No other job has the id of a resource.
            tx.put(keys::job(id.0), &JobRecord::Bind(id));
            is_left = true;
        }
    }
    Ok(is_left)
}

impl Store {
    /// Binds what a commit left, in as many commits as that takes; the last one ends the job. It may be stopped anywhere, and begins
    /// again then.
    pub(crate) fn bind_rest(&self, id: ResourceId) -> Result<()> {
        let mut after: Option<Bytes> = None;
        loop {
            after = self.transact(|tx| {
                let last = bind_some(tx, id, after.as_deref())?;
                if last.is_none() {
                    tx.delete(keys::job(id.0));
                }
                Ok(last)
            })?;
            if after.is_none() {
                return Ok(());
            }
        }
    }
}

/// Binds what names the path of a resource in the next descriptions after this key; returns the key of the last, if there may be more.
fn bind_some(tx: &mut Transaction, id: ResourceId, after: Option<&[u8]>) -> Result<Option<Bytes>> {
    // It may have been removed again.
    let Some(chain) = Chain::read(tx, id)? else { return Ok(None) };
    let path = chain.path();
    let rows = naming(tx, &path, chain.resource().kind, after)?;
    let ids = rows.iter().filter_map(|(key, _)| keys::last_id(key)).map(ResourceId);
    for describing in ids.collect::<BTreeSet<_>>() {
        bind_in(tx, describing, &path)?;
    }
    Ok(rows.last().filter(|_| rows.len() == MOST).map(|(key, _)| key.clone()))
}

/// The rows of descriptions in which a path, or one below it, is named as text, after this key: so many that one commit can bind them.
fn naming(
    tx: &Transaction,
    path: &StorePath,
    kind: Kind,
    after: Option<&[u8]>,
) -> Result<Vec<Row>> {
    let ranges = keys::naming(path).into_iter().take(1 + usize::from(kind == Kind::Collection));
    let mut ranges: Vec<KeyRange> = ranges.collect();
    // Otherwise it is a key of the path that the resource had before.
    if let Some(after) = after
        && let Some(at) = ranges.iter().position(|range| range.contains(after))
    {
        ranges.drain(..at);
        ranges[0] = ranges[0].clone().after(after);
    }
    let mut rows = Vec::new();
    for range in ranges {
        rows.extend(tx.rows(&range, MOST - rows.len())?);
    }
    Ok(rows)
}

fn bind_in(tx: &mut Transaction, id: ResourceId, come: &StorePath) -> Result<()> {
    // It is not the id of a person or place, nor of a removed resource.
    let Some(chain) = Chain::read(tx, id)? else { return Ok(()) };
    if integrity(&chain) != LinkIntegrity::Lenient {
        return Ok(());
    }
    let owner = chain.resource().owner;
    let Some(person) = tx.get::<Person>(&keys::person(owner))? else { return Ok(()) };
    let caller = caller_by_password(owner, &person);
    let old = Stored::read(tx, id.0)?;
    let new = {
        let links = Links::new(tx, &caller);
        let bind = |iri: &str| match path_of(iri) {
            Some((path, _)) if path.starts_with(come) => links.bind(iri),
            _ => Ok(None),
        };
        let bound = old.graph.iter().cloned().map(|statement| links.bound_by(id, statement, bind));
        bound.collect::<Result<Graph>>()?
    };
    if new != old.graph {
        versions::keep_unchanged(tx, id, chain.resource(), old.redescribed(&new))?;
        replace(tx, id.0, &old, &new)?;
    }
    Ok(())
}
