//! Writes: a group of batches becomes one atomic write with one sync, that of the log; a large one with a sync of
//! the tree.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{MutexGuard, PoisonError};

use bytes::Bytes;
use fjall::PersistMode;

use super::log::{self, Group};
use super::snapshot::FjallSnapshot;
use super::space::For;
use super::steps::Step;
use super::{Acknowledged, FjallEngine, error, layout};
use crate::overlay::Overlay;
use crate::queue::{Caller, Pending};
use crate::{CommitError, Error, Result, Snapshot, Token, Version};

/// The batches of a group whose evidence is valid, and their combined changes.
struct Admitted {
    callers: Vec<(Caller, Version)>,
    group: Group,
}

impl FjallEngine {
    /// Answers every batch of `group`. Only the leader calls this.
    pub(super) fn write(&self, group: Vec<Pending>) {
        if self.is_latched() {
            return refuse(group, || CommitError::Latched);
        }
        let size = group.iter().map(|pending| pending.batch.size()).sum();
        let admitted = self.descriptors.admit(size).map_err(super::io);
        match admitted.and_then(|()| FjallSnapshot::new(&self.store)) {
            Ok(base) => self.write_on(&base, group),
            Err(failed) => {
                let reason = failed.to_string();
                refuse(group, || CommitError::Engine(Error::Io(reason.clone().into())));
            }
        }
    }

    fn write_on(&self, base: &FjallSnapshot, group: Vec<Pending>) {
        let Admitted { callers, group } = admit(base, self.with_room(group));
        if callers.is_empty() {
            return;
        }
        match self.persist(group) {
            Ok(()) => callers.into_iter().for_each(|(caller, version)| caller.answer(Ok(version))),
            Err(failed) => callers.into_iter().for_each(|(caller, _)| caller.answer(Err(failed()))),
        }
    }

    /// Refuses batches for which there is no space.
    fn with_room(&self, group: Vec<Pending>) -> Vec<Pending> {
        let what = |pending: &Pending| match pending.batch.frees {
            true => For::Freeing,
            false => For::Adding,
        };
        let size = |group: &[Pending]| group.iter().map(|pending| pending.batch.size()).sum();
        let (adding, mut freeing): (Vec<_>, Vec<_>) =
            group.into_iter().partition(|pending| what(pending) == For::Adding);
        let both = size(&adding) + size(&freeing);
        if !freeing.is_empty() && !self.reserve.has_room_for(size(&freeing), For::Freeing) {
            refuse(std::mem::take(&mut freeing), || CommitError::NoSpace);
        }
        match adding.is_empty() || self.reserve.has_room_for(both, For::Adding) {
            true => freeing.extend(adding),
            false => refuse(adding, || CommitError::NoSpace),
        }
        freeing
    }

    /// Writes durably. The error is recreated for each caller.
    ///
    /// Once something may have been written every failure is "unknown", whatever its cause: what the log or the
    /// journal of the tree has is applied when the store is opened again.
    fn persist(&self, group: Group) -> Result<(), Box<dyn Fn() -> CommitError>> {
        let size = group.size();
        let removed = group.rows.iter().filter(|(_, value)| value.is_none()).count();
        let writing = Writing(&self.latched);
        let written = match size <= log::LARGEST {
            true => self.write_logged(group),
            false => self.write_synced(group),
        };
        match written {
            Ok(()) => {
                self.removed.count(removed as u64);
                writing.end();
            }
            Err(failed) => {
                let reason = error(failed).to_string();
                return Err(Box::new(move || {
                    CommitError::Unknown(Error::Io(reason.clone().into()))
                }));
            }
        }
        Ok(())
    }

    fn write_logged(&self, group: Group) -> fjall::Result<()> {
        let mut acknowledged = self.acknowledged();
        let Acknowledged { log, mark, background } = &mut *acknowledged;
        self.steps.reach(Step::Begin)?;
        while !log.write(&group)? {
            self.steps.reach(Step::LogFull)?;
            self.store.sync()?;
            log.restart();
        }
        self.steps.reach(Step::Logged)?;
        log.sync()?;
        self.steps.reach(Step::LogSynced)?;
        self.store.write(group.rows, None)?;
        self.steps.reach(Step::Written)?;
        background.reached(log.end(), || self.store.table());
        Ok(mark.acknowledge(group.after)?)
    }

    fn write_synced(&self, group: Group) -> fjall::Result<()> {
        let settled = group.settled();
        self.steps.reach(Step::Begin)?;
        self.store.write(group.rows, Some(PersistMode::SyncData))?;
        self.steps.reach(Step::Written)?;
        let mut acknowledged = self.acknowledged();
        let Acknowledged { log, mark, .. } = &mut *acknowledged;
        log.restart();
        log.write(&settled)?;
        self.steps.reach(Step::Logged)?;
        log.sync()?;
        self.steps.reach(Step::LogSynced)?;
        Ok(mark.acknowledge(settled.after)?)
    }

    fn acknowledged(&self) -> MutexGuard<'_, Acknowledged> {
        self.acknowledged.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_latched(&self) -> bool {
        self.latched.load(Ordering::Acquire)
    }

    pub(super) fn find_token(&self, token: &Token) -> Result<Option<Version>> {
        for value in FjallSnapshot::new(&self.store)?.tokens() {
            let value = value?;
            let (version, found) = layout::parse_token(&value)
                .ok_or_else(|| Error::Corrupt("a token has the wrong length".to_owned()))?;
            if found == token {
                return Ok(Some(version));
            }
        }
        Ok(None)
    }
}

/// Reports the result of batches that cannot proceed, and collects the others.
fn admit(base: &FjallSnapshot, group: Vec<Pending>) -> Admitted {
    let mut overlay = Overlay::new(base);
    let mut callers = Vec::with_capacity(group.len());
    let mut own = Vec::with_capacity(group.len() + 1);
    for Pending { batch, caller } in group {
        let token = batch.token;
        match overlay.admit(batch) {
            Ok(version) => {
                own.extend(token.map(|token| layout::token_row(version, &token)));
                callers.push((caller, version));
            }
            Err(refused) => caller.answer(Err(refused)),
        }
    }
    let (before, after) = (base.version(), overlay.version());
    let version = Bytes::copy_from_slice(&after.to_be_bytes());
    own.push((Bytes::from_static(&layout::VERSION), version));
    let own = own.into_iter().map(|(key, value)| (key, Some(value)));
    let rows = overlay.into_changes().into_iter().chain(own).collect();
    Admitted { callers, group: Group { before, after, rows } }
}

/// A write in progress. Unless it completes, the engine accepts no more commits: after an error or a panic, the state
/// on disk is known only after it is read back. Latched before any caller gets a result.
struct Writing<'a>(&'a AtomicBool);

impl Writing<'_> {
    fn end(self) {
        std::mem::forget(self);
    }
}

impl Drop for Writing<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

fn refuse(group: Vec<Pending>, error: impl Fn() -> CommitError) {
    group.into_iter().for_each(|pending| pending.caller.answer(Err(error())));
}
