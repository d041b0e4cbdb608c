//! Long-running work: replicating and trimming everything below a collection, draining a place, and restoring a tree of the past
//! (`past/restore`). It is
//! recorded, done step by step, and continues after a restart.
//!
//! Invariant: each step can be repeated; the record says up to where nothing needs to be.

mod drain;
mod tree;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::catalog::{FinishedRecord, JobRecord, Reads, Record, Tally, keys};
use crate::model::{PersonId, ResourceId, Time};
use crate::servers::BEAT;
use crate::{Act, Caller, Error, ErrorKind, Result, Store};

/// How far a job has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobStatus {
    /// Its id.
    pub id: u64,
    /// What it does: `replicate`, `trim`, `drain`, `restore` or `sweep`.
    pub kind: &'static str,
    /// The user who requested it, if known.
    pub user: Option<PersonId>,
    /// The subtree that the token with which it was begun is limited to.
    pub within: Option<ResourceId>,
    /// How many objects or blobs it has seen to.
    pub done: u64,
    /// How many it could not see to.
    pub failed: u64,
    /// What the last failure was.
    pub fault: Option<String>,
    /// Whether it is over. A store remembers that until it is closed; over a catalog that several servers share, for a day.
    pub finished: bool,
}

/// The jobs that this process works on, and those that it has finished in a catalog of its own.
#[derive(Debug, Default, Clone)]
pub(crate) struct RunningJobs(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    running: BTreeSet<u64>,
    faults: BTreeMap<u64, String>,
    finished: BTreeMap<u64, JobStatus>,
}

/// How many finished jobs are remembered.
const REMEMBERED: usize = 1_000;

/// The right to work on a job, until it is dropped.
struct Turn<'a>(&'a RunningJobs, u64);

impl RunningJobs {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self, id: u64) -> Option<Turn<'_>> {
        let is_free = self.state().running.insert(id);
        // Made only if it is: one that is dropped ends the turn of whoever has it.
        is_free.then(|| Turn(self, id))
    }

    fn fault(&self, id: u64, error: &Error) {
        tracing::warn!(job = id, %error, "a part of a job failed");
        self.state().faults.insert(id, error.to_string());
    }

    fn forget_fault(&self, id: u64) {
        self.state().faults.remove(&id);
    }

    fn remember(&self, status: JobStatus) {
        let mut state = self.state();
        state.finished.insert(status.id, status);
        if state.finished.len() > REMEMBERED {
            state.finished.pop_first();
        }
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state().running.remove(&self.1);
    }
}

impl Store {
    /// Works off the recorded jobs that move bytes and that nobody works on yet, one after the other.
    pub async fn run_moves(&self) -> Result<()> {
        let jobs = self.view()?.rows(&keys::jobs(), usize::MAX)?;
        if self.is_shared() && !jobs.is_empty() {
            // A place that a job names may have been added by another server.
            self.blocking(|store| store.refresh_places()).await?;
        }
        for (key, _) in jobs {
            self.run_move(keys::last_id(&key).unwrap_or_default()).await?;
        }
        Ok(())
    }

    /// Works on one job, unless somebody does, or has finished it: what it is, and how far it has come, is read by whoever has
    /// its turn.
    async fn run_move(&self, id: u64) -> Result<()> {
        let Some(_turn) = self.inner.moves.turn(id) else { return Ok(()) };
        let Some(record) = self.view()?.get::<JobRecord>(&keys::job(id))? else { return Ok(()) };
        let tally = match &record {
            JobRecord::Sweep(_)
            | JobRecord::Measure(_)
            | JobRecord::Count(_)
            | JobRecord::Bind(_)
            | JobRecord::Unmark(..) => return Ok(()),
            JobRecord::Tree(job) => self.run_tree(id, job.clone()).await?,
            JobRecord::Drain(job) => self.run_drain(id, job.clone()).await?,
            JobRecord::Restore(job) => self.run_restore(id, job.clone()).await?,
        };
        self.finish_job(id, &record, tally)
    }

    /// How far a job has come: for administrators, and for the user who began it, but not with a token for another subtree, since
    /// it names what it failed on.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for another's, and for one that never was, or that was finished before the store was
    /// opened.
    pub fn job(&self, caller: &Caller, id: u64) -> Result<JobStatus> {
        let reached = |job: &JobStatus| caller.within().is_none() || job.within == caller.within();
        let own = |job: &JobStatus| {
            job.user == Some(caller.user()) && !caller.is_anonymous() && reached(job)
        };
        match self.any_job(id) {
            Ok(job) if !caller.may(Act::OthersWork) && !own(&job) => Err(no_job(id)),
            job => job,
        }
    }

    fn any_job(&self, id: u64) -> Result<JobStatus> {
        let view = self.view()?;
        if let Some(record) = view.get::<JobRecord>(&keys::job(id))? {
            return Ok(self.status(id, &record, record.tally(), false));
        }
        // Only now: it is remembered before its record is deleted.
        if let Some(finished) = self.inner.moves.state().finished.get(&id) {
            return Ok(finished.clone());
        }
        let finished =
            view.get::<FinishedRecord>(&keys::finished_job(id))?.ok_or_else(|| no_job(id))?;
        let status = self.status(id, &finished.job, finished.tally, true);
        Ok(JobStatus { fault: finished.fault, ..status })
    }

    /// Works on a recorded job until it has ended, or waits for whoever does.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] for one that is not known, and what keeps the job from continuing.
    pub async fn finish(&self, id: u64) -> Result<JobStatus> {
        loop {
            let mut ended = std::pin::pin!(self.inner.moved.notified());
            ended.as_mut().enable();
            let status = self.any_job(id)?;
            if status.finished {
                return Ok(status);
            }
            if self.leads() {
                self.run_moves().await?;
            }
            if !self.any_job(id)?.finished {
                self.until_moved(ended).await;
            }
        }
    }

    /// Waits until a job may have ended; another server does not ring.
    async fn until_moved(&self, ended: impl Future<Output = ()>) {
        match self.is_shared() {
            true => drop(tokio::time::timeout(BEAT, ended).await),
            false => ended.await,
        }
    }

    /// Records a job; the process that maintains the store starts it at once.
    fn begin_job(&self, record: &JobRecord) -> Result<JobStatus> {
        let id = self.new_id()?;
        self.note_job(id, record)?;
        Ok(self.begun_job(id, record))
    }

    /// The state of a job that was recorded; the process that maintains the store starts it at once.
    pub(crate) fn begun_job(&self, id: u64, record: &JobRecord) -> JobStatus {
        self.inner.moving.notify_one();
        self.status(id, record, Tally::default(), false)
    }

    /// Notes how far a job has come.
    fn note_job(&self, id: u64, record: &JobRecord) -> Result<()> {
        self.transact(|tx| {
            tx.put(keys::job(id), record);
            Ok(())
        })
    }

    fn finish_job(&self, id: u64, record: &JobRecord, tally: Tally) -> Result<()> {
        let status = self.status(id, record, tally, true);
        match self.is_shared() {
            // In the catalog only: no server may report an end that the others do not see yet.
            true => self.record_end(id, record, tally, status.fault.as_ref())?,
            false => {
                // First, so that a job is always either recorded or remembered.
                self.inner.moves.remember(status);
                self.transact(|tx| {
                    tx.delete(keys::job(id));
                    Ok(())
                })?;
            }
        }
        self.inner.moves.forget_fault(id);
        self.inner.moved.notify_waiters();
        Ok(())
    }

    /// Replaces a job by its result, for all servers.
    fn record_end(
        &self,
        id: u64,
        record: &JobRecord,
        tally: Tally,
        fault: Option<&String>,
    ) -> Result<()> {
        self.transact(|tx| {
            let (job, fault, ended) = (record.clone(), fault.cloned(), tx.now());
            tx.delete(keys::job(id));
            tx.put(keys::finished_job(id), &FinishedRecord { job, tally, fault, ended });
            Ok(())
        })
    }

    /// Forgets jobs of other servers, too, that ended before.
    pub(crate) fn forget_jobs(&self, before: Time) -> Result<()> {
        for (key, value) in self.view()?.rows(&keys::finished_jobs(), usize::MAX)? {
            if FinishedRecord::from_value(&value)?.ended < before {
                self.transact(|tx| {
                    tx.frees_space();
                    tx.delete(key.clone());
                    Ok(())
                })?;
            }
        }
        Ok(())
    }

    /// Notes what a job failed on last.
    pub(crate) fn note_job_fault(&self, id: u64, error: &Error) {
        self.inner.moves.fault(id, error);
    }

    fn status(&self, id: u64, record: &JobRecord, tally: Tally, finished: bool) -> JobStatus {
        let fault = self.inner.moves.state().faults.get(&id).cloned();
        let Tally { done, failed } = tally;
        let (kind, user, within) = (record.kind(), record.user(), record.within());
        JobStatus { id, kind, user, within, done, failed, fault, finished }
    }
}

fn no_job(id: u64) -> Error {
    Error::new(ErrorKind::NotFound, format!("no such job: {id}"))
        .with_hint("it may have been finished before the store was opened")
}

impl JobRecord {
    fn tally(&self) -> Tally {
        match self {
            Self::Tree(job) => job.tally,
            Self::Drain(job) => job.tally,
            Self::Restore(job) => job.tally,
            _ => Tally::default(),
        }
    }

    fn user(&self) -> Option<PersonId> {
        match self {
            Self::Tree(job) => Some(job.user),
            Self::Restore(job) => Some(job.user),
            _ => None,
        }
    }

    fn within(&self) -> Option<ResourceId> {
        match self {
            Self::Tree(job) => job.within,
            Self::Restore(job) => job.within,
            _ => None,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Self::Sweep(_) => "sweep",
            Self::Measure(_) => "measure",
            Self::Count(_) => "count",
            Self::Unmark(..) => "unmark",
            Self::Bind(_) => "bind",
            Self::Tree(job) => job.what.kind(),
            Self::Drain(_) => "drain",
            Self::Restore(_) => "restore",
        }
    }
}
