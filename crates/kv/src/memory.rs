//! The memory engine: the reference model that the other engines are held to.
//!
//! A commit only copies what it changes; a snapshot is a cheap clone of an immutable tree.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use imbl::OrdMap;

use crate::{
    Batch, CommitError, Engine, KeyRange, Result, Rows, ScanOptions, Snapshot, Token, Version,
    Write,
};

/// Keeps everything in memory; nothing survives the process.
#[derive(Debug, Default, Clone)]
pub struct MemoryEngine {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default, Clone)]
struct State {
    version: Version,
    rows: OrdMap<Bytes, Bytes>,
    outcomes: OrdMap<Token, Version>,
}

impl MemoryEngine {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Another engine with what is in this one now. From then on each changes for itself.
    pub fn fork(&self) -> Self {
        Self { state: Arc::new(Mutex::new(self.state().clone())) }
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Engine for MemoryEngine {
    fn name(&self) -> &'static str {
        "memory"
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        Ok(Box::new(self.state().clone()))
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        self.limits().check(&batch)?;
        let mut state = self.state();
        // Even if nothing was committed since `seen`: this engine also detects callers whose
        // evidence was never true.
        batch.evidence.iter().try_for_each(|evidence| evidence.check(&*state))?;
        batch.bounds.iter().try_for_each(|bound| bound.check(&batch, &*state))?;
        state.apply(batch);
        Ok(state.version)
    }

    fn outcome(&self, token: &Token) -> Result<Option<Version>> {
        Ok(self.state().outcomes.get(token).copied())
    }
}

impl State {
    fn apply(&mut self, batch: Batch) {
        self.version = batch.version_after(self.version);
        if let Some(token) = batch.token {
            self.outcomes.insert(token, self.version);
        }
        let mut appended = 0;
        for write in batch.writes {
            self.write(write, &mut appended);
        }
    }

    fn write(&mut self, write: Write, appended: &mut u32) {
        match write {
            Write::Put(key, value) => drop(self.rows.insert(key, value)),
            Write::Delete(key) => drop(self.rows.remove(&key)),
            Write::Add(key, delta) => self.add(key, delta),
            Write::Append(prefix, value) => {
                self.rows.insert(Write::append_key(&prefix, self.version, *appended), value);
                *appended += 1;
            }
        }
    }

    fn add(&mut self, key: Bytes, delta: i64) {
        match Write::sum(self.rows.get(&key), delta) {
            Some(sum) => drop(self.rows.insert(key, sum)),
            None => drop(self.rows.remove(&key)),
        }
    }
}

impl Snapshot for State {
    fn version(&self) -> Version {
        self.version
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        Ok(self.rows.get(key).cloned())
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        let rows = match &range.end {
            Some(end) if *end <= range.start => return Box::new(std::iter::empty()),
            Some(end) => self.rows.range(range.start.clone()..end.clone()),
            None => self.rows.range(range.start.clone()..),
        };
        let rows = rows.map(|(key, value)| Ok((key.clone(), value.clone())));
        match options.reverse {
            true => Box::new(rows.rev().take(options.limit)),
            false => Box::new(rows.take(options.limit)),
        }
    }
}
