//! Setting and removing quotas; those of collections here, those of users and groups in [`owners`].

use super::above::{NOT_COUNTED, forget};
use super::owners;
use crate::access::{Act, Chain, Operation};
use crate::catalog::{JobRecord, QuotaKind, QuotaRecord, Reads, Transaction, keys};
use crate::model::{At, Counting, QuotaLimits, Resource, ResourceId};
use crate::resources::{find, require_collection, rewrite_record};
use crate::{Caller, Error, ErrorKind, Quota, Result, Store};

/// The default grace time of soft limits.
const GRACE: u64 = 7 * 24 * 3_600;
/// The longest time: ten years.
const LONGEST_GRACE: u64 = 10 * 365 * 24 * 3_600;

/// What a quota limits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum QuotaTarget {
    /// Totals below a collection, without itself.
    Collection(At),
    /// What a user owns, by name.
    User(String),
    /// What the members of a group own together, by name.
    Group(String),
}

/// The limits of a quota.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuotaSetting {
    /// Never exceeded.
    pub hard: QuotaLimits,
    /// May be exceeded for a time.
    pub soft: QuotaLimits,
    /// For how many seconds; 7 days if this is none.
    pub grace: Option<u64>,
}

impl QuotaSetting {
    fn check(&self) -> Result<()> {
        let Self { hard, soft, grace } = self;
        if hard.is_empty() && soft.is_empty() {
            return Err(Error::invalid("a quota needs a limit")
                .with_hint("give a number of bytes or of resources, or remove the quota"));
        }
        let all = [hard.bytes, hard.resources, soft.bytes, soft.resources];
        if all.into_iter().flatten().any(|limit| i64::try_from(limit).is_err()) {
            return Err(Error::invalid(format!("a limit is at most {}", i64::MAX))
                .with_hint("leave out the limit if there is none"));
        }
        let exceeds =
            |soft: Option<u64>, hard: Option<u64>| soft.zip(hard).is_some_and(|(s, h)| s > h);
        if exceeds(soft.bytes, hard.bytes) || exceeds(soft.resources, hard.resources) {
            return Err(Error::invalid("a soft limit is above the hard one")
                .with_hint("a soft limit warns before the hard one refuses: lower it"));
        }
        match grace {
            Some(_) if soft.is_empty() => Err(Error::invalid("a grace time without a soft limit")
                .with_hint("give the soft limit that may be exceeded for that time")),
            Some(seconds) if *seconds > LONGEST_GRACE => {
                Err(Error::invalid("a soft limit may be exceeded for ten years at most")
                    .with_hint("leave the soft limit out if it need not be enforced"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn apply(self, record: QuotaRecord) -> QuotaRecord {
        let Self { hard, soft, grace } = self;
        // Whether it is exceeded is noted by the next commit.
        QuotaRecord { hard, soft, grace: grace.unwrap_or(GRACE), over_since: None, ..record }
    }
}

impl Store {
    /// Sets a quota, or changes its limits. Existing resources are counted before this returns; if that is interrupted, upkeep
    /// continues it, and nothing is refused until then. Resources removed before do not count.
    ///
    /// For a collection it needs `Rights::CONTROL` over the collection above it, for the root [`Act::Configure`], for a user or a
    /// group [`Act::People`].
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for invalid limits, [`ErrorKind::WrongKind`] for a resource that is not a collection.
    pub fn set_quota(
        &self,
        caller: &Caller,
        target: &QuotaTarget,
        setting: QuotaSetting,
    ) -> Result<Quota> {
        setting.check()?;
        self.require_no_set()?;
        let count = self.new_id()?;
        let id = self.transact(|tx| match target {
            QuotaTarget::Collection(at) => set_on_collection(tx, caller, at, setting, count),
            QuotaTarget::User(name) => owners::set_on_user(tx, caller, name, setting, count),
            QuotaTarget::Group(name) => owners::set_on_group(tx, caller, name, setting, count),
        })?;
        self.count_quota(id)?;
        self.shown_quota(id)
    }

    /// Removes a quota. Needs what [`Store::set_quota`] needs.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is none.
    pub fn remove_quota(&self, caller: &Caller, target: &QuotaTarget) -> Result<()> {
        self.require_no_set()?;
        self.transact(|tx| {
            tx.frees_space();
            match target {
                QuotaTarget::Collection(at) => remove_from_collection(tx, caller, at),
                QuotaTarget::User(name) => owners::remove_from_user(tx, caller, name),
                QuotaTarget::Group(name) => owners::remove_from_group(tx, caller, name),
            }
        })
    }
}

impl Store {
    /// What was there when a quota was set is counted on a snapshot in which it is set: a change set has none.
    fn require_no_set(&self) -> Result<()> {
        match self.is_within() {
            true => Err(Error::invalid("a quota cannot be part of a change set").with_hint(
                "make the request without the change set: it then takes effect at once",
            )),
            false => Ok(()),
        }
    }
}

/// A collection that the caller may set the quota of.
fn settable(tx: &Transaction, caller: &Caller, at: &At) -> Result<Chain> {
    let chain = find(tx, caller, at, Operation::Stat)?;
    require_collection(&chain).map_err(|error| {
        error.with_hint("a quota limits what lies below a collection, or what a user or group owns")
    })?;
    match chain.collection() {
        Some(above) => {
            let path = At::from(above.path());
            above.require(caller, Operation::SetQuota, &path)?;
        }
        None => caller.require(Act::Configure)?,
    }
    Ok(chain)
}

fn set_on_collection(
    tx: &mut Transaction,
    caller: &Caller,
    at: &At,
    setting: QuotaSetting,
    count: u64,
) -> Result<u64> {
    let chain = settable(tx, caller, at)?;
    let id = chain.id();
    let key = keys::quota(id.0);
    if let Some(record) = tx.get::<QuotaRecord>(&key)? {
        tx.put(key, &setting.apply(record));
        return Ok(id.0);
    }
    begin(tx, id.0, QuotaKind::Collection, setting, count);
    note_use(tx, false)?;
    let old = tx.get::<Resource>(&keys::resource(id))?.unwrap_or_else(|| chain.into_resource());
    let counting = old.counting.clone().unwrap_or_default();
    write_counting(tx, id, &old, Counting { quota: Some(count), ..counting });
    Ok(id.0)
}

/// Has commits look for quotas from now on; also for those of owners.
pub(super) fn note_use(tx: &mut Transaction, owners: bool) -> Result<()> {
    let root = tx.get::<Resource>(&keys::resource(ResourceId::ROOT))?;
    let root = root.ok_or_else(|| Error::damaged("the root is missing"))?;
    let counting = root.counting.clone().unwrap_or_default();
    let noted = Counting { in_use: true, owners: counting.owners || owners, ..counting.clone() };
    if noted != counting {
        write_counting(tx, ResourceId::ROOT, &root, noted);
    }
    Ok(())
}

/// Writes a quota that counts from now on, and the job that counts what was there before.
pub(super) fn begin(
    tx: &mut Transaction,
    id: u64,
    kind: QuotaKind,
    setting: QuotaSetting,
    count: u64,
) {
    let record = QuotaRecord { counting: true, count, ..unlimited(kind) };
    tx.put(keys::quota(id), &setting.apply(record));
    tx.put(keys::job(count), &JobRecord::Count(id));
}

/// The record of a user or group that is not limited itself.
pub(super) fn unlimited(kind: QuotaKind) -> QuotaRecord {
    let (hard, soft) = <(QuotaLimits, QuotaLimits)>::default();
    QuotaRecord {
        count: NOT_COUNTED,
        kind,
        hard,
        soft,
        grace: GRACE,
        counting: false,
        over_since: None,
        groups: Vec::new(),
    }
}

fn remove_from_collection(tx: &mut Transaction, caller: &Caller, at: &At) -> Result<()> {
    let chain = settable(tx, caller, at)?;
    let id = chain.id();
    let record = tx.get::<QuotaRecord>(&keys::quota(id.0))?.ok_or_else(|| no_quota(at))?;
    tx.delete(keys::quota(id.0));
    forget(tx, record.count);
    let old = chain.resource();
    let counting = old.counting.clone().unwrap_or_default();
    write_counting(tx, id, old, Counting { quota: None, ..counting });
    Ok(())
}

/// No clock advances: a quota is not an attribute of its collection.
fn write_counting(tx: &mut Transaction, id: ResourceId, old: &Resource, counting: Counting) {
    rewrite_record(tx, id, old, &Resource { counting: counting.or_none(), ..old.clone() });
}

pub(super) fn no_quota(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::NotFound, format!("no quota is set: {what}"))
        .with_hint("list the existing quotas (`cenote quota ls`)")
}
