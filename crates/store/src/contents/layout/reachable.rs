//! Blobs, and the copies of them that can be reached.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use cenote_blob::{Blocks, Error as BlobError, ReadStream};
use futures_util::StreamExt;
use tokio::sync::SemaphorePermit;

use crate::catalog::{BlobRecord, Record, keys};
use crate::contents::blob_ids;
use crate::contents::blocks::blocks;
use crate::contents::damage::copies::Damage;
use crate::contents::sweep::Pin;
use crate::model::{Extent, PlaceId};
use crate::places::{KnownPlaces, Source};
use crate::{BlobId, Error, ErrorKind, Result, Store};

/// A blob, and the copies of it that can be reached.
#[derive(Debug, Clone)]
pub(super) struct ReachableBlob {
    pub(super) id: BlobId,
    pub(super) record: BlobRecord,
    pub(super) sources: Vec<Source>,
}

/// Finds blobs.
#[derive(Debug, Clone)]
pub(super) struct Finder {
    store: Store,
    /// Where to read what this place has.
    only: Option<PlaceId>,
    /// Copies that could not be verified.
    passed: HashSet<(BlobId, PlaceId)>,
    /// Keep the blobs from being swept.
    _pins: Arc<[Arc<Pin>]>,
    /// Whether all of a content is read in turns with other contents.
    in_turns: bool,
}

impl Finder {
    pub(super) fn new(store: Store, pins: Vec<Arc<Pin>>) -> Self {
        let (passed, _pins) = (HashSet::new(), pins.into());
        Self { store, only: None, passed, _pins, in_turns: false }
    }

    pub(super) fn only_in(self, place: PlaceId) -> Self {
        Self { only: Some(place), ..self }
    }

    pub(super) fn in_turns(self) -> Self {
        Self { in_turns: true, ..self }
    }

    /// Waits for the turn to read a chunk, if it takes turns.
    pub(super) async fn turn(&self) -> Option<SemaphorePermit<'_>> {
        match self.in_turns {
            true => self.store.inner.digesting.acquire().await.ok(),
            false => None,
        }
    }

    pub(super) fn damage(&self) -> &Damage {
        &self.store.inner.damage
    }

    /// The checksums of the first blocks of a range of a blob, if they are known.
    pub(super) fn blocks(
        &self,
        id: BlobId,
        record: &BlobRecord,
        range: &Range<u64>,
    ) -> Result<Option<Blocks>> {
        self.store.in_place(|store| blocks(&store.view()?, id, record, range))
    }

    /// The blobs that some extents use, each once.
    pub(super) fn blobs_of(&self, extents: &[Extent]) -> Result<Vec<ReachableBlob>> {
        let ids: BTreeSet<BlobId> = blob_ids(extents).collect();
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let known = self.store.known();
        let records = self.store.in_place(|store| records(store, &ids))?;
        let found = ids.into_iter().zip(records);
        Ok(found.map(|(id, record)| self.reached(&known, id, record)).collect())
    }

    pub(super) fn reached(
        &self,
        known: &KnownPlaces,
        id: BlobId,
        record: BlobRecord,
    ) -> ReachableBlob {
        let only = self.only.filter(|place| record.copy_in(*place).is_some());
        let wanted = |source: &Source| {
            only.is_none_or(|place| source.place() == place)
                && !self.passed.contains(&(id, source.place()))
        };
        let copies = record.copies.iter();
        let sources = copies.filter_map(|copy| self.store.source(known, copy)).filter(wanted);
        ReachableBlob { id, sources: sources.collect(), record }
    }

    /// Verifies a copy against its SHA-256. Those that fail are not used any more.
    pub(super) async fn verify(&mut self, blob: &ReachableBlob) -> Result<()> {
        let Some(sha256) = blob.record.digests.sha256 else { return Ok(()) };
        let mut fault = None;
        for source in &blob.sources {
            let chunks = source.read_verified(blob.id, blob.record.size, sha256);
            let Err(error) = self.drain(chunks).await else { return Ok(()) };
            source.blame(blob.id, &error, self.damage());
            self.passed.insert((blob.id, source.place()));
            fault = fault.or(Some(error.into()));
        }
        Err(fault.unwrap_or_else(|| blob.nowhere()))
    }

    async fn drain(&self, mut chunks: ReadStream) -> Result<(), BlobError> {
        loop {
            let _turn = self.turn().await;
            match chunks.next().await {
                Some(chunk) => drop(chunk?),
                None => return Ok(()),
            }
        }
    }
}

impl ReachableBlob {
    /// The error for a blob of which no copy can be reached.
    pub(super) fn nowhere(&self) -> Error {
        let message = format!("no available place has blob {}", self.id);
        match self.record.copies.is_empty() {
            true => Error::damaged(message),
            false => Error::new(ErrorKind::Unavailable, message)
                .with_hint("check the places with `cenote place ls`"),
        }
    }
}

/// The records of blobs, in order.
fn records(store: &Store, ids: &BTreeSet<BlobId>) -> Result<Vec<BlobRecord>> {
    let keys: Vec<Bytes> = ids.iter().map(|id| keys::blob(*id)).collect();
    let values = store.view()?.snapshot.get_many(&keys)?;
    let record = |(id, value): (&BlobId, Option<Bytes>)| match value {
        Some(value) => BlobRecord::from_value(&value),
        None => Err(Error::damaged(format!("blob {id} has no record"))),
    };
    ids.iter().zip(values).map(record).collect()
}
