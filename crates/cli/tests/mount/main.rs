//! `cenote mount` with a kernel and unmodified programs. Without `/dev/fuse` each test prints that it is skipped,
//! unless `CENOTE_REQUIRE_FUSE` is set.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod dxfuse;
mod faults;
mod files;
mod fsx;
mod lifetime;
mod programs;
mod random;
mod rights;
mod states;
mod support;
mod writer;
