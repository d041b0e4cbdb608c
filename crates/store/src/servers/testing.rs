//! Two servers over one catalog in memory, and a clock that is advanced explicitly.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use cenote_blob::Place;
use cenote_kv::{Batch, CommitError, Engine, MemoryEngine, Snapshot, Token, Version};

use crate::model::Time;
use crate::{Clock, Formats, Parts, Store};

#[derive(Debug)]
pub(crate) struct ManualClock(AtomicI64);

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time::from_nanos(self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, time: Duration) {
        self.advance(time);
    }
}

impl ManualClock {
    pub(crate) fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_nanos() as i64, Ordering::SeqCst);
    }
}

/// An engine that other processes may have open, too.
#[derive(Debug)]
struct Shared(MemoryEngine);

impl Engine for Shared {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn snapshot(&self) -> cenote_kv::Result<Box<dyn Snapshot>> {
        self.0.snapshot()
    }

    fn commit(&self, batch: Batch) -> cenote_kv::Result<Version, CommitError> {
        self.0.commit(batch)
    }

    fn outcome(&self, token: &Token) -> cenote_kv::Result<Option<Version>> {
        self.0.outcome(token)
    }

    fn is_shared(&self) -> bool {
        true
    }
}

/// Servers of programs that know these formats, over a store of the present format.
pub(crate) fn of_formats<const N: usize>(formats: [Formats; N]) -> ([Store; N], Arc<ManualClock>) {
    let clock = Arc::new(ManualClock(AtomicI64::new(1_700_000_000_000_000_000)));
    let mut parts = Parts::new(Shared(MemoryEngine::new()), Place::memory("main"));
    parts.clock = clock.clone();
    drop(Store::create_new(parts.clone(), "root", "secret phrase").unwrap());
    let servers =
        formats.map(|formats| Store::open_existing(Parts { formats, ..parts.clone() }).unwrap());
    servers.iter().for_each(|server| server.beat().unwrap());
    (servers, clock)
}

/// Two servers of one program.
pub(crate) fn pair() -> (Store, Store, Arc<ManualClock>) {
    let ([one, other], clock) = of_formats([Formats::default(); 2]);
    (one, other, clock)
}
