//! A cache of contents on the local disk, which outlives the mount.
//!
//! A directory has `log` ([`record`]), `contents/` with a sparse file for each content, named by its key, and `lock`, which is held while the cache is open.
//! Nothing is synced: a block whose bytes do not have the checksum of its record counts as missing, so `kill -9` and power cuts
//! lose nothing but blocks.
//!
//! Invariants: no bytes are returned that were not compared with their checksum since the cache was opened, and no file is that was not
//! compared since the machine started ([`mark`]). A content never changes under its key. There are at most `limit` bytes of blocks.

mod content;
mod mark;
mod record;
mod state;

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cenote_client::Sha256Digest;
use tokio::sync::Semaphore;

pub(crate) use self::content::{Arrival, Cached};
use self::record::Record;
use self::state::State;
use crate::Share;

/// The bytes of a block; the last one of a content can be shorter.
pub(crate) const BLOCK: u64 = 1 << 20;
/// The maximum number of pieces waiting to be written. Further ones are not cached: reading never waits for this disk.
const WAITING: usize = 16;

/// Names a content: a part of a digest of the store, the resource and the tag.
type Key = [u8; 16];

/// A cache of contents on the local disk.
#[derive(Debug)]
pub(crate) struct DiskCache {
    dir: PathBuf,
    limit: u64,
    /// What identifies this store.
    store: String,
    state: Mutex<(State, File)>,
    writing: Arc<Semaphore>,
    read: AtomicU64,
    fetched: AtomicU64,
    _lock: File,
}

/// How a cache is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    pub(crate) contents: u64,
    pub(crate) bytes: Share,
    /// Bytes that were read from it since it was opened, and bytes that were fetched from the server to be kept.
    pub(crate) read: u64,
    pub(crate) fetched: u64,
}

impl DiskCache {
    /// Opens the cache in a directory, which is created if it is missing. `store` identifies the store.
    ///
    /// # Errors
    /// [`io::ErrorKind::WouldBlock`] if another mount has it open.
    pub(crate) fn open(dir: &Path, limit: u64, store: String) -> io::Result<Arc<Self>> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir.join("contents"))?;
        let lock = writable(&dir.join("lock"))?;
        lock.try_lock().map_err(|_| {
            let message = format!("another mount is using the cache {}", dir.display());
            io::Error::new(io::ErrorKind::WouldBlock, message)
        })?;
        let state = read(dir)?;
        let log = rewrite(dir, &state)?;
        let cache = Self {
            dir: dir.to_owned(),
            limit,
            store,
            state: Mutex::new((state, log)),
            writing: Arc::new(Semaphore::new(WAITING)),
            read: AtomicU64::default(),
            fetched: AtomicU64::default(),
            _lock: lock,
        };
        cache.make_room(&mut cache.lock())?;
        Ok(Arc::new(cache))
    }

    /// A content of the store; none if it is too large to be kept.
    pub(crate) fn content(self: &Arc<Self>, id: u64, etag: &str, size: u64) -> Option<Arc<Cached>> {
        if size == 0 || size > self.limit / 2 {
            return None;
        }
        let named = format!("{}\n{id}\n{etag}\n{size}", self.store);
        let digest = Sha256Digest::of(named.as_bytes());
        let (key, _) = digest.bytes().split_first_chunk()?;
        Some(Cached::new(Arc::clone(self), *key, size))
    }

    /// Caches received bytes, unless too many are already waiting to be written.
    pub(crate) fn keep(&self, arrived: Vec<Arrival>) {
        let bytes: usize = arrived.iter().flat_map(|it| &it.parts).map(|part| part.len()).sum();
        self.fetched.fetch_add(bytes as u64, Ordering::Relaxed);
        let Ok(permit) = Arc::clone(&self.writing).try_acquire_owned() else { return };
        tokio::task::spawn_blocking(move || {
            arrived.into_iter().for_each(Arrival::write);
            drop(permit);
        });
    }

    pub(crate) fn usage(&self) -> Usage {
        let state = self.lock();
        Usage {
            contents: state.0.contents(),
            bytes: Share { used: state.0.bytes, limit: self.limit },
            read: self.read.load(Ordering::Relaxed),
            fetched: self.fetched.load(Ordering::Relaxed),
        }
    }

    fn lock(&self) -> MutexGuard<'_, (State, File)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn file(&self, key: Key) -> PathBuf {
        file(&self.dir, key)
    }

    fn note(&self, (_, log): &mut (State, File), record: Record) -> io::Result<()> {
        log.write_all(&record.encode())
    }

    /// Removes the least recently used contents until the rest fits.
    fn make_room(&self, state: &mut (State, File)) -> io::Result<()> {
        while state.0.bytes > self.limit {
            let Some(key) = state.0.oldest() else { return Ok(()) };
            self.remove(state, key)?;
        }
        Ok(())
    }

    fn remove(&self, state: &mut (State, File), key: Key) -> io::Result<()> {
        state.0.remove(key);
        self.note(state, Record::Removed(key))?;
        match fs::remove_file(self.file(key)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }
}

fn file(dir: &Path, key: Key) -> PathBuf {
    let name: String = key.iter().map(|byte| format!("{byte:02x}")).collect();
    dir.join("contents").join(name)
}

fn writable(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600).open(path)
}

/// The state according to the log, without the contents whose file is missing.
fn read(dir: &Path) -> io::Result<State> {
    let log = match fs::read(dir.join("log")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
        log => log?,
    };
    let mut state = State::default();
    let records = log.as_chunks().0.iter().filter_map(Record::decode);
    records.for_each(|record| state.apply(record));
    drop_unknown(dir, &state)?;
    Ok(state)
}

/// Removes the files that the log does not know: a mount was killed between writing a file and its record.
fn drop_unknown(dir: &Path, state: &State) -> io::Result<()> {
    let known: std::collections::HashSet<PathBuf> = state
        .records()
        .filter_map(|record| match record {
            Record::Kept(key, ..) => Some(file(dir, key)),
            Record::Removed(_) => None,
        })
        .collect();
    for entry in fs::read_dir(dir.join("contents"))? {
        let path = entry?.path();
        if !known.contains(&path) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Rewrites the log, without removed entries.
fn rewrite(dir: &Path, state: &State) -> io::Result<File> {
    let new = dir.join("log.new");
    let mut log = writable(&new)?;
    log.set_len(0)?;
    let records: Vec<u8> = state.records().flat_map(Record::encode).collect();
    log.write_all(&records)?;
    fs::rename(new, dir.join("log"))?;
    Ok(log)
}

#[cfg(test)]
mod tests;
