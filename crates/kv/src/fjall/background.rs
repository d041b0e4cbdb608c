//! Background work, so that no commit waits for it: syncing the tree's journal a little at a time, so that little is
//! left to sync when the log is full; and freeing tables in memory that were written to disk. The tree frees those
//! while it holds the lock that every read and write takes, some fifty milliseconds for a table of many small rows,
//! unless another reference to them exists.
//!
//! Nothing depends on it: a sync that fails, or is too late, is repeated by the one that a commit waits for. It syncs
//! the file, past fjall, whose own sync would keep commits waiting. A table that was not seen here is freed by the
//! tree.

use std::any::Any;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::Builder;
use std::time::Duration;

use super::journal;

/// After this many bytes in the log the journal is synced.
const EACH: usize = 1 << 20;
/// How often to check for tables that the tree may have released.
const LOOK: Duration = Duration::from_millis(100);

/// A table in memory.
pub(super) type InMemory = Arc<dyn Any + Send + Sync>;

/// Has this done in the background, until it is dropped.
#[derive(Debug)]
pub(super) struct Background {
    /// None if there could be no thread.
    wake: Option<SyncSender<InMemory>>,
    /// The position of the log when it was last synced.
    at: usize,
}

impl Background {
    pub(super) fn of(dir: &Path) -> Self {
        let (wake, woken) = sync_channel(1);
        let dir = dir.to_owned();
        let thread = Builder::new().name("cenote-kv".to_owned());
        let begun = thread.spawn(move || run(&woken, &dir));
        Self { wake: begun.is_ok().then_some(wake), at: 0 }
    }

    /// Notes how far the log is, and the table that is being written to.
    pub(super) fn reached(&mut self, end: usize, table: impl FnOnce() -> InMemory) {
        if end < self.at {
            self.at = 0;
        }
        if end - self.at >= EACH {
            self.at = end;
            // One queued table is enough: a table is many times as large as the data written between two.
            let _waiting = self.wake.as_ref().map(|wake| wake.try_send(table()));
        }
    }
}

fn run(woken: &Receiver<InMemory>, dir: &Path) {
    let mut retained = RetainedTables::default();
    loop {
        match retained.next(woken) {
            Ok(table) => {
                retained.keep(table);
                let newest =
                    journal::newest(dir).and_then(|journal| File::open(journal)?.sync_data());
                // The commit that requires it syncs again, and reports any failure.
                let _unsynced = newest;
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => return,
        }
        retained.free();
    }
}

/// Tables that are freed here, the one that is being written to last.
#[derive(Default)]
struct RetainedTables(Vec<InMemory>);

impl RetainedTables {
    /// Waits for the next table; only briefly if there is one that is no longer written to.
    fn next(&self, woken: &Receiver<InMemory>) -> Result<InMemory, RecvTimeoutError> {
        match self.0.len() {
            0 | 1 => woken.recv().map_err(|_| RecvTimeoutError::Disconnected),
            _ => woken.recv_timeout(LOOK),
        }
    }

    fn keep(&mut self, table: InMemory) {
        if !self.0.last().is_some_and(|last| Arc::ptr_eq(last, &table)) {
            self.0.push(table);
        }
    }

    /// Frees tables without other references.
    fn free(&mut self) {
        self.0.retain(|table| Arc::strong_count(table) > 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_is_freed_on_this_thread_once_it_is_unused() {
        let (first, second): (InMemory, InMemory) = (Arc::new(1), Arc::new(2));
        let (seen, mut retained) = (Arc::downgrade(&first), RetainedTables::default());
        for table in [&first, &first, &second] {
            retained.keep(Arc::clone(table));
        }
        retained.free();
        assert_eq!(retained.0.len(), 2);
        drop(first);
        assert_eq!(seen.strong_count(), 1, "its last user does not free it");
        retained.free();
        assert_eq!((seen.strong_count(), retained.0.len()), (0, 1));
    }

    #[test]
    fn it_stops_with_its_owner_whatever_is_queued() {
        let (wake, woken) = sync_channel(1);
        let (first, second): (InMemory, InMemory) = (Arc::new(1), Arc::new(2));
        let thread = std::thread::spawn(move || run(&woken, Path::new("/nowhere")));
        wake.send(Arc::clone(&first)).unwrap();
        wake.send(Arc::clone(&second)).unwrap();
        drop(wake);
        thread.join().unwrap();
        assert_eq!((Arc::strong_count(&first), Arc::strong_count(&second)), (1, 1));
    }
}
