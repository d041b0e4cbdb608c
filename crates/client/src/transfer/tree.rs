//! Uploads many files to the store: small ones in batches, others separately, all concurrently.

use std::collections::VecDeque;

use bytes::Bytes;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt};
use jiff::Timestamp;

use super::archive::{Archive, is_packed};
use super::batches::{Work, plan};
use super::{LocalFile, Transfer, blocking};
use crate::api::compare;
use crate::{BatchLine, Error, PutOptions, Resource, Result, Sha256Digest};

/// Something to put below a collection.
#[derive(Debug, Clone)]
pub struct Item {
    /// Its path below the collection, without a `/` at either end.
    pub relative: String,
    /// What it contains.
    pub source: Source,
    /// Mode bits.
    pub mode: Option<u32>,
    /// The modification time.
    pub mtime: Option<Timestamp>,
}

/// What to put.
#[derive(Debug, Clone)]
pub enum Source {
    /// A directory; its contents are separate items.
    Directory,
    /// A file.
    File(LocalFile),
    /// A content in memory.
    Bytes(Bytes),
    /// A symbolic link, and its target.
    Link(String),
}

/// The outcome for an item.
#[derive(Debug)]
pub struct Outcome {
    /// The item.
    pub item: Item,
    /// The resource in the store, or why it could not be put.
    pub result: Result<Resource>,
}

impl Item {
    /// The size of its content in bytes.
    pub fn size(&self) -> u64 {
        match &self.source {
            Source::File(file) => file.size,
            Source::Bytes(bytes) => bytes.len() as u64,
            Source::Directory | Source::Link(_) => 0,
        }
    }

    pub(super) fn has_content(&self) -> bool {
        matches!(self.source, Source::File(_) | Source::Bytes(_))
    }
}

impl Transfer {
    /// Puts items below the collection `base`, which must exist, storing their bytes in the place or group of
    /// [`Options::place`](super::Options::place). Directories must precede their contents; they are created first, in
    /// order, and everything else concurrently.
    pub fn put_items(&self, base: &str, items: Vec<Item>) -> impl Stream<Item = Outcome> + Send {
        let (files, others): (Vec<_>, Vec<_>) = items.into_iter().partition(Item::has_content);
        self.outcomes(base, others, 1).chain(self.outcomes(base, files, self.options.jobs.get()))
    }

    fn outcomes(&self, base: &str, items: Vec<Item>, jobs: usize) -> BoxStream<'static, Outcome> {
        let (transfer, base) = (self.clone(), base.to_owned());
        stream::iter(plan(items, Item::size))
            .map(move |work| {
                let (transfer, base) = (transfer.clone(), base.clone());
                async move { transfer.work(&base, work).await }
            })
            .buffer_unordered(jobs)
            .flat_map(stream::iter)
            .boxed()
    }

    async fn work(&self, base: &str, work: Work<Item>) -> Vec<Outcome> {
        let item = match work {
            Work::Batch(items) => return self.put_batch(base, items).await,
            Work::Alone(item) => item,
        };
        let options = PutOptions {
            mode: item.mode,
            mtime: item.mtime,
            place: self.options.place.clone(),
            ..PutOptions::default()
        };
        let path = format!("{}/{}", base.trim_end_matches('/'), item.relative);
        let result = match &item.source {
            Source::File(file) => self.put_file(file, &path, &options).await,
            Source::Bytes(bytes) => self.client.put_bytes(&path, bytes.clone(), &options).await,
            Source::Directory | Source::Link(_) => return self.put_batch(base, vec![item]).await,
        };
        vec![Outcome { item, result }]
    }

    async fn put_batch(&self, base: &str, items: Vec<Item>) -> Vec<Outcome> {
        let (items, archive) = blocking(move || {
            let archive = Archive::pack(&items);
            (items, archive)
        })
        .await;
        let mut answers = match archive.packed.iter().any(is_packed) {
            true => self.answers(base, archive.bytes).await,
            false => Answers { lines: VecDeque::new(), broken: None },
        };
        let outcome = |(item, packed): (Item, Result<Option<Sha256Digest>>)| {
            self.observer.moved(item.size());
            let result = packed.and_then(|digest| answers.next(digest));
            Outcome { item, result }
        };
        items.into_iter().zip(archive.packed).map(outcome).collect()
    }

    async fn answers(&self, base: &str, archive: bytes::Bytes) -> Answers {
        let mut answers = Answers { lines: VecDeque::new(), broken: None };
        match self.client.batch(base, self.options.place.as_deref(), archive).await {
            Ok(lines) => {
                let mut lines = std::pin::pin!(lines);
                while let Some(line) = lines.next().await {
                    answers.take(line);
                }
            }
            Err(error) => answers.broken = Some(error),
        }
        answers
    }
}

/// The server's response lines for the entries of a batch, in order.
struct Answers {
    lines: VecDeque<BatchLine>,
    /// Why the response ended early.
    broken: Option<Error>,
}

impl Answers {
    fn take(&mut self, line: Result<BatchLine>) {
        match line {
            Ok(line) => self.lines.push_back(line),
            Err(error) => self.broken = Some(error),
        }
    }

    fn next(&mut self, digest: Option<Sha256Digest>) -> Result<Resource> {
        let Some(line) = self.lines.pop_front() else {
            let missing = || Error::protocol("an entry of the batch has no answer");
            return Err(self.broken.as_ref().map_or_else(missing, Error::again));
        };
        let resource = line.outcome?;
        digest.map_or(Ok(()), |digest| compare(&resource, digest))?;
        Ok(resource)
    }
}
