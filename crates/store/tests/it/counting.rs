//! An engine that counts how many bytes are read from it and written to it: what an operation costs, whatever the
//! machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use cenote_kv::{
    Batch, CommitError, Engine, KeyRange, MemoryEngine, Result, Rows, ScanOptions, Snapshot, Token,
    Version,
};

/// An engine in memory, and how many bytes of keys and values went in and out.
#[derive(Debug, Clone, Default)]
pub(crate) struct CountingEngine {
    inner: MemoryEngine,
    bytes: Arc<AtomicU64>,
}

impl CountingEngine {
    /// How many bytes `work` reads and writes.
    pub(crate) fn cost(&self, work: impl FnOnce()) -> u64 {
        let before = self.bytes.load(Ordering::SeqCst);
        work();
        self.bytes.load(Ordering::SeqCst) - before
    }
}

impl Engine for CountingEngine {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn snapshot(&self) -> Result<Box<dyn Snapshot>> {
        let inner = self.inner.snapshot()?;
        Ok(Box::new(CountingSnapshot { inner, bytes: self.bytes.clone() }))
    }

    fn commit(&self, batch: Batch) -> Result<Version, CommitError> {
        self.bytes.fetch_add(batch.size() as u64, Ordering::SeqCst);
        self.inner.commit(batch)
    }

    fn outcome(&self, token: &Token) -> Result<Option<Version>> {
        self.inner.outcome(token)
    }
}

#[derive(Debug)]
struct CountingSnapshot {
    inner: Box<dyn Snapshot>,
    bytes: Arc<AtomicU64>,
}

impl CountingSnapshot {
    fn count(&self, key: &[u8], value: Option<&Bytes>) {
        let size = key.len() + value.map_or(0, Bytes::len);
        self.bytes.fetch_add(size as u64, Ordering::SeqCst);
    }
}

impl Snapshot for CountingSnapshot {
    fn version(&self) -> Version {
        self.inner.version()
    }

    fn get(&self, key: &[u8]) -> Result<Option<Bytes>> {
        let value = self.inner.get(key)?;
        self.count(key, value.as_ref());
        Ok(value)
    }

    fn scan(&self, range: &KeyRange, options: ScanOptions) -> Rows<'_> {
        let rows = self.inner.scan(range, options);
        Box::new(rows.inspect(|row| {
            if let Ok((key, value)) = row {
                self.count(key, Some(value));
            }
        }))
    }
}
