//! A backup that is being taken: one state of the catalog, and all contents that it names.
//!
//! Invariant: the store erases no contents from before the state is seen until this is dropped, so that a blob which the state names
//! is there for as long.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use cenote_kv::{KeyRange, Row, ScanOptions, Snapshot};
use futures_util::{Stream, StreamExt, stream};

use super::frames::{Begin, End, FULL, Frame, MAGIC};
use crate::access::Act;
use crate::catalog::{BlobRecord, Reads, keys};
use crate::contents::Hold;
use crate::copy::Tally;
use crate::{BlobId, Caller, ContentStream, Error, ErrorKind, Result, Store};

/// How often a backup says that it is there, once all rows were sent.
const PAUSE: Duration = Duration::from_secs(5);
/// The most rows of a frame.
const ROWS: usize = 4_096;

/// A backup that is being taken.
#[derive(Debug)]
pub struct Backup {
    store: Store,
    view: Arc<dyn Snapshot>,
    format: u32,
    _hold: Hold,
}

/// Where the stream of a backup is.
enum Step {
    Begin,
    Rows(KeyRange, Tally),
    Wait,
}

impl Store {
    /// Begins a backup of the state of now. Needs [`Act::BackUp`]. Blocks while contents are being erased.
    pub fn back_up(&self, caller: &Caller) -> Result<Backup> {
        caller.require(Act::BackUp)?;
        let hold = self.inner.pins.hold();
        let view: Arc<dyn Snapshot> = self.snapshot_to_keep()?.into();
        let format = self.format_of(&*view)?;
        Ok(Backup { store: self.clone(), view, format, _hold: hold })
    }

    /// All bytes of a blob, each block from any copy in which it is whole. Needs [`Act::BackUp`]. What a backup that is being taken
    /// names is there.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] if there is no such blob.
    pub fn blob_of_backup(&self, caller: &Caller, id: BlobId) -> Result<(u64, ContentStream)> {
        caller.require(Act::BackUp)?;
        let record = self.view()?.get::<BlobRecord>(&keys::blob(id))?.ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("no blob {id}"))
                .with_hint("it was removed: begin the backup again")
        })?;
        Ok((record.size, self.blob_bytes(id, &record)))
    }
}

impl Backup {
    /// The backup as the bytes of its file. To hold it, the stream goes on after the last frame, until it is dropped.
    pub fn stream(self, hold: bool) -> impl Stream<Item = Result<Bytes>> + Send + use<> {
        let this = Arc::new(self);
        stream::try_unfold((this, Step::Begin), move |(this, step)| async move {
            let (bytes, step) = match step {
                Step::Begin => this.begin(),
                Step::Rows(range, tally) => this.rows(range, tally).await?,
                Step::Wait if !hold => return Ok(None),
                Step::Wait => {
                    tokio::time::sleep(PAUSE).await;
                    (Frame::Pause.encode(), Step::Wait)
                }
            };
            Ok(Some((bytes, (this, step))))
        })
        .boxed()
    }

    fn begin(&self) -> (Bytes, Step) {
        let (version, taken) = (self.view.version(), self.store.now());
        let begin = Frame::Begin(Begin { format: self.format, version, taken }).encode();
        let bytes = [&MAGIC[..], &begin].concat().into();
        (bytes, Step::Rows(KeyRange::all(), Tally::default()))
    }

    async fn rows(&self, range: KeyRange, mut tally: Tally) -> Result<(Bytes, Step)> {
        let (view, from) = (self.view.clone(), range.clone());
        let rows = self.store.blocking(move |_| some_rows(&*view, &from)).await?;
        let Some((last, _)) = rows.last() else {
            return Ok((Frame::End(End::of(&tally)).encode(), Step::Wait));
        };
        let rest = range.after(last);
        rows.iter().for_each(|(key, value)| tally.add(key, value));
        Ok((Frame::Rows(rows).encode(), Step::Rows(rest, tally)))
    }
}

/// The next rows, as many as a frame has.
fn some_rows(view: &dyn Snapshot, range: &KeyRange) -> Result<Vec<Row>> {
    let (mut rows, mut size) = (Vec::new(), 0);
    for row in view.scan(range, ScanOptions::limit(ROWS)) {
        let (key, value) = row?;
        size += key.len() + value.len();
        rows.push((key, value));
        if size >= FULL {
            break;
        }
    }
    Ok(rows)
}
