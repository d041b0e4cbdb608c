//! What a query may take, and how it is ended.
//!
//! The evaluator can be cancelled where it reads, but not where it joins, sorts or counts what it holds. All of that copies terms,
//! and terms are ours: each copy is counted here, and each that is dropped. So what a query holds is known at any time, and a query
//! that takes too much, too long, or that nobody waits for is unwound from the next copy, as a panic would do, silently.
//!
//! Invariant: nothing is unwound outside of [`run`], and never while something is dropped.

use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::rc::Rc;

use crate::{Error, Result, Stop};

/// The limits of a query.
#[derive(Clone)]
pub struct Limits {
    /// The maximum number of statements and resources examined.
    pub rows: u64,
    /// The most bytes of solutions that are held, about.
    pub bytes: usize,
    /// The most bytes of an answer.
    pub answer: usize,
    /// Called now and then: whether the query has to stop, and why.
    pub stop: Rc<dyn Fn() -> Option<Stop>>,
}

impl std::fmt::Debug for Limits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Limits")
            .field("rows", &self.rows)
            .field("bytes", &self.bytes)
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}

impl Limits {
    /// No limits.
    pub fn none() -> Self {
        Self { rows: u64::MAX, bytes: usize::MAX, answer: usize::MAX, stop: Rc::new(|| None) }
    }
}

/// What one copy of a term takes, with its share of the solution that it is in.
const TERM: usize = 64;

/// Copies between two looks at the limits.
const PACE: u32 = 1_024;

thread_local! {
    static HELD: Cell<usize> = const { Cell::new(0) };
    static COPIES: Cell<u32> = const { Cell::new(0) };
    static ROWS: Cell<u64> = const { Cell::new(0) };
    static LIMITS: RefCell<Option<Limits>> = const { RefCell::new(None) };
}

/// Why a query was unwound.
#[derive(Debug, Clone, Copy)]
enum Overrun {
    Bytes(usize),
    Stopped(Stop),
}

impl From<Overrun> for Error {
    fn from(overrun: Overrun) -> Self {
        match overrun {
            Overrun::Bytes(most) => limit(format!("holds more than {most} bytes of solutions")),
            Overrun::Stopped(Stop::Late) => limit("takes too long".to_owned()),
            Overrun::Stopped(Stop::Gone) => Self::Stopped,
        }
    }
}

/// The refusal of a query that takes too much.
pub(super) fn limit(what: String) -> Error {
    Error::Limit(format!("the query {what}: narrow it with more patterns, or a LIMIT"))
}

/// Runs a query within limits, on this thread.
pub(super) fn run<T>(limits: &Limits, query: impl FnOnce() -> Result<T>) -> Result<T> {
    LIMITS.set(Some(limits.clone()));
    HELD.set(0);
    ROWS.set(0);
    let _end = End;
    catch_unwind(AssertUnwindSafe(query)).unwrap_or_else(|cause| Err(error_from_panic(cause)))
}

/// Forgets the limits at the end.
struct End;

impl Drop for End {
    fn drop(&mut self) {
        LIMITS.set(None);
    }
}

fn error_from_panic(cause: Box<dyn Any + Send>) -> Error {
    match cause.downcast::<Overrun>() {
        Ok(overrun) => (*overrun).into(),
        Err(panic) => resume_unwind(panic),
    }
}

/// Counts bytes that are held from now on.
pub(super) fn hold(bytes: usize) {
    HELD.set(HELD.get().wrapping_add(bytes));
}

/// Counts bytes that are held no more.
pub(super) fn release(bytes: usize) {
    HELD.set(HELD.get().wrapping_sub(bytes));
}

/// Counts a copy of a term.
pub(super) fn copy() {
    hold(TERM);
    let copies = COPIES.get().wrapping_add(1);
    COPIES.set(copies);
    if copies.is_multiple_of(PACE)
        && let Some(overrun) = overrun()
    {
        resume_unwind(Box::new(overrun));
    }
}

/// Counts a copy that is dropped.
pub(super) fn dropped() {
    release(TERM);
}

/// Counts an examined item.
///
/// # Errors
/// [`Error::Limit`] or [`Error::Stopped`] if the query has to end.
pub(super) fn row() -> Result<()> {
    let rows = ROWS.get() + 1;
    ROWS.set(rows);
    let most = LIMITS.with_borrow(|limits| limits.as_ref().map_or(u64::MAX, |it| it.rows));
    if rows > most {
        return Err(limit(format!("reads more than {most} statements and resources")));
    }
    let overrun = rows.is_multiple_of(u64::from(PACE)).then(overrun).flatten();
    overrun.map_or(Ok(()), |overrun| Err(overrun.into()))
}

fn overrun() -> Option<Overrun> {
    let limits = LIMITS.with_borrow(Clone::clone)?;
    // Terms of an earlier query may be dropped late: the count is then negative.
    let held = HELD.get();
    if held > limits.bytes && held <= usize::MAX / 2 {
        return Some(Overrun::Bytes(limits.bytes));
    }
    (limits.stop)().map(Overrun::Stopped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_in_use_is_limited_and_freed_memory_is_not_counted() {
        let limits = Limits { bytes: 100 * TERM, ..Limits::none() };
        let copies = |drops: bool| {
            run(&limits, || {
                for _ in 0..10 * PACE {
                    copy();
                    if drops {
                        dropped();
                    }
                }
                Ok(())
            })
        };
        assert!(copies(true).is_ok());
        assert!(matches!(copies(false), Err(Error::Limit(_))));
    }

    #[test]
    fn an_abandoned_query_stops() {
        for (stop, gone) in [(Stop::Gone, true), (Stop::Late, false)] {
            let limits = Limits { stop: Rc::new(move || Some(stop)), ..Limits::none() };
            let ended = run(&limits, || -> Result<()> {
                loop {
                    copy();
                }
            });
            assert_eq!(matches!(ended, Err(Error::Stopped)), gone);
        }
    }
}
