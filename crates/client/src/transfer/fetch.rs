//! Downloads many objects to local files: small ones in batches, others separately, all concurrently.

use std::path::PathBuf;

use bytes::Bytes;
use futures_util::{Stream, StreamExt, stream};

use super::batches::{Work, plan};
use super::unpack::unpack;
use super::{Transfer, blocking};
use crate::{Resource, Result};

/// An object, and the file to write it to.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The object, as returned by the store.
    pub resource: Resource,
    /// The file, which is replaced. Its directory must exist.
    pub target: PathBuf,
}

/// The outcome for a requested file.
#[derive(Debug)]
pub struct Arrival {
    /// What was requested.
    pub wanted: Wanted,
    /// Whether it is now there, complete.
    pub result: Result<()>,
}

impl Wanted {
    pub(super) fn size(&self) -> u64 {
        self.resource.size.unwrap_or(0)
    }
}

impl Transfer {
    /// Downloads objects to files, like [`Transfer::get_file`].
    pub fn get_files(&self, wanted: Vec<Wanted>) -> impl Stream<Item = Arrival> + Send + use<> {
        let transfer = self.clone();
        stream::iter(plan(wanted, Wanted::size))
            .map(move |work| {
                let transfer = transfer.clone();
                async move { transfer.get_work(work).await }
            })
            .buffer_unordered(self.options.jobs.get())
            .flat_map(stream::iter)
    }

    async fn get_work(&self, work: Work<Wanted>) -> Vec<Arrival> {
        match work {
            Work::Alone(wanted) => vec![self.get_alone(wanted).await],
            Work::Batch(wanted) => self.get_batch(wanted).await,
        }
    }

    async fn get_alone(&self, wanted: Wanted) -> Arrival {
        let result = self.get_file(&wanted.resource, &wanted.target).await;
        Arrival { wanted, result }
    }

    /// Objects that are missing from the archive, or have changed, are requested separately: that response gives the
    /// reason.
    async fn get_batch(&self, wanted: Vec<Wanted>) -> Vec<Arrival> {
        let archive = self.archive(&wanted).await.unwrap_or_default();
        let verify = self.options.verify;
        let (mut arrivals, missing) = blocking(move || unpack(&archive, wanted, verify)).await;
        let came = arrivals.iter().map(|arrival| arrival.wanted.size()).sum();
        self.observer.moved(came);
        for wanted in missing {
            arrivals.push(self.get_alone(wanted).await);
        }
        arrivals
    }

    async fn archive(&self, wanted: &[Wanted]) -> Result<Bytes> {
        let resources = wanted.iter().map(|wanted| &wanted.resource);
        match &self.options.as_of {
            Some(moment) => {
                let paths: Vec<&str> = resources.map(|resource| resource.path.as_str()).collect();
                self.client.archive_as_of(moment, &paths).await
            }
            None => {
                let ids: Vec<u64> = resources.map(|resource| resource.id).collect();
                self.client.archive_of(&ids).await
            }
        }
    }
}
