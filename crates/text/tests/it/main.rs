//! The index of texts over stores in memory: its answers are those of a scan, whatever happened to the store and to the index.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on should stop")]

mod model;
mod patience;
mod restarts;
mod words;
mod world;
