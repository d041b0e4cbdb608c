//! Limits on a query's rows, memory and time. The caller decides when it has to stop.

use std::cell::Cell;

use crate::{Error, Result};

/// The limits of a query.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// Maximum number of rows examined.
    pub rows: u64,
    /// Approximate maximum number of bytes of rows held in memory.
    pub bytes: usize,
    /// Called at intervals: whether the query has to stop, and why.
    pub stop: &'a (dyn Fn() -> Option<Stop> + Send + Sync),
}

impl Limits<'_> {
    /// No limits.
    pub const NONE: Limits<'static> = Limits { rows: u64::MAX, bytes: usize::MAX, stop: &|| None };
}

impl std::fmt::Debug for Limits<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("rows", &self.rows)
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

/// Why a query has to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stop {
    /// Nobody is waiting for the result any more.
    Gone,
    /// It has taken too long.
    Late,
}

/// `stop` is called once every so many steps.
const PACE: u64 = 64;

/// Counts what a query uses.
pub(crate) struct Meter<'a> {
    limits: Limits<'a>,
    steps: Cell<u64>,
    rows: Cell<u64>,
}

impl<'a> Meter<'a> {
    pub(crate) fn new(limits: Limits<'a>) -> Self {
        Self { limits, steps: Cell::new(0), rows: Cell::new(0) }
    }

    /// Counts something examined that may produce rows.
    pub(crate) fn step(&self) -> Result<()> {
        let steps = self.steps.get();
        self.steps.set(steps + 1);
        match steps.is_multiple_of(PACE) {
            true => self.go_on(),
            false => Ok(()),
        }
    }

    /// Counts an examined row.
    pub(crate) fn row(&self) -> Result<()> {
        let rows = self.rows.get() + 1;
        self.rows.set(rows);
        match rows > self.limits.rows {
            true => Err(limit(format!("reads more than {} rows", self.limits.rows))),
            false => self.step(),
        }
    }

    /// Checks the number of bytes held, none of which can be released.
    pub(crate) fn hold(&self, bytes: usize) -> Result<()> {
        match self.is_full(bytes) {
            true => Err(limit(format!("takes more than {} bytes of memory", self.limits.bytes))),
            false => Ok(()),
        }
    }

    /// Whether this many bytes exceed the limit.
    pub(crate) fn is_full(&self, bytes: usize) -> bool {
        bytes > self.limits.bytes
    }

    fn go_on(&self) -> Result<()> {
        match (self.limits.stop)() {
            None => Ok(()),
            Some(Stop::Gone) => Err(Error::Stopped),
            Some(Stop::Late) => Err(limit("takes too long".to_owned())),
        }
    }
}

fn limit(what: String) -> Error {
    Error::Limit(format!("the query {what}: narrow it with more conditions"))
}
