//! What a store does by itself while it is served: removed trees are swept at once; unused
//! contents, expired uploads, old changes and missing digests are seen to now and then; copies that a read found
//! damaged are mended.

use std::time::Duration;

use futures_util::future::join;

use crate::catalog::{Reads, keys};
use crate::model::{Resource, ResourceId};
use crate::tree::is_undigested;
use crate::{Result, Store};

/// How often, and how long things are left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Time between two rounds.
    pub round: Duration,
    /// How long a content that nothing refers to is kept, for those who are reading it.
    pub grace: Duration,
    /// How long a blob that the catalog does not know is kept, for those who are writing it.
    pub orphans: Duration,
    /// How long a content must have been left alone before its missing digest is computed.
    pub quiet: Duration,
    /// How long the change feed tells of a change.
    pub changes: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            round: Duration::from_secs(60),
            grace: Duration::from_secs(3_600),
            orphans: Duration::from_secs(24 * 3_600),
            quiet: Duration::from_secs(60),
            changes: Duration::from_secs(30 * 24 * 3_600),
        }
    }
}

impl Store {
    /// Looks for orphans once, then runs rounds until it is dropped, one at once, and one whenever a job was recorded. What fails is
    /// logged, and tried again in the next round.
    pub async fn maintain(&self, pace: Pace) {
        join(self.keep_up(pace), self.keep_moving(pace)).await;
    }

    async fn keep_up(&self, pace: Pace) {
        log(self.sweep_orphans(pace.orphans).await);
        loop {
            log(self.keep_up_once(&pace).await);
            let _ = tokio::time::timeout(pace.round, self.inner.work.notified()).await;
        }
    }

    /// Jobs that move bytes take long, so that nothing else waits for them.
    async fn keep_moving(&self, pace: Pace) {
        loop {
            log(self.run_moves().await);
            let _ = tokio::time::timeout(pace.round, self.inner.moving.notified()).await;
        }
    }

    /// One round, jobs that move bytes among it.
    pub async fn maintain_once(&self, pace: &Pace) -> Result<()> {
        self.run_moves().await?;
        self.keep_up_once(pace).await
    }

    async fn keep_up_once(&self, pace: &Pace) -> Result<()> {
        self.blocking(|store| store.refresh_places()).await?;
        log(self.mend_noted().await);
        self.blocking(|store| store.run_jobs()).await?;
        self.blocking(|store| store.sweep_uploads()).await?;
        self.sweep_contents(pace.grace).await?;
        let changes = self.now().minus(pace.changes);
        self.blocking(move |store| store.trim_changes(changes)).await?;
        for id in self.undigested_objects(pace.quiet).await? {
            log(self.compute_digest(id).await);
        }
        Ok(())
    }

    async fn undigested_objects(&self, quiet: Duration) -> Result<Vec<ResourceId>> {
        let before = self.now().minus(quiet);
        self.blocking(move |store| {
            let view = store.view()?;
            let mut ids = Vec::new();
            for (key, _) in view.rows(&keys::all_undigested(), 1_000)? {
                let Some(id) = keys::last_id(&key).map(ResourceId) else { continue };
                let resource = view.get::<Resource>(&keys::resource(id))?;
                ids.extend(
                    resource.filter(|r| is_undigested(r) && r.modified < before).map(|_| id),
                );
            }
            Ok(ids)
        })
        .await
    }
}

fn log<T>(outcome: Result<T>) {
    if let Err(error) = outcome {
        tracing::warn!(%error, "maintenance failed; it is tried again");
    }
}
