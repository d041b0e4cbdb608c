//! The moment of the past that a mount shows, and what was there then and cannot be shown, since its state was not kept.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cenote_client::{Client, Error, PastEntry, Resource};
use futures_util::TryStreamExt;

use crate::error::Fault;
use crate::options::{Log, Options};

/// A moment. Clones share what was found missing.
#[derive(Debug, Clone)]
pub(crate) struct Past {
    moment: String,
    log: Log,
    /// How many entries of each directory that was listed are missing.
    lost: Arc<Mutex<HashMap<String, u64>>>,
}

impl Past {
    /// The moment that is shown; none if it is the present.
    pub(crate) fn of(options: &Options) -> Option<Self> {
        let moment = options.as_of.clone()?;
        Some(Self { moment, log: options.log.clone(), lost: Arc::default() })
    }

    pub(crate) fn moment(&self) -> &str {
        &self.moment
    }

    /// What was in a collection, as far as it was kept.
    pub(crate) async fn list(&self, client: &Client, path: &str) -> Result<Vec<Resource>, Error> {
        let entries: Vec<_> = client.list_as_of(path, &self.moment).try_collect().await?;
        let count = entries.len();
        let kept: Vec<Resource> = entries.into_iter().filter_map(kept).collect();
        self.note_lost(path, (count - kept.len()) as u64);
        Ok(kept)
    }

    /// How many entries are missing in the directories that were listed.
    pub(crate) fn lost(&self) -> u64 {
        self.lost.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    fn note_lost(&self, path: &str, count: u64) {
        if count == 0 {
            return;
        }
        let mut lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        if lost.insert(path.to_owned(), count) != Some(count) {
            let message = format!("{path}: not shown, since their state was not kept: {count}");
            (self.log.0)(&Fault::warning(libc::ENOENT, message));
        }
    }
}

fn kept(entry: PastEntry) -> Option<Resource> {
    match entry {
        PastEntry::Kept(resource) => Some(*resource),
        PastEntry::Lost(_) => None,
    }
}
