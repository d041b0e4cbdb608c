//! The background work of a store while it is served: expired items of the trash are removed for good, or when a
//! disk is nearly full; removed trees and unused contents are swept at once; expired uploads, old changes and missing
//! digests are handled periodically; copies that a read found damaged are repaired; the catalog is kept small.
//!
//! Over a catalog that several servers share, one of them does this ([`Store::leads`]); each does what concerns what it has in memory.

use std::time::Duration;

use crate::contents::Digesting;
use crate::faults::Faults;
use crate::servers::BEAT;
use crate::{Result, Store};

/// What was removed within this time is swept together.
const GATHER: Duration = Duration::from_millis(100);

/// How long a job that is over is remembered over a shared catalog.
const REMEMBERED: Duration = Duration::from_secs(24 * 3_600);

/// How often, and how long things are left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Time between two rounds.
    pub round: Duration,
    /// Time between two looks whether the catalog can give back space.
    pub reclaim: Duration,
    /// How long a content that nothing refers to is kept in a catalog that several processes share, for those who are reading it
    /// there. In one of a single process it is deleted as soon as nobody reads it.
    pub grace: Duration,
    /// Time between two looks for blobs that the catalog does not know; how long they are kept where another process
    /// may be writing them.
    pub orphans: Duration,
    /// How long a content must have been left alone before its missing digest is computed.
    pub quiet: Duration,
    /// How many bytes a second the scrub reads; 0 for none, unless a round is requested, which then has no limit.
    pub scrub: u64,
    /// Time from the beginning of one round of that to the next.
    pub scrub_every: Duration,
}

impl Default for Pace {
    fn default() -> Self {
        Self {
            round: Duration::from_secs(60),
            reclaim: Duration::from_secs(2),
            grace: Duration::from_secs(3_600),
            orphans: Duration::from_secs(24 * 3_600),
            quiet: Duration::from_secs(60),
            scrub: 16 << 20,
            scrub_every: Duration::from_secs(30 * 24 * 3_600),
        }
    }
}

impl Store {
    /// Runs rounds until it is dropped: one at once, and one whenever a job was recorded. What fails is
    /// logged, keeps nothing else from being done, and is tried again.
    pub async fn maintain(&self, pace: Pace) {
        tokio::join!(
            self.keep_present(),
            self.keep_up(pace),
            self.keep_swept(pace),
            self.keep_moving(pace),
            self.keep_digests(pace),
            self.keep_orphans_out(pace),
            self.keep_small(pace),
            self.keep_scrubbed(pace),
        );
    }

    /// Shows over a shared catalog that this server is there, and looks for places that others have changed.
    async fn keep_present(&self) {
        while self.is_shared() {
            Faults::default().add(self.blocking(|store| store.beat()).await);
            Faults::default().add(self.blocking(|store| store.refresh_places()).await);
            self.return_dropped(BEAT).await;
        }
    }

    /// Waits until the background work is that of this server.
    pub(crate) async fn lead(&self) {
        while !self.leads() {
            tokio::time::sleep(BEAT).await;
        }
    }

    async fn keep_up(&self, pace: Pace) {
        let mut rung = false;
        loop {
            // Failures were logged.
            let _ = self.tend_own().await;
            if self.leads() {
                let _ = self.keep_up_once().await;
            } else if rung {
                // A short job that this server has just recorded need not wait for the other one.
                Faults::default().add(self.blocking(|store| store.run_jobs()).await);
            }
            rung = tokio::time::timeout(pace.round, self.inner.work.notified()).await.is_ok();
        }
    }

    /// Sweeps reported contents shortly afterwards, and looks for all of them from time to time.
    async fn keep_swept(&self, pace: Pace) {
        loop {
            let begun = self.now();
            if self.leads() {
                Faults::default().add(self.sweep_contents(self.grace(pace.grace)).await);
            }
            Faults::default().add(self.sweep_reported().await);
            while begun > self.now().minus(pace.round) {
                let reported = tokio::time::timeout(pace.round, self.inner.due.added()).await;
                if reported.is_ok() {
                    tokio::time::sleep(GATHER).await;
                    if let Some(None) = Faults::default().add(self.sweep_due().await) {
                        break;
                    }
                }
            }
        }
    }

    async fn keep_small(&self, pace: Pace) {
        loop {
            Faults::default().add(self.reclaim().await);
            tokio::time::sleep(pace.reclaim).await;
        }
    }

    /// Has the catalog give back the space of what was removed from it.
    async fn reclaim(&self) -> Result<()> {
        self.blocking(|store| {
            while store.parts().engine.reclaim()? {
                tracing::info!("the catalog was merged, because much of it had been removed");
            }
            Ok(())
        })
        .await
    }

    async fn sweep(&self, pace: &Pace) -> Result<()> {
        let mut faults = Faults::default();
        faults.add(self.sweep_contents(self.grace(pace.grace)).await);
        faults.add(self.sweep_reported().await);
        faults.first()
    }

    /// What this process has noted, and what it could not delete.
    async fn sweep_reported(&self) -> Result<()> {
        self.inner.due.retry();
        self.sweep_due().await.map(drop)
    }

    /// Jobs that move bytes take long, so that nothing else waits for them.
    async fn keep_moving(&self, pace: Pace) {
        // Another server does not ring for the jobs that it records.
        let look = if self.is_shared() { BEAT.min(pace.round) } else { pace.round };
        loop {
            self.lead().await;
            Faults::default().add(self.run_moves().await);
            let _ = tokio::time::timeout(look, self.inner.moving.notified()).await;
        }
    }

    /// So do digests of large contents, which take turns.
    async fn keep_digests(&self, pace: Pace) {
        let mut digesting = Digesting::new(self, pace);
        loop {
            self.lead().await;
            // Failures were logged, and work that takes longer than a round continues in the next one.
            Faults::default().add(digesting.look().await);
            let work = async {
                let _ = digesting.run().await;
                std::future::pending::<()>().await;
            };
            let _ = tokio::time::timeout(pace.round, work).await;
        }
    }

    async fn keep_orphans_out(&self, pace: Pace) {
        loop {
            self.lead().await;
            Faults::default().add(self.sweep_orphans(pace.orphans).await);
            tokio::time::sleep(pace.orphans).await;
        }
    }

    /// One round, jobs that move bytes among it.
    ///
    /// # Errors
    /// The first fault, after everything was tried.
    pub async fn maintain_once(&self, pace: &Pace) -> Result<()> {
        let mut faults = Faults::default();
        faults.add(self.run_moves().await);
        faults.add(self.tend_own().await);
        faults.add(self.keep_up_once().await);
        faults.add(self.sweep(pace).await);
        faults.add(self.reclaim().await);
        let mut digesting = Digesting::new(self, *pace);
        faults.add(digesting.look().await);
        faults.add(digesting.run().await);
        faults.first()
    }

    /// What each server does for itself.
    async fn tend_own(&self) -> Result<()> {
        let mut faults = Faults::default();
        self.expire_change_sets();
        self.expire_leases();
        faults.add(self.blocking(|store| store.refresh_places()).await);
        faults.add(self.mend_noted().await);
        faults.first()
    }

    async fn keep_up_once(&self) -> Result<()> {
        let changes = self.now().minus(self.parts().keep_changes);
        let mut faults = Faults::default();
        // Before the jobs, which sweep purged trees.
        faults.add(self.blocking(|store| store.purge_trash()).await);
        faults.add(self.make_room().await);
        faults.add(self.blocking(|store| store.run_jobs()).await);
        // After the jobs: the size of a tree is not known until it is counted.
        faults.add(self.blocking(|store| store.purge_over_limits()).await);
        faults.add(self.blocking(|store| store.sweep_uploads()).await);
        faults.add(self.blocking(move |store| store.trim_changes(changes)).await);
        let ended = self.now().minus(REMEMBERED);
        faults.add(self.blocking(move |store| store.forget_jobs(ended)).await);
        faults.first()
    }
}
