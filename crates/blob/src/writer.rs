//! Writing one blob. Bytes are gathered into parts; a full part is hashed and passed to the store at the same time,
//! while the next one fills.
//!
//! The guarantee *whole or absent* is implemented here: a writer in which anything failed, or whose call was dropped
//! midway, never finishes.

use std::collections::VecDeque;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use object_store::path::Path;
use object_store::{MultipartUpload, ObjectStoreExt, PutPayload, UploadPart};
use tokio::runtime::Handle;
use tokio::task::{JoinHandle, spawn, spawn_blocking};

use crate::error::Source;
use crate::hashing::Hashing;
use crate::turns::Turns;
use crate::{BlobId, Blocks, Damage, Digests, Hasher, Place, Result, Sha256State, disk};

/// Parts that the store may be processing while another one fills.
const IN_FLIGHT: usize = 2;

/// Bytes after which writing to a local disk is started.
const WRITE_BACK: u64 = 32 << 20;

/// Shorter runs of bytes are copied together, so that a part of many small runs neither keeps alive the memory they
/// are slices of nor costs a system call each.
const GATHER_BELOW: usize = 8 << 10;

/// What a finished writer wrote.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// The blob.
    pub id: BlobId,
    /// Its length in bytes.
    pub size: u64,
    /// The digests of its bytes.
    pub digests: Digests,
    /// The checksums of its blocks.
    pub blocks: Blocks,
    /// The SHA-256 state after its bytes and those that precede them, if the hasher computed one.
    pub state: Option<Sha256State>,
}

/// Takes the bytes of one blob in order; see [`Place::writer`].
///
/// Nothing is visible until [`finish`](Self::finish) succeeds. Dropping a writer abandons its blob, like
/// [`abort`](Self::abort) but without waiting: what it staged is removed soon, or by [`Place::sweep_staged`].
#[derive(Debug)]
pub struct BlobWriter {
    place: Place,
    id: BlobId,
    size: u64,
    part: Part,
    hashing: Hashing<Hasher>,
    upload: Option<Box<dyn MultipartUpload>>,
    in_flight: VecDeque<JoinHandle<object_store::Result<()>>>,
    writing_back: Option<JoinHandle<()>>,
    /// Set while a part is handed over, and remains set if that fails or is dropped.
    broken: bool,
}

impl BlobWriter {
    pub(crate) fn new(place: Place, id: BlobId, hasher: Hasher) -> Self {
        Self {
            place,
            id,
            size: 0,
            part: Part::default(),
            hashing: Hashing::new(hasher, Hasher::update),
            upload: None,
            in_flight: VecDeque::new(),
            writing_back: None,
            broken: false,
        }
    }

    /// Writes the next bytes. Waits while two parts are being written.
    ///
    /// After an error, or if the call is dropped before it returns, all further calls fail.
    pub async fn write(&mut self, mut bytes: Bytes) -> Result<()> {
        while !bytes.is_empty() {
            let room = self.place.part_size() - self.part.len;
            self.part.push(bytes.split_to(room.min(bytes.len())));
            if self.part.len == self.place.part_size() {
                self.send_part().await?;
            }
        }
        Ok(())
    }

    /// Makes the blob complete, durable and visible, and returns what was written.
    ///
    /// The length that the place stored is checked: truncated contents are an error here, not one to be found when
    /// they are read.
    ///
    /// # Errors
    /// After [`Error::Damaged`](crate::Error::Damaged) the blob does not exist. After another error, or if the call
    /// is dropped before it returns, it either does not exist or is complete: the caller must not refer to it, and
    /// leaves it to the sweep.
    pub async fn finish(mut self) -> Result<Written> {
        match self.publish().await {
            Ok(written) => Ok(written),
            Err(error) => {
                self.abort().await;
                Err(error)
            }
        }
    }

    /// The same if `fault` finds nothing wrong with the length in bytes and the digests: bytes that were already there may have
    /// to be those that a record names. Otherwise nothing becomes visible.
    ///
    /// # Errors
    /// [`Error::Damaged`](crate::Error::Damaged) with what `fault` returned. Others as for [`finish`](Self::finish).
    pub async fn finish_unless(
        mut self,
        fault: impl FnOnce(u64, &Digests) -> Option<Damage>,
    ) -> Result<Written> {
        match self.publish_unless(fault).await {
            Ok(written) => Ok(written),
            Err(error) => {
                self.abort().await;
                Err(error)
            }
        }
    }

    /// Abandons the blob and removes what was staged.
    pub async fn abort(mut self) {
        while let Some(part) = self.in_flight.pop_front() {
            // Its outcome no longer matters, only that it has finished.
            let _ = part.await;
        }
        if let Some(mut upload) = self.upload.take() {
            // If it cannot be removed now, the next sweep removes it.
            let _ = upload.abort().await;
        }
    }

    async fn publish(&mut self) -> Result<Written> {
        self.check_unbroken()?;
        if self.upload.is_some() {
            self.publish_parts().await?;
        } else {
            self.publish_small().await?;
        }
        self.check_kept().await?;
        self.written().await
    }

    async fn publish_unless(
        &mut self,
        fault: impl FnOnce(u64, &Digests) -> Option<Damage>,
    ) -> Result<Written> {
        self.check_unbroken()?;
        let last = match self.upload.is_some() && self.part.len > 0 {
            true => self.send_part().await.map(|()| Vec::new())?,
            false => self.take_part(),
        };
        self.hash(last.clone()).await?;
        let written = self.written().await?;
        if let Some(damage) = fault(written.size, &written.digests) {
            return Err(self.place.damaged(self.id, damage));
        }
        match self.upload {
            Some(_) => self.publish_parts().await?,
            None => self.put(last).await?,
        }
        self.check_kept().await.map(|()| written)
    }

    async fn written(&mut self) -> Result<Written> {
        let hashed = self.hashing.finish().await;
        let hasher = hashed.map_err(|lost| self.place.failure(lost))?;
        let (state, blocks) = (hasher.state(), hasher.blocks());
        Ok(Written { id: self.id, size: self.size, digests: hasher.finish(), blocks, state })
    }

    async fn publish_small(&mut self) -> Result<()> {
        let runs = self.take_part();
        self.hash(runs.clone()).await?;
        self.put(runs).await
    }

    async fn put(&mut self, runs: Vec<Bytes>) -> Result<()> {
        let put = self.place.store().put(&self.id.path(), PutPayload::from_iter(runs)).await;
        put.map(drop).map_err(|source| self.place.failure(source))
    }

    async fn publish_parts(&mut self) -> Result<()> {
        if self.part.len > 0 {
            self.send_part().await?;
        }
        self.drain(0).await?;
        let Some(upload) = &mut self.upload else { return Ok(()) };
        upload.complete().await.map(drop).map_err(|source| self.place.failure(source))
    }

    async fn send_part(&mut self) -> Result<()> {
        self.check_unbroken()?;
        self.broken = true;
        let runs = self.take_part();
        self.drain(IN_FLIGHT - 1).await?;
        self.upload(PutPayload::from_iter(runs.iter().cloned())).await?;
        self.hash(runs).await?;
        self.write_back();
        self.broken = false;
        Ok(())
    }

    async fn upload(&mut self, payload: PutPayload) -> Result<()> {
        let upload = match &mut self.upload {
            Some(upload) => upload,
            none => {
                let begun = begin(&self.place, self.id.path()).await;
                none.insert(begun.map_err(|source| self.place.failure(source))?)
            }
        };
        let part = upload.put_part(payload);
        self.in_flight.push_back(spawn(put(part, self.place.turns().cloned())));
        Ok(())
    }

    /// Lets the disk start on what is staged, so that `finish` waits only for the rest.
    fn write_back(&mut self) {
        let idle = self.writing_back.as_ref().is_none_or(JoinHandle::is_finished);
        if self.size.is_multiple_of(WRITE_BACK) && idle {
            let staged = self.place.local_path(self.id);
            self.writing_back = staged.map(|blob| spawn_blocking(move || disk::write_back(blob)));
        }
    }

    /// Waits until at most `left` parts are in flight.
    async fn drain(&mut self, left: usize) -> Result<()> {
        while self.in_flight.len() > left {
            let Some(part) = self.in_flight.front_mut() else { break };
            let outcome = part.await;
            self.in_flight.pop_front();
            outcome
                .map_err(Source::from)
                .and_then(|put| put.map_err(Source::from))
                .map_err(|source| self.place.failure(source))?;
        }
        Ok(())
    }

    async fn hash(&mut self, runs: Vec<Bytes>) -> Result<()> {
        self.hashing.update(runs).await.map_err(|lost| self.place.failure(lost))
    }

    fn take_part(&mut self) -> Vec<Bytes> {
        let part = std::mem::take(&mut self.part);
        self.size += part.len as u64;
        part.into_runs()
    }

    fn check_unbroken(&self) -> Result<()> {
        match self.broken {
            false => Ok(()),
            true => Err(self.place.failure("an earlier write of this blob failed")),
        }
    }

    /// Takes `&mut` since an upload is not `Sync`: so that `finish` can move between threads.
    async fn check_kept(&mut self) -> Result<()> {
        let actual = self.place.size(self.id).await?.unwrap_or(0);
        if actual == self.size {
            return Ok(());
        }
        // Nothing refers to it yet, so if it cannot be deleted now, a sweep will.
        let _ = self.place.delete(self.id).await;
        Err(self.place.damaged(self.id, Damage::Short { expected: self.size, actual }))
    }
}

/// On a blocking thread if it is local, because a local disk creates the staged file in this very call. A request to a
/// bucket may itself need such a thread, for the name of a host.
async fn begin(place: &Place, path: Path) -> object_store::Result<Box<dyn MultipartUpload>> {
    let store = Arc::clone(place.store());
    let Some(turns) = place.turns() else { return store.put_multipart(&path).await };
    let (runtime, turn) = (Handle::current(), turns.turn().await);
    let begun = move || {
        let _turn = turn;
        runtime.block_on(store.put_multipart(&path))
    };
    spawn_blocking(begun).await?
}

/// Stores a part, in a turn if there are turns.
async fn put(part: UploadPart, turns: Option<Turns>) -> object_store::Result<()> {
    let _turn = match &turns {
        Some(turns) => Some(turns.turn().await),
        None => None,
    };
    part.await
}

/// The part being filled.
#[derive(Debug, Default)]
struct Part {
    runs: Vec<Bytes>,
    gathered: BytesMut,
    len: usize,
}

impl Part {
    fn push(&mut self, bytes: Bytes) {
        self.len += bytes.len();
        if bytes.len() < GATHER_BELOW {
            self.gathered.extend_from_slice(&bytes);
        } else {
            self.close_gathered();
            self.runs.push(bytes);
        }
    }

    fn close_gathered(&mut self) {
        if !self.gathered.is_empty() {
            self.runs.push(self.gathered.split().freeze());
        }
    }

    fn into_runs(mut self) -> Vec<Bytes> {
        self.close_gathered();
        self.runs
    }
}
