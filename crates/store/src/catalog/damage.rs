//! Damage of the catalog that was encountered, counted and logged.
//!
//! It is counted for the process: a value is decoded, and an error of the engine passed on, where no store is known.

use std::sync::atomic::{AtomicU64, Ordering};

static FOUND: AtomicU64 = AtomicU64::new(0);

/// Notes that a row cannot be read, or is not what was written.
pub(crate) fn note(what: &str) {
    FOUND.fetch_add(1, Ordering::Relaxed);
    tracing::warn!(what, "the catalog is damaged");
}

/// How often damage was met since the process began.
pub(crate) fn found() -> u64 {
    FOUND.load(Ordering::Relaxed)
}
