//! The bytes themselves: contents against their digests.

use std::collections::BTreeSet;
use std::sync::Mutex;

use bytes::Bytes;
use cenote_kv::KeyRange;
use tokio::sync::mpsc::Sender;
use xxhash_rust::xxh3::xxh3_64;

use super::report::gone;
use super::{CheckOptions, Finding, FindingKind as Kind};
use crate::catalog::{Reads, Record, VersionRecord, keys};
use crate::contents::Layout;
use crate::model::{ContentHead, Digests, PlaceId, Resource};
use crate::{Result, Store};

/// The number of records examined on one snapshot.
const STEP: usize = 256;

pub(super) struct Bytewise<'a> {
    pub(super) store: &'a Store,
    pub(super) options: CheckOptions,
    pub(super) listener: &'a Sender<Result<Finding>>,
    /// The places that did not answer.
    pub(super) unreachable: Mutex<BTreeSet<PlaceId>>,
}

/// The tables that lead to bytes.
#[derive(Clone, Copy)]
enum Table {
    Blobs,
    Resources,
    Versions,
}

impl Table {
    fn range(self) -> KeyRange {
        match self {
            Self::Blobs => keys::blobs(),
            Self::Resources => keys::resources(),
            Self::Versions => keys::all_versions(),
        }
    }
}

impl Bytewise<'_> {
    pub(super) async fn check(&self) -> Result<()> {
        self.places().await?;
        for table in [Table::Blobs, Table::Resources, Table::Versions] {
            self.table(table).await?;
        }
        for (id, place) in self.store.known().opened() {
            self.orphans(id, place).await?;
        }
        Ok(())
    }

    pub(super) async fn report(&self, finding: Finding) -> Result<()> {
        self.listener.send(Ok(finding)).await.map_err(|_| gone())
    }

    /// Iterates over a table in pages, so that no snapshot lasts as long as the reading of contents.
    async fn table(&self, table: Table) -> Result<()> {
        let mut range = table.range();
        loop {
            let page = range.clone();
            let rows = self.store.blocking(move |store| store.view()?.rows(&page, STEP)).await?;
            for (key, value) in &rows {
                match table {
                    Table::Blobs => self.blob(key, value).await?,
                    Table::Resources => self.current(value).await?,
                    Table::Versions => self.version(value).await?,
                }
            }
            match rows.last() {
                Some((last, _)) if rows.len() == STEP => range = range.after(last),
                _ => return Ok(()),
            }
        }
    }

    async fn current(&self, value: &Bytes) -> Result<()> {
        let Ok(Resource { content, placement, .. }) = Resource::from_value(value) else {
            return Ok(());
        };
        let stale = placement.stale().map(|(_, head)| head.clone());
        for head in content.into_iter().chain(stale) {
            self.content(head).await?;
        }
        Ok(())
    }

    async fn version(&self, value: &Bytes) -> Result<()> {
        match VersionRecord::from_value(value).ok().and_then(|record| record.content) {
            Some(head) => self.content(head).await,
            None => Ok(()),
        }
    }

    /// Compares the bytes of a content with its digests. Blobs were compared with their own.
    async fn content(&self, head: ContentHead) -> Result<()> {
        if head.digests.is_empty() || !self.chosen(&head.id.0.to_be_bytes()) {
            return Ok(());
        }
        let owned_head = head.clone();
        let found =
            self.store.blocking(move |store| match store.lay_out(&store.view()?, &owned_head)? {
                Some(layout) => Ok(Some((layout.recorded_digests()?, layout))),
                None => Ok(None),
            });
        // Unresolved references were reported with the records, or swept in the meantime.
        let Ok(Some((known, layout))) = found.await else { return Ok(()) };
        let fault = match known {
            Some(known) if known.sha256.is_some() => contradiction(&known, &head),
            _ => match layout.clone().digests().await {
                Ok(actual) => contradiction(&actual, &head),
                Err(error) => Some((Kind::Content, error.to_string())),
            },
        };
        let Some((kind, fault)) = fault else { return Ok(()) };
        match (self.blobs_are_whole(layout).await, kind) {
            (true, _) => {
                let detail = format!("{fault}, though each of its blobs is whole");
                self.report(Finding::new(kind, head.id, detail)).await
            }
            (false, Kind::Digest) => self.report(Finding::new(kind, head.id, fault)).await,
            // Unreadable bytes are reported with their blobs.
            (false, _) => Ok(()),
        }
    }

    /// Whether it is the layout, or a digest that was computed, which is wrong.
    async fn blobs_are_whole(&self, mut layout: Layout) -> bool {
        layout.verify().await.is_ok()
    }

    /// Whether this one belongs to the percentage that is read: the same ones each time.
    pub(super) fn chosen(&self, id: &[u8]) -> bool {
        xxh3_64(id) % 100 < u64::from(self.options.contents)
    }
}

fn contradiction(actual: &Digests, head: &ContentHead) -> Option<(Kind, String)> {
    let differs = actual.contradict(&head.digests);
    differs.then(|| (Kind::Digest, "its bytes have other digests".to_owned()))
}
