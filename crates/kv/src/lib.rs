//! The catalog's seam: an ordered key-value store with consistent snapshots
//! and conditional, atomic, durable commits.
//!
//! The interface is deliberately small and low-level: one implementation of the domain runs unchanged on every engine.
//! Nothing here knows what a resource is.
//!
//! # Why conditions travel as data
//!
//! There is no interactive transaction. A caller reads from a [`Snapshot`],
//! decides, and sends one [`Batch`] that carries its changes *and the evidence they depend on*: the keys it read with
//! their values, as one item, and the ranges it read with digests of their rows. The engine applies the batch only if all of that is
//! unchanged, so the outcome is as if the batches had run one after the other. An embedded engine checks in its commit
//! worker, key by key; a SQL engine in one statement, which gets one digest for all keys, and so cannot tell which of them changed.
//!
//! A batch that only adds to a counter can require that the counter stays below a [`Bound`]: that depends on the newest
//! value and not on what was read, so that many writers below a limit never conflict.
//!
//! # Why calls block
//!
//! A read on an embedded engine takes microseconds and a commit waits for a
//! disk; neither gains from an async signature, and the domain above stays plain
//! functions that a test can replay. A server calls from its blocking pool.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

mod batch;
mod bound;
#[cfg(feature = "conformance")]
pub mod conformance;
#[cfg(feature = "conformance")]
mod counting;
mod engine;
mod error;
mod evidence;
#[cfg(feature = "conformance")]
mod faulty;
mod fjall;
mod layered;
mod memory;
mod overlay;
#[cfg(feature = "postgres")]
mod postgres;
mod queue;
mod range;

pub use batch::{Batch, Token, Write, counter};
pub use bound::Bound;
#[cfg(feature = "conformance")]
pub use counting::{CountingEngine, Counts};
pub use engine::{
    Engine, Found, Limits, Room, Row, Rows, ScanOptions, Snapshot, Values, Version, Wanted,
};
pub use error::{CommitError, Error, Result};
pub use evidence::Evidence;
#[cfg(feature = "conformance")]
pub use faulty::{Fault, FaultyEngine};
#[cfg(feature = "conformance")]
pub use fjall::Step;
pub use fjall::{FjallEngine, FjallOptions};
pub use layered::Layered;
pub use memory::MemoryEngine;
pub use overlay::Changes;
#[cfg(feature = "postgres")]
pub use postgres::PostgresEngine;
pub use range::{KeyRange, RangeDigest};
