//! Storage roots and objects on a disk.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod drafts;
mod faults;
mod fixtures;
mod roots;
mod support;
