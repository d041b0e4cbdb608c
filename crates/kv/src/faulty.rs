//! An engine that fails on demand, for tests of code that uses an engine.
//!
//! A test runs an operation once to count the engine's steps, then once for each step with a fault there, and
//! examines the result.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use crate::{
    Batch, CommitError, Engine, Error, KeyRange, Limits, Result, Room, Row, Rows, ScanOptions,
    Snapshot, Token, Version,
};

/// How a step fails. Reads fail alike in each case, and the engine continues after them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// A commit answers "no space"; the engine continues.
    Refuse,
    /// A commit is lost and answers "unknown"; the engine is latched.
    Lose,
    /// A commit is applied, but answers "unknown"; the engine is latched.
    Keep,
    /// As [`Fault::Lose`], but the outcome is known only when the engine is reopened ([`Error::Undecided`]).
    LoseInDoubt,
    /// As [`Fault::Keep`], but it is applied, and shows, only when the engine is opened again.
    KeepInDoubt,
}

/// Forwards calls to another engine until the step at which it has to fail.
///
/// A step is a snapshot, a read, a scan, a commit or the query for an outcome.
/// A scan of more than one row fails after its first.
#[derive(Debug, Clone)]
pub struct FaultyEngine {
    inner: Arc<dyn Engine>,
    plan: Arc<Plan>,
}

#[derive(Debug, Default)]
struct Plan {
    steps: AtomicU64,
    /// Those of the steps that were commits.
    commits: Mutex<Vec<u64>>,
    latched: AtomicBool,
    fault: Mutex<Option<(u64, Fault)>>,
    doubt: Mutex<Doubt>,
}

/// What shows when the engine is opened again.
#[derive(Debug, Default)]
enum Doubt {
    #[default]
    None,
    Lost,
    Kept(Batch),
}

impl FaultyEngine {
    /// Does what `inner` does, until told otherwise.
    pub fn new(inner: Arc<dyn Engine>) -> Self {
        Self { inner, plan: Arc::default() }
    }

    /// Fails at step `step`, counted from 1 after this call.
    pub fn fail_at(&self, step: u64, fault: Fault) {
        self.plan.restart(Some((step, fault)));
    }

    /// Fails no more, as if the engine had been opened again; counts steps from zero.
    pub fn heal(&self) {
        self.plan.restart(None);
        if let Doubt::Kept(batch) = std::mem::take(&mut *self.plan.doubt()) {
            self.inner.commit(batch).expect("a latched engine took no commit since");
        }
    }

    /// Steps since the last call of [`Self::fail_at`] or [`Self::heal`].
    pub fn steps(&self) -> u64 {
        self.plan.steps.load(Ordering::SeqCst)
    }

    /// Those of the [`steps`](Self::steps) that were commits, in order: at any other step each fault is the same one.
    pub fn commits(&self) -> Vec<u64> {
        self.plan.commits().clone()
    }
}

impl Plan {
    fn restart(&self, fault: Option<(u64, Fault)>) {
        *self.fault.lock().unwrap_or_else(PoisonError::into_inner) = fault;
        self.steps.store(0, Ordering::SeqCst);
        self.commits().clear();
        self.latched.store(false, Ordering::SeqCst);
    }

    /// Counts a step; returns the fault if it is due.
    fn step(&self, commit: bool) -> Option<Fault> {
        let now = self.steps.fetch_add(1, Ordering::SeqCst) + 1;
        if commit {
            self.commits().push(now);
        }
        let fault = *self.fault.lock().unwrap_or_else(PoisonError::into_inner);
        fault.filter(|(at, _)| *at == now).map(|(_, fault)| fault)
    }

    fn commits(&self) -> MutexGuard<'_, Vec<u64>> {
        self.commits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn doubt(&self) -> MutexGuard<'_, Doubt> {
        self.doubt.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn read(&self) -> Result<()> {
        self.step(false).map_or(Ok(()), |_| Err(injected()))
    }
}

fn injected() -> Error {
    Error::Io("injected fault".into())
}

impl Engine for FaultyEngine {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn has_room(&self) -> bool {
        self.inner.has_room()
    }

    fn room(&self) -> Option<Room> {
        self.inner.room()
    }

    fn reclaim(&self) -> Result<bool> {
        self.inner.reclaim()
    }

    fn is_shared(&self) -> bool {
        self.inner.is_shared()
    }

    fn follow(&self, notify: Box<dyn Fn() + Send>) {
        self.inner.follow(notify);
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        self.plan.read()?;
        let inner = self.inner.snapshot()?;
        Ok(Box::new(FaultySnapshot { inner, plan: self.plan.clone() }))
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        if self.plan.latched.load(Ordering::SeqCst) {
            return Err(CommitError::Latched);
        }
        let Some(fault) = self.plan.step(true) else { return self.inner.commit(batch) };
        match fault {
            Fault::Refuse => return Err(CommitError::NoSpace),
            Fault::Lose => {}
            Fault::Keep => drop(self.inner.commit(batch)?),
            Fault::LoseInDoubt => *self.plan.doubt() = Doubt::Lost,
            Fault::KeepInDoubt => *self.plan.doubt() = Doubt::Kept(batch),
        }
        self.plan.latched.store(true, Ordering::SeqCst);
        Err(CommitError::Unknown(injected()))
    }

    fn outcome(&self, token: &Token) -> Result<Option<Version>> {
        self.plan.read()?;
        match *self.plan.doubt() {
            Doubt::None => self.inner.outcome(token),
            Doubt::Lost | Doubt::Kept(_) => Err(Error::Undecided),
        }
    }

    fn limits(&self) -> Limits {
        self.inner.limits()
    }
}

#[derive(Debug)]
struct FaultySnapshot {
    inner: Box<dyn Snapshot>,
    plan: Arc<Plan>,
}

impl Snapshot for FaultySnapshot {
    fn version(&self) -> Version {
        self.inner.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        self.plan.read()?;
        self.inner.get(key)
    }

    fn get_many(&self, keys: &[Bytes]) -> Result<Vec<Option<Bytes>>> {
        self.plan.read()?;
        self.inner.get_many(keys)
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        let rows = self.inner.scan(range, options);
        match self.plan.read() {
            Ok(()) => rows,
            Err(error) => Box::new(rows.take(usize::from(options.limit > 1)).chain(fail(error))),
        }
    }
}

fn fail(error: Error) -> impl Iterator<Item = Result<Row>> {
    std::iter::once(Err(error))
}
