//! Keeping: on request, and before a change replaces what there is.

use super::difference::Kept;
use super::{Difference, Version, label, prune_to, record};
use crate::access::{Chain, Operation};
use crate::catalog::{Reads, Transaction, VersionAttributes, VersionRecord, keys};
use crate::metadata::Redescribed;
use crate::model::{At, Dangling, Graph, Resource, ResourceId, Retention, Time, Versioning};
use crate::resources::{find, rewrite_record};
use crate::{Caller, Error, ErrorKind, Result, Store, metadata, resources};

/// The attributes of a version that is kept on request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewVersion {
    /// A label: a version that has one is pruned by no rule.
    pub label: Option<String>,
    /// The time that it represents, if not when it became the current state. Needs `Rights::CHANGE_DESCRIPTION`, too.
    pub time: Option<Time>,
    /// The description that it has, if that is not the current one. Needs `Rights::CHANGE_DESCRIPTION`, too.
    pub description: Option<Graph>,
    /// A version of its own, also if the current state is kept as one already.
    pub another: bool,
    /// Also where no collection decides which versions are kept.
    pub undecided: bool,
}

impl Store {
    /// Keeps the current state as a version. A version that exists already gets the label and the time, unless the request is for another
    /// version. Needs `Rights::WRITE_CONTENT`.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if a version has the label, or this one has another; [`ErrorKind::Invalid`] for a time in the future, and where
    /// versions are off.
    pub fn keep_version(&self, caller: &Caller, at: &At, new: &NewVersion) -> Result<Version> {
        self.transact(|tx| {
            let mut chain = find(tx, caller, at, Operation::Write)?;
            if new.time.is_some() || new.description.is_some() {
                chain.require(caller, Operation::SetAttributes, at)?;
                require_past(tx, new.time)?;
            }
            let retention = retention(&chain, new, at)?;
            label::require_free(tx, chain.id(), new.label.as_deref())?;
            if (new.another || new.description.is_some()) && is_kept(tx, &chain)? {
                renumber(tx, &mut chain);
            }
            let (id, number) = (chain.id(), chain.resource().revision);
            let mut resource = chain.resource().clone();
            if !is_kept(tx, &chain)? {
                keep(tx, caller, &chain);
                match &new.description {
                    None => keep_current(tx, id, &mut resource),
                    Some(description) => insert(tx, caller, &chain, description, &mut resource)?,
                }
            }
            let mut record = record(tx, id, number)?;
            record.label = label::first(number, new.label.clone(), record.label)?;
            record.time = new.time.or(record.time);
            tx.put(keys::version(id, number), &record);
            prune_to(tx, (id, chain.resource()), &retention, &mut resource)?;
            if resource != *chain.resource() {
                rewrite_record(tx, id, chain.resource(), &resource);
            }
            Ok(Version::new(number, record))
        })
    }
}

/// Which other versions are kept.
fn retention(chain: &Chain, new: &NewVersion, at: &At) -> Result<Retention> {
    let retention = match chain.versioning() {
        None if new.undecided => Some(Retention::default()),
        decided => decided.unwrap_or_default().retention(),
    };
    retention.ok_or_else(|| {
        Error::invalid(format!("versions are off here: {at}"))
            .with_hint("turn them on for a collection above it (`cenote versions policy`)")
    })
}

/// Whether the current state is a version.
fn is_kept(tx: &Transaction, chain: &Chain) -> Result<bool> {
    tx.has(&keys::version(chain.id(), chain.resource().revision))
}

/// Gives the current state, whose number a version has, the next number.
fn renumber(tx: &mut Transaction, chain: &mut Chain) {
    let mut resource = chain.resource().clone();
    resource.renumber();
    rewrite_record(tx, chain.id(), chain.resource(), &resource);
    chain.replace(resource);
}

/// Keeps the description of the version that the current state is.
fn keep_current(tx: &mut Transaction, id: ResourceId, resource: &mut Resource) {
    Kept::Difference(Difference::default()).write(tx, id, resource.revision);
    resource.compared_version = Some(resource.revision);
}

/// Keeps another description under the number of the current state, which takes the next one.
fn insert(
    tx: &mut Transaction,
    caller: &Caller,
    chain: &Chain,
    description: &Graph,
    resource: &mut Resource,
) -> Result<()> {
    let (id, number) = (chain.id(), resource.revision);
    let current = metadata::read(tx, id.0)?;
    let kept = metadata::kept(tx, caller, chain, (description, Dangling::Kept))?;
    let change = Redescribed { old: &current, new: &kept, is_small: false };
    extend_newest(tx, id, resource, Some(change))?;
    Kept::Whole(kept).write(tx, id, number);
    resource.compared_version = None;
    resource.renumber();
    Ok(())
}

fn require_past(tx: &Transaction, time: Option<Time>) -> Result<()> {
    match time {
        Some(time) if time > tx.now() => {
            Err(Error::invalid("the time of a version is in the future")
                .with_hint("give the time when this was the current state, or none"))
        }
        _ => Ok(()),
    }
}

/// Keeps the state that is about to be replaced by `new`, if the collections above want that. Every change of a content, a description or an
/// attribute calls this before it writes anything.
pub(crate) fn keep_replaced(
    tx: &mut Transaction,
    caller: &Caller,
    chain: &Chain,
    new: &mut Resource,
    redescribed: Option<Redescribed<'_>>,
) -> Result<()> {
    let (id, number) = (chain.id(), chain.resource().revision);
    let redescribed = redescribed.filter(|change| change.old != change.new);
    let Versioning::EachChange(retention) = chain.versioning().unwrap_or_default() else {
        return extend_newest(tx, id, chain.resource(), redescribed);
    };
    if tx.has(&keys::version(id, number))? {
        return extend_newest(tx, id, chain.resource(), redescribed);
    }
    let kept = match redescribed {
        Some(change) if change.is_small => Kept::Whole(change.old.clone()),
        Some(change) => Kept::Difference(Difference::between(change.new, change.old)),
        None => Kept::Difference(Difference::default()),
    };
    keep(tx, caller, chain);
    kept.write(tx, id, number);
    new.compared_version = matches!(kept, Kept::Difference(_)).then_some(number);
    prune_to(tx, (id, chain.resource()), &retention, new).map(drop)
}

/// The description is equivalent: no version is made, and kept ones do not change.
pub(crate) fn keep_unchanged(
    tx: &mut Transaction,
    id: ResourceId,
    resource: &Resource,
    change: Redescribed<'_>,
) -> Result<()> {
    extend_newest(tx, id, resource, Some(change))
}

/// Has the newest version, if it is kept as its difference to the current description, differ in what changes in that.
fn extend_newest(
    tx: &mut Transaction,
    id: ResourceId,
    resource: &Resource,
    redescribed: Option<Redescribed<'_>>,
) -> Result<()> {
    let (Some(newest), Some(change)) = (resource.compared_version, redescribed) else {
        return Ok(());
    };
    let back = Difference::between(change.new, change.old);
    if back.is_empty() {
        return Ok(());
    }
    let record = record(tx, id, newest).map_err(|error| match error.kind() {
        ErrorKind::NotFound => Error::damaged(format!("version {newest} of {id} is missing")),
        _ => error,
    })?;
    if let Kept::Difference(further) = Kept::read(tx, id, newest, &record)? {
        Kept::Difference(back.then(&further)).replace(tx, id, newest)?;
    }
    Ok(())
}

/// Writes the record of the current state as a version.
fn keep(tx: &mut Transaction, caller: &Caller, chain: &Chain) {
    let (id, resource) = (chain.id(), chain.resource());
    let number = resource.revision;
    if let Some(content) = &resource.content {
        resources::refer(tx, content.id, id, number);
    }
    let record = VersionRecord {
        content: resource.content.clone(),
        statements: Vec::new(),
        modified: resource.modified,
        modified_by: resource.modified_by,
        kept: tx.now(),
        label: None,
        is_apart: true,
        kept_by: Some(caller.user()),
        time: None,
        attributes: Some(VersionAttributes::of(resource)),
    };
    tx.put(keys::version(id, number), &record);
}

impl VersionAttributes {
    pub(crate) fn of(resource: &Resource) -> Self {
        Self {
            owner: resource.owner,
            mode: resource.mode,
            mtime: resource.mtime,
            target: resource.target.clone(),
            written: resource.written(),
            described: resource.described().time,
        }
    }
}
