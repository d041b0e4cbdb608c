//! Reading everything that is stored, so that corruption is found while another copy is intact.
//!
//! Two walks go through the records of all blobs, the second through all rows of the catalog after that: once through a store in which some have no checksums of blocks yet, to compute
//! them, and round after round to compare every copy with them. The position of a walk is recorded: it continues after a restart.
//!
//! Invariant: checksums are computed only from bytes that match their known digests.

use std::time::Duration;

use bytes::Bytes;
use cenote_blob::{Blocks, Error as BlobError};
use futures_util::StreamExt;
use minicbor::{Decode, Encode};

use crate::access::Act;
use crate::catalog::{BlobRecord, Reads, Record, keys};
use crate::contents::{all_blocks, is_loss};
use crate::faults::Faults;
use crate::maintain::Pace;
use crate::model::Time;
use crate::places::Source;
use crate::{BlobId, Caller, ErrorKind, Result, Store};

/// So many records are looked at before it is recorded how far the walk is,
const STEP: usize = 64;
/// unless they have more bytes than this.
const STEP_BYTES: u64 = 1 << 30;

/// How fast blobs are read that have no checksums yet, in bytes a second.
const SUMMING: u64 = 64 << 20;

/// A walk through all blobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walk {
    /// Computes the checksums that are missing.
    Sum,
    /// Reads every copy of every blob.
    Scrub,
}

/// How far a walk is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub(crate) struct WalkRecord {
    #[n(0)]
    begun: Time,
    /// The last key examined.
    #[cbor(n(1), with = "minicbor::bytes")]
    after: Option<Vec<u8>>,
    #[n(2)]
    pub(crate) ended: Option<Time>,
    #[n(3)]
    blobs: u64,
    #[n(4)]
    bytes: u64,
    #[n(5)]
    pub(crate) damaged: u64,
    /// The last key of the catalog that was read, once all blobs were.
    #[cbor(n(6), with = "minicbor::bytes")]
    pub(crate) row: Option<Vec<u8>>,
}

/// A round of scrubbing: the one in progress, or the last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scrub {
    /// When it began.
    pub begun: Time,
    /// When it ended, if it has.
    pub ended: Option<Time>,
    /// How much of the store it has seen, about, of a hundred.
    pub percent: u8,
    /// The blobs that it has seen.
    pub blobs: u64,
    /// The bytes of their copies.
    pub bytes: u64,
    /// The copies that were damaged or missing, and the rows of the catalog that were damaged.
    pub damaged: u64,
}

impl Walk {
    fn key(self) -> Bytes {
        keys::setting(match self {
            Self::Sum => "sums",
            Self::Scrub => "scrub",
        })
    }
}

impl From<WalkRecord> for Scrub {
    fn from(record: WalkRecord) -> Self {
        let WalkRecord { begun, after, ended, blobs, bytes, damaged, row: _ } = record;
        // Ids are random, so the first byte gives the share of preceding ones.
        let seen = after.as_ref().and_then(|key| key.get(1)).map_or(0, |byte| *byte);
        let percent = if ended.is_some() { 100 } else { (u32::from(seen) * 100 / 256) as u8 };
        Self { begun, ended, percent, blobs, bytes, damaged }
    }
}

impl Store {
    /// The round of scrubbing in progress, or the last one; none before the first. Needs [`Act::Inspect`].
    pub fn scrub_status(&self, caller: &Caller) -> Result<Option<Scrub>> {
        caller.require(Act::Inspect)?;
        Ok(self.view()?.get::<WalkRecord>(&Walk::Scrub.key())?.map(Scrub::from))
    }

    /// Begins a round of the scrub, unless one is running; the process that maintains the store starts it at once. Needs
    /// [`Act::Inspect`].
    pub fn start_scrub(&self, caller: &Caller) -> Result<Scrub> {
        caller.require(Act::Inspect)?;
        let round = self.begin_walk(Walk::Scrub)?;
        self.inner.scrubbing.notify_one();
        Ok(round.into())
    }

    /// Continues the current round of the scrub, or begins one, to its end; reads at most `rate` bytes a second, as
    /// fast as it can with 0.
    pub async fn scrub(&self, rate: u64) -> Result<Scrub> {
        self.blocking(|store| store.begin_walk(Walk::Scrub)).await?;
        self.walk_blobs(Walk::Scrub, rate).await.map(Scrub::from)
    }

    /// Computes the checksums of the blocks of all blobs that have none, as a store of an earlier program has.
    pub async fn sum_blobs(&self, rate: u64) -> Result<()> {
        self.blocking(|store| store.begin_walk(Walk::Sum)).await?;
        self.walk_blobs(Walk::Sum, rate).await.map(drop)
    }

    /// Scrubs round after round.
    pub(crate) async fn keep_scrubbed(&self, pace: Pace) {
        self.lead().await;
        let mut faults = Faults::default();
        if let Some(false) = faults.add(self.has_walked(Walk::Sum).await) {
            faults.add(self.sum_blobs(SUMMING).await);
        }
        loop {
            self.lead().await;
            if let Some(true) = Faults::default().add(self.is_scrub_due(&pace).await) {
                Faults::default().add(self.scrub(pace.scrub).await);
            }
            let _ = tokio::time::timeout(pace.round, self.inner.scrubbing.notified()).await;
        }
    }

    async fn has_walked(&self, walk: Walk) -> Result<bool> {
        let record = self.blocking(move |store| store.view()?.get::<WalkRecord>(&walk.key()));
        Ok(record.await?.is_some_and(|record| record.ended.is_some()))
    }

    async fn is_scrub_due(&self, pace: &Pace) -> Result<bool> {
        let (before, off) = (self.now().minus(pace.scrub_every), pace.scrub == 0);
        let record = self.blocking(|store| store.view()?.get::<WalkRecord>(&Walk::Scrub.key()));
        Ok(record.await?.map_or(!off, |last| match last.ended {
            Some(_) => !off && last.begun < before,
            None => true,
        }))
    }

    fn begin_walk(&self, walk: Walk) -> Result<WalkRecord> {
        self.transact(|tx| {
            let last = tx.get::<WalkRecord>(&walk.key())?;
            if let Some(under_way) = last.filter(|last| last.ended.is_none()) {
                return Ok(under_way);
            }
            let new = WalkRecord { begun: tx.now(), ..WalkRecord::default() };
            tx.put(walk.key(), &new);
            Ok(new)
        })
    }

    async fn walk_blobs(&self, walk: Walk, rate: u64) -> Result<WalkRecord> {
        let stored = self.blocking(move |store| store.view()?.get::<WalkRecord>(&walk.key()));
        let mut record = stored.await?.unwrap_or_default();
        while record.ended.is_none() {
            self.walk_on(walk, &mut record, rate).await?;
            let now = record.clone();
            self.blocking(move |store| {
                store.transact(|tx| {
                    tx.put(walk.key(), &now);
                    Ok(())
                })
            })
            .await?;
        }
        Ok(record)
    }

    /// Looks at the next blobs, or rows.
    async fn walk_on(&self, walk: Walk, record: &mut WalkRecord, rate: u64) -> Result<()> {
        match record.row.clone() {
            Some(after) => self.scrub_rows(record, after, rate).await,
            None => self.walk_on_blobs(walk, record, rate).await,
        }
    }

    async fn walk_on_blobs(&self, walk: Walk, record: &mut WalkRecord, rate: u64) -> Result<()> {
        let range = match &record.after {
            Some(after) => keys::blobs().after(after),
            None => keys::blobs(),
        };
        let rows = self.blocking(move |store| store.view()?.rows(&range, STEP)).await?;
        let before = record.bytes;
        for (key, value) in &rows {
            if let (Some(id), Ok(blob)) = (keys::blob_id(key), BlobRecord::from_value(value)) {
                match walk {
                    Walk::Sum => self.sum_missing(id, &blob, rate).await,
                    Walk::Scrub => self.scrub_blob(id, &blob, record, rate).await?,
                }
            }
            record.blobs += 1;
            record.after = Some(key.to_vec());
            if record.bytes - before > STEP_BYTES {
                return Ok(());
            }
        }
        match walk {
            _ if rows.len() == STEP => {}
            Walk::Sum => record.ended = Some(self.now()),
            Walk::Scrub => record.row = Some(Vec::new()),
        }
        Ok(())
    }

    /// What cannot be read now is left to the rounds of scrubbing.
    async fn sum_missing(&self, id: BlobId, record: &BlobRecord, rate: u64) {
        if record.block.is_none() {
            Faults::default().add(self.sum_blob(id).await);
            pause(record.size, rate).await;
        }
    }

    async fn scrub_blob(
        &self,
        id: BlobId,
        record: &BlobRecord,
        walk: &mut WalkRecord,
        rate: u64,
    ) -> Result<()> {
        let owned_record = record.clone();
        let blocks =
            self.blocking(move |store| all_blocks(&store.view()?, id, &owned_record)).await;
        let blocks = match blocks {
            Ok(Some(blocks)) => blocks,
            Err(error) if error.kind() != ErrorKind::Damaged => return Err(error),
            _ => {
                // The checksums are not known yet, or lost.
                walk.damaged += u64::from(self.sum_blob(id).await.is_err());
                walk.bytes += record.size;
                pause(record.size, rate).await;
                return Ok(());
            }
        };
        let known = self.known();
        for source in record.copies.iter().filter_map(|copy| self.source(&known, copy)) {
            if let Err(error) = self.scrub_copy(id, &source, &blocks, rate).await {
                source.blame(id, &error, &self.inner.damage);
                walk.damaged += u64::from(is_loss(&error));
            }
            walk.bytes += record.size;
        }
        Ok(())
    }

    async fn scrub_copy(
        &self,
        id: BlobId,
        source: &Source,
        blocks: &Blocks,
        rate: u64,
    ) -> Result<(), BlobError> {
        let mut chunks = source.read_checked(id, blocks.range(), blocks.clone());
        while let Some(chunk) = chunks.next().await {
            let read = chunk?.len() as u64;
            self.inner.damage.count_scrubbed(read);
            pause(read, rate).await;
        }
        Ok(())
    }
}

/// The time that this many bytes may take.
pub(crate) async fn pause(bytes: u64, rate: u64) {
    if rate > 0 {
        tokio::time::sleep(Duration::from_secs_f64(bytes as f64 / rate as f64)).await;
    }
}
