//! The target of a copy: an engine and a place that are no store yet.
//!
//! Invariants: a copy begins only in an empty engine, or in one with the row `unfinished`, which an interrupted copy leaves; the engine becomes a
//! store in one commit, which removes that row, writes the format, and requests the version from which the change feed continues.

use std::sync::Arc;

use bytes::Bytes;
use cenote_blob::Place;
use cenote_kv::{Batch, Engine, KeyRange, ScanOptions};
use futures_util::StreamExt;

use super::rows::Arrived;
use crate::catalog::{Record, keys};
use crate::formats::{FORMAT, Format};
use crate::{Error, ErrorKind, Parts, Result};

/// The target of a copy.
#[derive(Debug, Clone)]
pub struct Landing {
    pub(super) engine: Arc<dyn Engine>,
    pub(super) place: Place,
}

/// What is there before a copy.
enum Found {
    Nothing,
    Unfinished,
}

impl Landing {
    /// The engine and the place of these parts.
    pub fn new(parts: &Parts) -> Self {
        Self { engine: parts.engine.clone(), place: parts.main.clone() }
    }

    /// Makes sure that nothing is overwritten, and says that a copy was begun here.
    pub(super) async fn begin(&self) -> Result<()> {
        if let Found::Unfinished = self.blocking(Self::found).await? {
            return Ok(());
        }
        if let Some(blob) = self.place.list().next().await {
            let message =
                format!("contents are in place {} already: blob {}", self.place.name(), blob?.id);
            return Err(
                Error::exists(message).with_hint("use an empty bucket, prefix or directory")
            );
        }
        self.blocking(|landing| {
            let mut batch = Batch::default();
            batch.put(keys::setting("unfinished"), Format(FORMAT).to_value());
            Ok(landing.engine.commit(batch).map(drop)?)
        })
        .await
    }

    fn found(&self) -> Result<Found> {
        let view = self.engine.snapshot()?;
        if view.get(&keys::setting("format"))?.is_some() {
            return Err(Error::exists("a store is here already")
                .with_hint("use an empty directory, and an empty database"));
        }
        if view.get(&keys::setting("unfinished"))?.is_some() {
            return Ok(Found::Unfinished);
        }
        match view.scan(&KeyRange::all(), ScanOptions::limit(1)).next().transpose()? {
            None => Ok(Found::Nothing),
            Some(_) => Err(Error::exists("the catalog is not empty")
                .with_hint("use an empty directory, and an empty database")),
        }
    }

    /// Makes it a store.
    pub(super) async fn finish(
        &self,
        arrived: &Arrived,
        additions: Vec<(Bytes, i64)>,
    ) -> Result<()> {
        let mut batch = Batch { least: arrived.version, ..Batch::default() };
        batch.delete(keys::setting("unfinished"));
        batch.put(keys::setting("format"), arrived.format.clone());
        for (counter, by) in additions {
            batch.add(counter, by);
        }
        self.blocking(move |landing| Ok(landing.engine.commit(batch).map(drop)?)).await
    }

    /// Runs work of the catalog, which blocks, on a thread that may block.
    #[expect(
        clippy::disallowed_methods,
        reason = "a copy that is no store yet has this of its own"
    )]
    pub(super) async fn blocking<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Self) -> Result<T> + Send + 'static,
    {
        let landing = self.clone();
        let done = tokio::task::spawn_blocking(move || work(&landing)).await;
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    }
}

/// The error for a catalog that a copy has not finished.
pub(crate) fn unfinished() -> Error {
    Error::new(ErrorKind::Unavailable, "a copy of a store was begun here, and is not finished")
        .with_hint("repeat the command that began it; it does what is left")
}
