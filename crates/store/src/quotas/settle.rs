//! Settling: what a commit adds to counts, and what limits it has to keep.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::Bytes;
use cenote_kv::Bound;

use super::above::{Count, Lies, above, in_use, of_owner};
use super::kept::Replaced;
use super::{Delta, Exceeded};
use crate::catalog::keys::{self, Counter};
use crate::catalog::{QuotaKind, QuotaRecord, Reads, Record, Transaction};
use crate::model::{Counted, Measure, PersonId, QuotaLimits, QuotaOf, Resource, ResourceId};
use crate::{Error, ErrorKind, Result, Store};

/// What a transaction counts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tallies {
    noted: BTreeMap<(Lies, PersonId), Delta>,
    replaced: Vec<Replaced>,
    charges: BTreeMap<Counted, Delta>,
    marks: BTreeMap<u64, Delta>,
    limits: BTreeMap<Bytes, i64>,
}

impl Tallies {
    /// Counts this much more or less for a resource, for its collections and for its owner.
    pub(crate) fn count(&mut self, resource: &Resource, delta: Delta) {
        if !delta.is_zero() {
            *self.noted.entry((Lies::of(resource), resource.owner)).or_default() += delta;
        }
    }

    /// Notes that a resource may have got other bytes: the newest version counts from then on, if it has the old ones.
    pub(crate) fn replace(&mut self, id: ResourceId, old: &Resource, new: &Resource) {
        self.replaced.extend(Replaced::between(id, old, new));
    }

    pub(super) fn charge(&mut self, count: Count, delta: Delta) {
        match count {
            Count::Quota(counted) => *self.charges.entry(counted).or_default() += delta,
            Count::Mark(_, count) => *self.marks.entry(count).or_default() += delta,
        }
    }

    fn is_empty(&self) -> bool {
        let Self { noted, replaced, charges, marks, limits: _ } = self;
        noted.is_empty() && replaced.is_empty() && charges.is_empty() && marks.is_empty()
    }

    /// The limits of the counters that are added to.
    pub(crate) fn limits(&self) -> &BTreeMap<Bytes, i64> {
        &self.limits
    }

    pub(crate) fn into_limits(self) -> BTreeMap<Bytes, i64> {
        self.limits
    }
}

/// Adds what was noted so far to the counts that it bears on, and notes their limits. It may be called many times.
///
/// Cost: nothing where there is no quota; where there is one, a read of all their records.
pub(crate) fn settle(tx: &mut Transaction) -> Result<()> {
    if tx.tallies.is_empty() {
        return Ok(());
    }
    if !in_use(tx)? {
        tx.tallies = Tallies::default();
        return Ok(());
    }
    for replaced in std::mem::take(&mut tx.tallies.replaced) {
        let delta = replaced.settle(tx)?;
        *tx.tallies.noted.entry(replaced.of).or_default() += delta;
    }
    for ((lies, owner), delta) in std::mem::take(&mut tx.tallies.noted) {
        if delta.is_zero() {
            continue;
        }
        for count in above(tx, &lies)? {
            tx.tallies.charge(count, delta);
        }
        for counted in of_owner(tx, owner)? {
            tx.tallies.charge(Count::Quota(counted), delta);
        }
    }
    for (count, delta) in std::mem::take(&mut tx.tallies.marks) {
        add(tx, count, delta);
    }
    let charges = std::mem::take(&mut tx.tallies.charges);
    let keys: Vec<_> = charges.keys().map(|counted| keys::quota(counted.of)).collect();
    if keys.is_empty() {
        return Ok(());
    }
    for ((counted, delta), value) in charges.into_iter().zip(tx.values(&keys)?) {
        let record = value.map(|value| QuotaRecord::from_value(&value)).transpose()?;
        // A resource removed under an earlier quota does not count for the one that replaced it.
        if let Some(record) = record.filter(|record| record.count == counted.count) {
            add(tx, record.count, delta);
            keep(tx, counted.of, record)?;
        }
    }
    Ok(())
}

pub(super) fn add(tx: &mut Transaction, count: u64, delta: Delta) {
    tx.add(count, Counter::Bytes, delta.bytes);
    tx.add(count, Counter::Resources, delta.resources);
}

/// Notes the limits of a quota, and whether its soft ones are exceeded by this.
fn keep(tx: &mut Transaction, of: u64, mut record: QuotaRecord) -> Result<()> {
    if record.counting {
        return Ok(());
    }
    let counters = counters(record.count);
    if !record.soft.is_empty() {
        let is_over = record.is_over(&tx.glance(&counters)?);
        if is_over != record.over_since.is_some() {
            record.over_since = is_over.then(|| tx.now());
            tx.put(keys::quota(of), &record);
        }
    }
    let limits = record.enforced(tx.now());
    for ((_, most), counter) in measures(&limits).into_iter().zip(counters) {
        if let Some(most) = most {
            tx.tallies.limits.insert(counter, most);
        }
    }
    Ok(())
}

/// The counters of a count, in the order of [`measures`].
pub(super) fn counters(count: u64) -> [Bytes; 2] {
    [Counter::Bytes, Counter::Resources].map(|what| keys::counter(count, what))
}

pub(super) fn measures(limits: &QuotaLimits) -> [(Measure, Option<i64>); 2] {
    let most = |limit: Option<u64>| limit.map(|limit| i64::try_from(limit).unwrap_or(i64::MAX));
    [(Measure::Bytes, most(limits.bytes)), (Measure::Resources, most(limits.resources))]
}

impl QuotaRecord {
    pub(super) fn of(&self, id: u64) -> QuotaOf {
        match self.kind {
            QuotaKind::Collection => QuotaOf::Collection(ResourceId(id)),
            QuotaKind::User => QuotaOf::User(PersonId(id)),
            QuotaKind::Group => QuotaOf::Group(PersonId(id)),
        }
    }

    /// Whether a soft limit is exceeded by these totals.
    fn is_over(&self, totals: &[i64]) -> bool {
        let limits = measures(&self.soft).into_iter().zip(totals);
        limits.into_iter().any(|((_, most), total)| most.is_some_and(|most| *total > most))
    }

    /// When soft limits that are exceeded become hard ones.
    pub(super) fn until(&self) -> Option<crate::Time> {
        self.over_since.map(|since| since.plus(Duration::from_secs(self.grace)))
    }

    /// What is refused now.
    pub(super) fn enforced(&self, now: crate::Time) -> QuotaLimits {
        let is_over = self.until().is_some_and(|until| until <= now);
        let lower = |hard: Option<u64>, soft: Option<u64>| match is_over {
            true => hard.into_iter().chain(soft).min(),
            false => hard,
        };
        QuotaLimits {
            bytes: lower(self.hard.bytes, self.soft.bytes),
            resources: lower(self.hard.resources, self.soft.resources),
        }
    }
}

impl Store {
    /// The error for a commit that was refused since this counter holds too much.
    pub(crate) fn exceeded(&self, bounds: &[Bound], counter: &Bytes, held: i64) -> Result<Error> {
        let view = self.view()?;
        let most = bounds.iter().find(|bound| bound.key == *counter).map_or(held, |it| it.most);
        for (key, value) in view.rows(&keys::quotas(), usize::MAX)? {
            let record = QuotaRecord::from_value(&value)?;
            let of = record.of(keys::first_id(&key).unwrap_or_default());
            let measures = [Measure::Bytes, Measure::Resources];
            let mut counters = measures.into_iter().zip(counters(record.count));
            if let Some((measure, _)) = counters.find(|(_, key)| key == counter) {
                return Exceeded::new(&view, of, measure, most, held).map(Into::into);
            }
        }
        // It was removed in the meantime.
        Ok(Error::new(ErrorKind::Conflict, "the quotas were changed at the same time")
            .with_hint("try again"))
    }
}
