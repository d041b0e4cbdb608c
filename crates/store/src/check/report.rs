//! The report of findings, and the repair of derivable ones: in bounded commits, each of which
//! looks again whether the finding still holds.

use bytes::Bytes;
use cenote_kv::KeyRange;
use tokio::sync::mpsc::Sender;

use super::Finding;
use crate::access::Chain;
use crate::catalog::{Reads, Record, Transaction, View};
use crate::model::{ResourceId, StorePath};
use crate::waiting::go_on;
use crate::{Error, ErrorKind, Result, Store};

/// Repairs one finding; false if it no longer holds.
pub(super) type Repair = Box<dyn Fn(&mut Transaction) -> Result<bool>>;

/// How many findings are repaired in one commit.
const STEP: usize = 128;

pub(super) struct Report<'a> {
    pub(super) store: &'a Store,
    repair: bool,
    listener: &'a Sender<Result<Finding>>,
    waiting: Vec<(Finding, Option<Repair>)>,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        store: &'a Store,
        repair: bool,
        listener: &'a Sender<Result<Finding>>,
    ) -> Self {
        Self { store, repair, listener, waiting: Vec::new() }
    }

    /// Reports what nothing can be derived from.
    pub(super) fn lost(&mut self, finding: Finding) -> Result<()> {
        self.take(finding, None)
    }

    /// Reports what `repair` repairs.
    pub(super) fn derivable(
        &mut self,
        finding: Finding,
        repair: impl Fn(&mut Transaction) -> Result<bool> + 'static,
    ) -> Result<()> {
        self.take(finding, Some(Box::new(repair)))
    }

    fn take(&mut self, finding: Finding, repair: Option<Repair>) -> Result<()> {
        self.waiting.push((finding, repair));
        if self.waiting.len() < STEP { Ok(()) } else { self.flush() }
    }

    /// Repairs and reports pending findings.
    pub(super) fn flush(&mut self) -> Result<()> {
        if self.repair {
            self.mend()?;
        }
        for (finding, _) in self.waiting.drain(..) {
            self.listener.blocking_send(Ok(finding)).map_err(|_| gone())?;
        }
        Ok(())
    }

    fn mend(&mut self) -> Result<()> {
        let waiting = &self.waiting;
        let mended = self.store.transact(|tx| {
            let mend = |(_, repair): &(Finding, Option<Repair>)| {
                repair.as_ref().map_or(Ok(false), |repair| repair(tx))
            };
            waiting.iter().map(mend).collect::<Result<Vec<bool>>>()
        })?;
        for ((finding, _), mended) in self.waiting.iter_mut().zip(mended) {
            finding.repaired = mended;
        }
        Ok(())
    }
}

/// The error that ends an abandoned check.
pub(super) fn gone() -> Error {
    Error::new(ErrorKind::Unavailable, "the check was abandoned")
}

/// The value of a key.
pub(super) enum Look<T> {
    Missing,
    /// Reported where its own table is checked; nothing is concluded from it.
    Damaged,
    Found(T),
}

impl<T> Look<T> {
    pub(super) fn map<U>(self, what: impl FnOnce(T) -> U) -> Look<U> {
        match self {
            Self::Missing => Look::Missing,
            Self::Damaged => Look::Damaged,
            Self::Found(found) => Look::Found(what(found)),
        }
    }
}

impl Look<bool> {
    /// What was found, or this if it is missing; nothing is concluded from damage.
    pub(super) fn or_missing(self, missing: bool) -> bool {
        match self {
            Self::Missing => missing,
            Self::Damaged => false,
            Self::Found(found) => found,
        }
    }
}

pub(super) fn look<T: Record>(view: &View, key: &Bytes) -> Result<Look<T>> {
    Ok(match view.value(key)? {
        None => Look::Missing,
        Some(value) => T::from_value(&value).map_or(Look::Damaged, Look::Found),
    })
}

/// The rows of a table, read as they are needed.
pub(super) fn rows(view: &View, range: &KeyRange) -> impl Iterator<Item = Result<(Bytes, Bytes)>> {
    view.snapshot.scan(range, Default::default()).map(|row| go_on().and(Ok(row?)))
}

/// A repair that is right while the rows that it was derived from are as they were seen.
pub(super) fn while_same(
    seen: Vec<(Bytes, Option<Bytes>)>,
    fix: impl Fn(&mut Transaction) + 'static,
) -> impl Fn(&mut Transaction) -> Result<bool> + 'static {
    move |tx| {
        let is_same = is_same(tx, &seen)?;
        if is_same {
            fix(tx);
        }
        Ok(is_same)
    }
}

/// Whether these keys hold what was seen, for a fix that may fail.
pub(super) fn is_same(tx: &Transaction, seen: &[(Bytes, Option<Bytes>)]) -> Result<bool> {
    for (key, value) in seen {
        if tx.value(key)? != *value {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Deletes rows that lead nowhere, while they do.
pub(super) fn delete_while_same(
    view: &View,
    key: &Bytes,
    because: Bytes,
) -> Result<impl Fn(&mut Transaction) -> Result<bool> + 'static> {
    let seen = vec![(key.clone(), view.value(key)?), (because.clone(), view.value(&because)?)];
    let key = key.clone();
    Ok(while_same(seen, move |tx| tx.delete(key.clone())))
}

/// Where a resource is, if it can be reached.
pub(super) fn path_of(view: &View, id: ResourceId) -> Option<StorePath> {
    Chain::read(view, id).ok().flatten().map(|chain| chain.path())
}
