//! Versions: states of a resource that were kept, content and description together. Those of a collection are of its own
//! description and attributes, never of its children.
//!
//! A version is numbered by the revision it was; so numbers grow, and are never reused. A labelled version is removed only by its
//! number, or with its resource if the request allows it; a label names one version of a resource.

mod compare;
mod difference;
mod keep;
mod label;
mod loss;
mod queried;
mod retention;

use std::collections::BTreeMap;

use crate::access::Operation;
use crate::catalog::{Reads, Transaction, VersionRecord, keys};
use crate::model::{At, ContentHead, Graph, PersonId, Resource, ResourceId, Retention, Stat, Time};
use crate::quotas::{Delta, bytes_of_versions};
use crate::resources::{find, rewrite_record};
use crate::{Caller, Error, ErrorKind, Result, Store, metadata, resources};

pub use compare::VersionDifference;
use difference::Difference;
pub(crate) use difference::description;
pub use keep::NewVersion;
pub(crate) use keep::{keep_replaced, keep_unchanged};
pub(crate) use loss::{refuse_loss, refuse_loss_below};

/// A state that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its number.
    pub version: u64,
    /// Its content.
    pub content: Option<ContentHead>,
    /// When it became the current state, or its access was changed last.
    pub modified: Time,
    /// The user who made the change.
    pub modified_by: PersonId,
    /// When it was kept.
    pub kept: Time,
    /// The user who kept it, by a request or by the change that replaced it. Not known of versions of earlier programs.
    pub kept_by: Option<PersonId>,
    /// The time that it stands for: the one that its creator gave it, or when its content or description became what it is.
    pub time: Time,
    /// When its description became what it is.
    pub described: Time,
    /// Its label.
    pub label: Option<String>,
}

/// What happens to the versions of a resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prune {
    /// One of them is removed.
    One(u64),
    /// All go that these rules do not keep, but for those with a label.
    All(Retention),
}

impl Store {
    /// The versions of a resource, the newest number first. Needs `Rights::READ_CONTENT`.
    pub fn versions(&self, caller: &Caller, at: &At) -> Result<Vec<Version>> {
        let view = self.view_at(at)?;
        let id = find(&view, caller, at, Operation::ReadVersions)?.id();
        let mut versions = all_of(&view, id)?;
        versions.reverse();
        Ok(versions)
    }

    /// Makes a version the current state again: content, description, mode, modification time, and what a link points to. What was
    /// current is kept where versions of each change are. Needs `Rights::WRITE_CONTENT` and `Rights::CHANGE_DESCRIPTION`.
    pub fn restore_version(&self, caller: &Caller, at: &At, version: u64) -> Result<Stat> {
        self.transact(|tx| {
            let chain = find(tx, caller, at, Operation::Replace)?;
            let id = chain.id();
            let record = record(tx, id, version)?;
            let restored = description(tx, id, version, &record)?;
            let old = metadata::Stored::read(tx, id.0)?;
            let stat = self.replace_state(tx, caller, chain, record, old.redescribed(&restored))?;
            metadata::replace(tx, id.0, &old, &restored)?;
            Ok(stat)
        })
    }

    /// Drops versions; returns how many. Needs `Rights::REMOVE`.
    pub fn prune_versions(&self, caller: &Caller, at: &At, prune: &Prune) -> Result<usize> {
        self.transact(|tx| {
            tx.frees_space();
            let chain = find(tx, caller, at, Operation::PruneVersions)?;
            let (id, mut new) = (chain.id(), chain.resource().clone());
            let gone = match prune {
                Prune::One(version) => {
                    record(tx, id, *version)?;
                    forget_all(tx, (id, chain.resource()), &[*version], &mut new)?;
                    1
                }
                Prune::All(retention) => prune_to(tx, (id, chain.resource()), retention, &mut new)?,
            };
            if new != *chain.resource() {
                rewrite_record(tx, id, chain.resource(), &new);
            }
            Ok(gone)
        })
    }
}

impl Version {
    fn new(version: u64, record: VersionRecord) -> Self {
        let time = record.stands_for();
        let described = record.attributes.as_ref().map_or(record.modified, |was| was.described);
        let VersionRecord { content, modified, modified_by, kept, kept_by, label, .. } = record;
        Self { version, content, modified, modified_by, kept, kept_by, time, described, label }
    }
}

impl VersionRecord {
    /// The time that a version represents.
    fn stands_for(&self) -> Time {
        let became = self.attributes.as_ref().map(|was| was.written.max(was.described));
        self.time.or(became).unwrap_or(self.modified)
    }
}

/// The versions of a resource by number.
pub(crate) fn all_of(reads: &impl Reads, id: ResourceId) -> Result<Vec<Version>> {
    let versions = VersionRecord::all_of(reads, id)?.into_iter();
    Ok(versions.map(|(number, record)| Version::new(number, record)).collect())
}

/// The content of a version.
pub(crate) fn content(reads: &impl Reads, id: ResourceId, version: u64) -> Result<ContentHead> {
    let content = record(reads, id, version)?.content;
    content.ok_or_else(|| Error::new(ErrorKind::WrongKind, "the version has no content"))
}

/// Deletes every version of a resource that is removed.
pub(crate) fn erase(tx: &mut Transaction, id: ResourceId, resource: &Resource) -> Result<()> {
    let records = VersionRecord::all_of(tx, id)?;
    let counted = bytes_of_versions(records.iter().map(|(_, record)| record), resource);
    tx.tallies.count(resource, -Delta::bytes(counted));
    for (version, record) in records {
        delete(tx, id, version, &record);
        difference::erase(tx, id, version)?;
    }
    Ok(())
}

/// Drops what the rules do not keep of a resource, which is as it was read; returns how many that are. `resource` is what it becomes.
fn prune_to(
    tx: &mut Transaction,
    (id, present): (ResourceId, &Resource),
    retention: &Retention,
    resource: &mut Resource,
) -> Result<usize> {
    if retention.is_unlimited() {
        return Ok(0);
    }
    let records = VersionRecord::all_of(tx, id)?;
    let dated = |(number, record): &(u64, VersionRecord)| retention::Dated {
        time: record.stands_for(),
        number: *number,
    };
    let unlabelled = records.iter().filter(|(_, record)| record.label.is_none());
    let unlabelled: Vec<_> = unlabelled.map(dated).collect();
    let spared = retention.spared(&unlabelled);
    let surplus: Vec<_> = (unlabelled.iter().map(|version| version.number))
        .filter(|number| !spared.contains(number))
        .collect();
    forget_all(tx, (id, present), &surplus, resource)?;
    Ok(surplus.len())
}

/// Drops these versions, in the order of their numbers. The differences of older ones to a dropped one become differences to the
/// next one then.
fn forget_all(
    tx: &mut Transaction,
    (id, present): (ResourceId, &Resource),
    numbers: &[u64],
    resource: &mut Resource,
) -> Result<()> {
    if numbers.is_empty() {
        return Ok(());
    }
    let mut versions: BTreeMap<u64, VersionRecord> =
        VersionRecord::all_of(tx, id)?.into_iter().collect();
    let counted = bytes_of_versions(versions.values(), present);
    for number in numbers {
        let Some(record) = versions.remove(number) else { continue };
        let older = versions.range(..number).next_back().filter(|(_, older)| older.is_apart);
        let mut compared = None;
        if let Some((older, of)) = older
            && let difference::Kept::Difference(further) =
                difference::Kept::read(tx, id, *older, of)?
        {
            let kept = difference::Kept::read(tx, id, *number, &record)?.then(&further);
            kept.replace(tx, id, *older)?;
            compared = Some(*older);
        }
        if resource.compared_version == Some(*number) {
            resource.compared_version = compared;
        }
        delete(tx, id, *number, &record);
        difference::erase(tx, id, *number)?;
    }
    let left = bytes_of_versions(versions.values(), present);
    tx.tallies.count(present, Delta::bytes(left.wrapping_sub(counted)));
    Ok(())
}

fn delete(tx: &mut Transaction, id: ResourceId, version: u64, record: &VersionRecord) {
    tx.delete(keys::version(id, version));
    if let Some(content) = &record.content {
        resources::release(tx, content.id, id, version);
    }
}

/// A version.
///
/// # Errors
/// [`ErrorKind::NotFound`] if there is none with this number.
pub(crate) fn record(reads: &impl Reads, id: ResourceId, version: u64) -> Result<VersionRecord> {
    reads.get(&keys::version(id, version))?.ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("no such version: {version}"))
            .with_hint("list the versions that are kept (`cenote versions ls`)")
    })
}

/// The description of the resource, or of a version of it.
pub(crate) fn description_of(
    reads: &impl Reads,
    id: ResourceId,
    version: Option<u64>,
) -> Result<Graph> {
    match version {
        Some(version) => description(reads, id, version, &record(reads, id, version)?),
        None => metadata::read(reads, id.0),
    }
}
