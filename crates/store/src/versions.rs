//! Versions: states of an object that were kept, content and description together.
//!
//! A version is numbered by the revision it was; so numbers grow, and are never reused. A labelled version is removed only by its
//! number, or with its object if the request says so.

mod loss;

use crate::access::{Chain, Operation};
use crate::catalog::{Reads, Record, Transaction, VersionRecord, keys};
use crate::model::{At, ContentHead, Graph, PersonId, ResourceId, Stat, Time, Versioning};
use crate::tree::find;
use crate::{Caller, Error, ErrorKind, Result, Store, contents, metadata};

/// A state that was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// Its number.
    pub version: u64,
    /// Its content.
    pub content: Option<ContentHead>,
    /// When it became the current state.
    pub modified: Time,
    /// Who made it so.
    pub modified_by: PersonId,
    /// When it was kept.
    pub kept: Time,
    /// Its label.
    pub label: Option<String>,
}

/// What happens to the versions of an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Prune {
    /// One of them is removed.
    One(u64),
    /// All but the newest few, and those with a label, go.
    KeepNewest(usize),
}

impl Store {
    /// The versions of an object, the newest first. Needs `Rights::READ_CONTENT`.
    pub fn versions(&self, caller: &Caller, at: &At) -> Result<Vec<Version>> {
        let view = self.view()?;
        let id = find(&view, caller, at, Operation::ReadVersions)?.id();
        let versions = records(&view, id)?.into_iter().rev();
        Ok(versions.map(|(number, record)| Version::new(number, record)).collect())
    }

    /// Keeps the current state as a version. Needs `Rights::WRITE_CONTENT`.
    pub fn keep_version(&self, caller: &Caller, at: &At, label: Option<&str>) -> Result<Version> {
        self.transact(|tx| {
            let chain = find(tx, caller, at, Operation::Write)?;
            if setting(&chain) == Versioning::Off {
                return Err(Error::invalid(format!("versions are off here: {at}"))
                    .with_hint("set `versioning` on a collection above it"));
            }
            let version = keep(tx, &chain, label)?;
            prune_to_most(tx, &chain)?;
            Ok(version)
        })
    }

    /// Makes a version the current state again; what was current is kept where versions of each change
    /// are. Needs `Rights::WRITE_CONTENT` and `Rights::CHANGE_DESCRIPTION`.
    pub fn restore_version(&self, caller: &Caller, at: &At, version: u64) -> Result<Stat> {
        self.transact(|tx| {
            let chain = find(tx, caller, at, Operation::Replace)?;
            let record = record(tx, chain.id(), version)?;
            let old = metadata::Stored::read(tx, chain.id().0)?;
            let restored: Graph = record.statements.into_iter().collect();
            let id = chain.id().0;
            let stat = self.replace_content(tx, caller, chain, record.content)?;
            metadata::replace(tx, id, &old, &restored)?;
            Ok(stat)
        })
    }

    /// Drops versions; returns how many. Needs `Rights::REMOVE`.
    pub fn prune_versions(&self, caller: &Caller, at: &At, prune: &Prune) -> Result<usize> {
        self.transact(|tx| {
            tx.frees_space();
            let id = find(tx, caller, at, Operation::PruneVersions)?.id();
            match prune {
                Prune::One(version) => {
                    let record = record(tx, id, *version)?;
                    forget(tx, id, *version, &record);
                    Ok(1)
                }
                Prune::KeepNewest(keep) => prune_to(tx, id, *keep),
            }
        })
    }
}

impl Version {
    fn new(version: u64, record: VersionRecord) -> Self {
        let VersionRecord { content, modified, modified_by, kept, label, .. } = record;
        Self { version, content, modified, modified_by, kept, label }
    }
}

pub(crate) use loss::{refuse_loss, refuse_loss_below};

/// Keeps the state that is about to be replaced, if the collections above want that.
pub(crate) fn keep_replaced(tx: &mut Transaction, chain: &Chain) -> Result<()> {
    let Versioning::EachChange { .. } = setting(chain) else { return Ok(()) };
    keep(tx, chain, None)?;
    prune_to_most(tx, chain)
}

/// Drops what is more than the collections above say.
fn prune_to_most(tx: &mut Transaction, chain: &Chain) -> Result<()> {
    match setting(chain).most() {
        Some(most) => prune_to(tx, chain.id(), most as usize).map(drop),
        None => Ok(()),
    }
}

/// The content of a version.
pub(crate) fn content(reads: &impl Reads, id: ResourceId, version: u64) -> Result<ContentHead> {
    let content = record(reads, id, version)?.content;
    content.ok_or_else(|| Error::new(ErrorKind::WrongKind, "the version has no content"))
}

/// Deletes every version of a resource that is removed.
pub(crate) fn erase(tx: &mut Transaction, id: ResourceId) -> Result<()> {
    for (version, record) in records(tx, id)? {
        forget(tx, id, version, &record);
    }
    Ok(())
}

/// The setting of the nearest collection that has one.
fn setting(chain: &Chain) -> Versioning {
    chain.resources().find_map(|resource| resource.versioning).unwrap_or_default()
}

fn keep(tx: &mut Transaction, chain: &Chain, label: Option<&str>) -> Result<Version> {
    let (id, resource) = (chain.id(), chain.resource());
    let number = resource.revision;
    let before = tx.get::<VersionRecord>(&keys::version(id, number))?;
    let label = label.map(str::to_owned).or_else(|| before.and_then(|before| before.label));
    let record = VersionRecord {
        content: resource.content.clone(),
        statements: metadata::read(tx, id.0)?.into_iter().collect(),
        modified: resource.modified,
        modified_by: resource.modified_by,
        kept: tx.now(),
        label,
    };
    if let Some(content) = &record.content {
        contents::refer(tx, content.id, id, number);
    }
    tx.put(keys::version(id, number), &record);
    Ok(Version::new(number, record))
}

fn prune_to(tx: &mut Transaction, id: ResourceId, keep: usize) -> Result<usize> {
    let mut records = records(tx, id)?;
    records.retain(|(_, record)| record.label.is_none());
    let surplus = records.len().saturating_sub(keep);
    for (version, record) in &records[..surplus] {
        forget(tx, id, *version, record);
    }
    Ok(surplus)
}

fn forget(tx: &mut Transaction, id: ResourceId, version: u64, record: &VersionRecord) {
    tx.delete(keys::version(id, version));
    if let Some(content) = &record.content {
        contents::release(tx, content.id, id, version);
    }
}

fn record(reads: &impl Reads, id: ResourceId, version: u64) -> Result<VersionRecord> {
    reads.get(&keys::version(id, version))?.ok_or_else(|| {
        Error::new(ErrorKind::NotFound, format!("no such version: {version}"))
            .with_hint("list the versions that are kept")
    })
}

fn records(reads: &impl Reads, id: ResourceId) -> Result<Vec<(u64, VersionRecord)>> {
    let rows = reads.rows(&keys::versions(id), usize::MAX)?;
    rows.iter()
        .map(|(key, value)| {
            Ok((keys::last_id(key).unwrap_or_default(), VersionRecord::from_value(value)?))
        })
        .collect()
}
