//! Keeping: on request, and before a change replaces what there is.

use super::difference::Kept;
use super::{Difference, Version, label, prune_to, record};
use crate::access::{Chain, Operation};
use crate::catalog::{Reads, Transaction, VersionAttributes, VersionRecord, keys};
use crate::model::{At, Graph, Resource, ResourceId, Time, Versioning};
use crate::tree::{find, rewrite_record};
use crate::{Caller, Error, ErrorKind, Result, Store, contents};

/// What is said of a version that is kept on request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewVersion {
    /// A label: a version that has one is pruned by no rule.
    pub label: Option<String>,
    /// The time that it stands for, if that is not when it became the current state. Needs `Rights::CHANGE_DESCRIPTION`, too.
    pub time: Option<Time>,
}

/// What replaces a description.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Redescribed<'a> {
    /// What was read of the description.
    pub(crate) old: &'a Graph,
    /// What takes its place.
    pub(crate) new: &'a Graph,
    /// Whether `old` is all of it, and small.
    pub(crate) is_small: bool,
}

impl Store {
    /// Keeps the current state as a version. What is kept already gets the label and the time. Needs `Rights::WRITE_CONTENT`.
    ///
    /// # Errors
    /// [`ErrorKind::Exists`] if a version has the label, or this one has another; [`ErrorKind::Invalid`] for a time in the future, and where
    /// versions are off.
    pub fn keep_version(&self, caller: &Caller, at: &At, new: &NewVersion) -> Result<Version> {
        self.transact(|tx| {
            let chain = find(tx, caller, at, Operation::Write)?;
            if new.time.is_some() {
                chain.require(caller, Operation::SetAttributes, at)?;
                require_past(tx, new.time)?;
            }
            let Some(retention) = setting(&chain).retention() else {
                return Err(Error::invalid(format!("versions are off here: {at}")).with_hint(
                    "turn them on for a collection above it (`cenote versions policy`)",
                ));
            };
            let (id, number) = (chain.id(), chain.resource().revision);
            label::require_free(tx, id, new.label.as_deref())?;
            let mut resource = chain.resource().clone();
            if !tx.has(&keys::version(id, number))? {
                keep(tx, caller, &chain);
                Kept::Difference(Difference::default()).write(tx, id, number);
                resource.compared_version = Some(number);
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

fn require_past(tx: &Transaction, time: Option<Time>) -> Result<()> {
    match time {
        Some(time) if time > tx.now() => {
            Err(Error::invalid("the time of a version is in the future")
                .with_hint("give the time at which this was the current state, or none"))
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
    let Versioning::EachChange(retention) = setting(chain) else {
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

/// The description says the same in another way: no version is made, and those that are kept stay what they are.
pub(crate) fn restate(
    tx: &mut Transaction,
    id: ResourceId,
    resource: &Resource,
    change: Redescribed<'_>,
) -> Result<()> {
    extend_newest(tx, id, resource, Some(change))
}

/// Has the newest version, if it is kept as its difference to the present description, differ in what changes in that.
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
        contents::refer(tx, content.id, id, number);
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

/// The setting of the nearest collection that has one.
pub(crate) fn setting(chain: &Chain) -> Versioning {
    chain.resources().find_map(|resource| resource.versioning).unwrap_or_default()
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
