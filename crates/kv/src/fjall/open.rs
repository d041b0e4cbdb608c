//! Opening: from the files on disk to an engine with every acknowledged commit, or to an error that names what is
//! missing.
//!
//! In this order, so that each step depends on the result of the one before, and nothing is lost that a later one
//! might need: the files exist ([`files`]), the lists of tables have their checksums ([`versions`]), the journals are
//! whole up to a tail, and the newest loses what tables have ([`journal`]), the tree opens, the log reaches as far as it
//! must ([`log::verdict`]). Then the log is applied to the tree, durably, and the log and the mark start over.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use fjall::{Database, Keyspace, Readable};

use super::background::Background;
use super::descriptors::Descriptors;
use super::directory::{make_durable, sync_dir};
use super::journal::Tail;
use super::lock::DirectoryLock;
use super::log::mark::{self, Mark};
use super::log::verdict::Evidence;
use super::log::{self, Found, Log};
use super::reclaim::Removed;
use super::space::Reserve;
use super::steps::Steps;
use super::{
    Acknowledged, FjallEngine, FjallOptions, JOURNALS, Loss, Store, WORKERS, error, files, io,
    journal, layout, rows_options, versions,
};
use crate::queue::Queue;
use crate::{Error, Result};

/// Opens the engine; returns what was lost, if that is accepted.
pub(super) fn open(
    dir: &Path,
    options: FjallOptions,
    loss: Loss,
) -> Result<(FjallEngine, Option<String>)> {
    make_durable(dir).map_err(io)?;
    let lock = DirectoryLock::acquire(dir)?;
    files::inspect(dir)?;
    versions::check(dir)?;
    let found = (log::read(dir).map_err(io)?, mark::read(dir).map_err(io)?);
    let is_whole = matches!(found.0, Found::Whole(_));
    let (store, lost) = open_store(dir, (options, lock), found, loss)?;
    let acknowledged = acknowledged(dir, &store, is_whole && lost.is_none())?;
    let engine = FjallEngine {
        store: Arc::new(store),
        queue: Queue::default(),
        acknowledged: Mutex::new(acknowledged),
        reserve: Reserve::open(dir, options.reserve),
        descriptors: Descriptors::new(dir),
        removed: Removed::default(),
        latched: AtomicBool::new(false),
        steps: Steps::default(),
    };
    Ok((engine, lost))
}

/// Opens the tree, and brings it to where the log is.
fn open_store(
    dir: &Path,
    (options, lock): (FjallOptions, DirectoryLock),
    (log, mark): (Found, mark::Found),
    loss: Loss,
) -> Result<(Store, Option<String>)> {
    let mut newest = journal::inspect(dir)?;
    let opened = cut(newest.tail.as_ref(), &log, loss).and_then(|()| {
        newest.shorten(dir).map_err(io)?;
        let (database, rows) = open_tree(dir, options)?;
        let store = Store { database, rows, _lock: lock };
        let lost = catch_up(&store, (log, mark), loss)?;
        Ok((store, lost))
    });
    match (&opened, newest.tail) {
        // Damaged bytes are preserved for inspection.
        (Err(_), Some(tail)) => tail.put_back().map_err(io)?,
        (Ok((_, Some(_))), tail) => keep(dir, tail).map_err(io)?,
        _ => {}
    }
    opened
}

/// Cuts off the tail of a journal, if its content is in the log or was never acknowledged.
fn cut(tail: Option<&Tail>, log: &Found, loss: Loss) -> Result<()> {
    let Some(tail) = tail else { return Ok(()) };
    let has_log = !matches!(log, Found::Missing) && *log != Found::Headless(Vec::new());
    match has_log || tail.is_one_batch() || loss == Loss::Accepted {
        true => tail.cut().map_err(io),
        false => Err(Error::Corrupt(tail.to_string())),
    }
}

/// fjall panics over some kinds of damage.
fn open_tree(dir: &Path, options: FjallOptions) -> Result<(Database, Keyspace)> {
    let open = || {
        let database = Database::builder(dir)
            .cache_size(options.cache)
            .max_cached_files(Some(options.files.max(10)))
            .max_journaling_size(JOURNALS)
            .worker_threads(WORKERS)
            .open()?;
        let rows = database.keyspace("rows", rows_options)?;
        Ok((database, rows))
    };
    let opened = catch_unwind(AssertUnwindSafe(open))
        .map_err(|_| Error::Corrupt("the tree cannot be read".to_owned()))?
        .map_err(error)?;
    if !mark::is_there(dir) {
        // fjall does not sync the names of the trees.
        sync_dir(&dir.join("keyspaces")).map_err(io)?;
    }
    Ok(opened)
}

/// Applies the groups that are missing in the tree. Everything is then in the tree durably, so that the log may be
/// overwritten. Returns what is lost, if that is accepted.
fn catch_up(
    store: &Store,
    (log, mark): (Found, mark::Found),
    loss: Loss,
) -> Result<Option<String>> {
    let tree = store.version()?;
    let view = store.database.snapshot();
    let in_use = view.contains_key(&store.rows, layout::LOG).map_err(error)?;
    let verdict = Evidence { tree, in_use, log, mark }.judge();
    match verdict.lost {
        Some(lost) if loss == Loss::Refused => return Err(Error::Corrupt(lost.to_string())),
        _ => {}
    }
    for group in verdict.replay {
        store.write(group.rows, None).map_err(error)?;
    }
    // The versions of lost commits have been assigned, and are not assigned again.
    if let Some(last) = verdict.lost.and_then(|lost| lost.last) {
        let last = Bytes::copy_from_slice(&last.to_be_bytes());
        let row = (Bytes::from_static(&layout::VERSION), Some(last));
        store.write(vec![row], None).map_err(error)?;
    }
    store.sync().map_err(error)?;
    Ok(verdict.lost.map(|lost| lost.to_string()))
}

/// The log and the mark, created before the tree records them.
fn acknowledged(dir: &Path, store: &Store, is_whole: bool) -> Result<Acknowledged> {
    let is_mark_there = mark::is_there(dir);
    let log = Log::open(dir, is_whole).map_err(io)?;
    let mark = Mark::open(dir, store.version()?).map_err(io)?;
    if !is_mark_there {
        sync_dir(dir).map_err(io)?;
    }
    let view = store.database.snapshot();
    if !view.contains_key(&store.rows, layout::LOG).map_err(error)? {
        let layout = Bytes::from_static(&[layout::LOG_LAYOUT]);
        let row = (Bytes::from_static(&layout::LOG), Some(layout));
        store.write(vec![row], None).map_err(error)?;
    }
    Ok(Acknowledged { log, mark, background: Background::of(dir) })
}

/// Keeps unusable data.
fn keep(dir: &Path, tail: Option<Tail>) -> std::io::Result<()> {
    log::keep(dir)?;
    mark::remove(dir)?;
    tail.map_or(Ok(()), |tail| tail.keep())?;
    sync_dir(dir)
}
