//! The check: everything derived is computed again from the primary records, and contents are
//! compared with their checksums.
//!
//! Primary are resources, versions, contents, descriptions, users, tokens, tickets and uploads.
//! Derived, and repaired on request, are entries, counters, the index, references and
//! jobs. Each family is checked on one snapshot, so that a store in use is checked, too; a
//! repair checks again whether what it depends on is unchanged.

mod bytes;
mod contents;
mod copies;
mod counters;
mod feed;
mod finding;
mod grants;
mod members;
mod metadata;
mod notes;
mod people;
mod places;
mod quotas;
mod report;
mod trash;
mod tree;
mod versions;

use futures_core::Stream;
use futures_util::stream;
use tokio::sync::mpsc;

pub use self::finding::{Finding, FindingKind};

use self::bytes::Bytewise;
use self::report::Report;
use crate::{Error, Result, Store, Waiting};

/// What to check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckOptions {
    /// Mend what can be derived.
    pub repair: bool,
    /// The percentage of contents that are read and compared with their checksums: the same ones
    /// each time.
    pub contents: u8,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self { repair: false, contents: 100 }
    }
}

/// How many findings wait for a slow listener.
const WAITING: usize = 64;

impl Store {
    /// Checks the store; the stream returns the findings, and ends. Dropping it ends the check.
    ///
    /// # Errors
    /// The last item is an error if the check could not be finished.
    pub fn check(&self, options: CheckOptions) -> impl Stream<Item = Result<Finding>> + use<> {
        let (listener, findings) = mpsc::channel(WAITING);
        let store = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                checked = store.check_for(options, &listener) => if let Err(error) = checked {
                    // The receiver may have been dropped.
                    let _ = listener.send(Err(error)).await;
                },
                () = listener.closed() => {}
            }
        });
        stream::unfold(findings, async |mut findings| {
            let finding = findings.recv().await?;
            Some((finding, findings))
        })
    }

    async fn check_for(
        &self,
        options: CheckOptions,
        listener: &mpsc::Sender<Result<Finding>>,
    ) -> Result<()> {
        let to = listener.clone();
        let waiting = Waiting::default();
        let work = waiting.work();
        let catalog = move |store: &Self| {
            let mut report = Report::new(store, options.repair, &to);
            tree::next_id(store, &store.view()?, &mut report)?;
            // Each on the result of the repairs before it.
            for family in [
                tree::check,
                members::check,
                trash::check,
                grants::check,
                contents::check,
                versions::check,
                metadata::check,
                notes::check,
                people::check,
                places::check,
                quotas::check,
                counters::check,
                feed::check,
            ] {
                family(&store.view()?, &mut report)?;
            }
            Ok::<_, Error>(())
        };
        self.blocking(move |store| work.run(|| catalog(store))).await?;
        let unreachable = Default::default();
        Bytewise { store: self, options, listener, unreachable }.check().await
    }
}
