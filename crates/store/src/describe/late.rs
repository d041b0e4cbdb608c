//! Late binding: text that names a path becomes a link once the path exists, below collections with that setting
//! ([`LinkIntegrity::Lenient`]).
//!
//! Invariants: it is bound in the commit by which a resource appears at the path, on behalf of the owner of the described resource, and only
//! to what they may see. The shown form does not change, so no clock advances and no version is made. Where no
//! collection has that setting, which the root's record shows, nothing is read.

use std::collections::BTreeSet;

use crate::access::Chain;
use crate::catalog::{Placed, Reads, Transaction, keys};
use crate::metadata::{Links, Stored, integrity, path_of, replace};
use crate::model::{Graph, Kind, LinkIntegrity, Person, Resource, ResourceId, StorePath};
use crate::people::caller_by_password;
use crate::resources::rewrite_record;
use crate::{Result, versions};

/// At most so many descriptions are bound in the commit of one resource; others stay text.
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

/// Binds what names the path, or one below it, of each resource that the transaction brought to where it is.
///
/// Cost: nothing where links are not bound late; else a scan, two for a collection, and a read of each description that is bound.
pub(crate) fn bind_late(tx: &mut Transaction) -> Result<()> {
    let come = std::mem::take(&mut tx.come);
    if come.is_empty() || !is_used(tx)? {
        return Ok(());
    }
    for id in come {
        // It may have been removed again.
        let Some(chain) = Chain::read(tx, id)? else { continue };
        let path = chain.path();
        for describing in naming(tx, &path, chain.resource().kind)? {
            bind_in(tx, describing, &path)?;
        }
    }
    Ok(())
}

/// The resources in whose descriptions a path, or one below it, is named as text.
fn naming(tx: &Transaction, path: &StorePath, kind: Kind) -> Result<BTreeSet<ResourceId>> {
    let ranges = keys::naming(path).into_iter().take(1 + usize::from(kind == Kind::Collection));
    let mut ids = BTreeSet::new();
    for range in ranges {
        let rows = tx.rows(&range, MOST)?;
        ids.extend(rows.iter().filter_map(|(key, _)| keys::last_id(key)).map(ResourceId));
    }
    Ok(ids)
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
