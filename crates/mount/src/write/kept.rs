//! What was handed over to be sent to a stage, until the server has answered that it has it.
//!
//! Invariant: it is in the order in which it was written, and what is not in it is at the server, so whoever reads what the server has, and lays this over it, sees
//! all that was written.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::pieced::Pieced;

/// Bytes at offsets in ascending order, of which none overlap. Clones share them.
#[derive(Debug, Clone)]
pub(super) struct Written(Arc<[(u64, Bytes)]>);

impl Written {
    pub(super) fn new(parts: Vec<(u64, Bytes)>) -> Self {
        Self(parts.into())
    }

    pub(super) fn one(offset: u64, bytes: Bytes) -> Self {
        Self::new(vec![(offset, bytes)])
    }

    pub(super) fn parts(&self) -> &[(u64, Bytes)] {
        &self.0
    }

    pub(super) fn start(&self) -> u64 {
        self.0.first().map_or(0, |(offset, _)| *offset)
    }

    pub(super) fn end(&self) -> u64 {
        self.0.last().map_or(0, |(offset, bytes)| offset + bytes.len() as u64)
    }

    fn lay_over(&self, read: &mut Pieced) {
        let Range { start, end } = read.range();
        let first = self.0.partition_point(|(offset, run)| offset + run.len() as u64 <= start);
        let parts = self.0[first..].iter().take_while(|(offset, _)| *offset < end);
        parts.for_each(|(offset, run)| read.lay(*offset, run));
    }
}

/// What the server may not have yet.
#[derive(Debug, Default)]
pub(super) struct Kept(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    written: VecDeque<Written>,
    /// At least so many bytes are at the server; what is after them and not kept are zeros.
    at_server: u64,
}

impl Kept {
    pub(super) fn push(&self, written: Written) {
        self.state().written.push_back(written);
    }

    /// The oldest.
    pub(super) fn first(&self) -> Option<Written> {
        self.state().written.front().cloned()
    }

    /// The server has so many of the oldest.
    pub(super) fn arrived(&self, count: usize) {
        let mut state = self.state();
        for written in state.written.drain(..count).collect::<Vec<_>>() {
            state.at_server = state.at_server.max(written.end());
        }
    }

    /// The size of what the server has is known.
    pub(super) fn set_at_server(&self, size: u64) {
        self.state().at_server = size;
    }

    /// Lays what is kept of a range over it; returns how many bytes there are at the server.
    pub(super) fn lay_over(&self, read: &mut Pieced) -> u64 {
        let state = self.state();
        state.written.iter().for_each(|written| written.lay_over(read));
        state.at_server
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
