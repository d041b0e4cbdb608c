//! Fault injection: a place whose n-th operation fails in a chosen way, for tests that sweep through every operation
//! of the code under test.
//!
//! ```
//! # tokio_test(async {
//! use cenote_blob::faulty::{Fault, Faults};
//! use cenote_blob::{BlobId, Error, Place};
//!
//! let faults = Faults::new();
//! let place = faults.into_place(Place::memory("main"));
//! faults.fail(1, Fault::NoSpace);
//! let writer = place.writer(BlobId::from_bytes([0; 16]), []);
//! assert!(matches!(writer.finish().await, Err(Error::NoSpace { .. })));
//! # });
//! # fn tokio_test(test: impl Future<Output = ()>) {
//! #     tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(test);
//! # }
//! ```

mod store;

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use object_store::Result;
use rustix::io::Errno;

use self::store::FaultyStore;
use crate::Place;

/// How an operation fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Fault {
    /// It does nothing and reports an input/output error (`EIO`).
    Io,
    /// It does nothing and reports a full disk (`ENOSPC`).
    NoSpace,
    /// It transfers only the first half of its bytes and reports success: a lying disk. An operation that transfers
    /// no bytes succeeds as usual.
    Short,
    /// The process dies before the operation: it does nothing, every later one fails, and nothing is cleaned up,
    /// until [`Faults::restart`].
    CrashBefore,
    /// The process dies after the operation was done, before its result is returned.
    CrashAfter,
}

/// The planned faults of the places made by [`into_place`](Self::into_place). Clones share them.
///
/// Operations are a put, the start, each part, the completion and the abortion of a multipart upload, a get, a head,
/// each deletion, and a listing.
#[derive(Debug, Clone, Default)]
pub struct Faults(Arc<Mutex<Plan>>);

#[derive(Debug, Default)]
struct Plan {
    operations: u64,
    next: Option<(u64, Fault)>,
    crashed: bool,
}

/// What happens to one operation.
enum Outcome {
    Done,
    Halved,
    NotDone(Errno),
    Unanswered,
}

impl Faults {
    /// No faults: operations are only counted.
    pub fn new() -> Self {
        Self::default()
    }

    /// `place`, with the faults planned here.
    pub fn into_place(&self, place: Place) -> Place {
        place.map_store(|inner| Arc::new(FaultyStore::new(inner, self.clone())))
    }

    /// Plans `fault` for the `nth` operation from now, counted from 1, replacing any previous plan.
    pub fn fail(&self, nth: u64, fault: Fault) {
        let mut plan = self.plan();
        plan.next = Some((plan.operations + nth, fault));
    }

    /// The number of operations begun so far.
    pub fn operations(&self) -> u64 {
        self.plan().operations
    }

    /// Whether the planned fault is still to come: then a sweep is done.
    pub fn pending(&self) -> bool {
        self.plan().next.is_some()
    }

    /// Discards the plan, and lets operations succeed again after a crash.
    pub fn restart(&self) {
        let mut plan = self.plan();
        plan.next = None;
        plan.crashed = false;
    }

    fn plan(&self) -> MutexGuard<'_, Plan> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the process is simulated to be dead.
    fn crashed(&self) -> bool {
        self.plan().crashed
    }

    fn begin(&self) -> Outcome {
        let mut plan = self.plan();
        plan.operations += 1;
        if plan.crashed {
            return Outcome::NotDone(Errno::IO);
        }
        let operations = plan.operations;
        match plan.next.take_if(|(nth, _)| *nth <= operations) {
            None => Outcome::Done,
            Some((_, fault)) => plan.outcome(fault),
        }
    }

    async fn run<T>(&self, operation: impl Future<Output = Result<T>>) -> Result<T> {
        match self.begin() {
            Outcome::Done | Outcome::Halved => operation.await,
            Outcome::NotDone(errno) => Err(failure(errno)),
            Outcome::Unanswered => {
                operation.await?;
                Err(failure(Errno::IO))
            }
        }
    }
}

impl Plan {
    fn outcome(&mut self, fault: Fault) -> Outcome {
        self.crashed = matches!(fault, Fault::CrashBefore | Fault::CrashAfter);
        match fault {
            Fault::Io | Fault::CrashBefore => Outcome::NotDone(Errno::IO),
            Fault::NoSpace => Outcome::NotDone(Errno::NOSPC),
            Fault::Short => Outcome::Halved,
            Fault::CrashAfter => Outcome::Unanswered,
        }
    }
}

fn failure(errno: Errno) -> object_store::Error {
    object_store::Error::Generic { store: "FaultyStore", source: io::Error::from(errno).into() }
}
