//! The bytes themselves: blobs in their places, and contents against their digests.

use std::time::Duration;

use bytes::Bytes;
use cenote_blob::{Error as BlobError, Hasher, Place};
use cenote_kv::KeyRange;
use futures_util::StreamExt;
use tokio::sync::mpsc::Sender;
use xxhash_rust::xxh3::xxh3_64;

use super::report::gone;
use super::{CheckOptions, Finding, FindingKind as Kind};
use crate::catalog::{BlobRecord, Reads, Record, VersionRecord, keys};
use crate::contents::{extent_stream, resolve};
use crate::model::{ContentHead, Extent, Piece, Resource};
use crate::{BlobId, Result, Store};

/// How many records are looked at on one snapshot.
const STEP: usize = 256;

/// A blob that no record knows is somebody's write under way until it is this old.
const YOUNG: Duration = Duration::from_secs(24 * 3_600);

pub(super) struct Bytewise<'a> {
    pub(super) store: &'a Store,
    pub(super) options: CheckOptions,
    pub(super) listener: &'a Sender<Result<Finding>>,
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
        for table in [Table::Blobs, Table::Resources, Table::Versions] {
            self.table(table).await?;
        }
        for place in &self.store.parts().places {
            self.orphans(place).await?;
        }
        Ok(())
    }

    async fn tell(&self, finding: Finding) -> Result<()> {
        self.listener.send(Ok(finding)).await.map_err(|_| gone())
    }

    /// Goes through a table in pages, so that no snapshot lasts as long as the reading of contents.
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

    async fn blob(&self, key: &Bytes, value: &Bytes) -> Result<()> {
        let (Some(id), Ok(record)) = (keys::blob_id(key), BlobRecord::from_value(value)) else {
            return Ok(());
        };
        for name in &record.places {
            let place = self.store.parts().places.iter().find(|place| place.name() == name);
            let fault = match place {
                Some(place) => self.copy(place, id, &record).await?,
                None => Some((Kind::MissingBlob, format!("place {name} is not configured"))),
            };
            if let Some((kind, detail)) = fault
                && self.is_still(key, value).await?
            {
                self.tell(Finding::new(kind, id, detail)).await?;
            }
        }
        Ok(())
    }

    /// A blob that was swept meanwhile is no loss.
    async fn is_still(&self, key: &Bytes, value: &Bytes) -> Result<bool> {
        let (key, value) = (key.clone(), value.clone());
        self.store.blocking(move |store| Ok(store.view()?.value(&key)? == Some(value))).await
    }

    async fn copy(
        &self,
        place: &Place,
        id: BlobId,
        record: &BlobRecord,
    ) -> Result<Option<(Kind, String)>> {
        let name = place.name();
        match place.size(id).await? {
            None => return Ok(Some((Kind::MissingBlob, format!("it is not in place {name}")))),
            Some(size) if size != record.size => {
                let detail = format!("it has {size} bytes in {name}, not {}", record.size);
                return Ok(Some((Kind::ShortBlob, detail)));
            }
            Some(_) => {}
        }
        let Some(sha256) = record.digests.sha256.filter(|_| self.chosen(&id.to_bytes())) else {
            return Ok(None);
        };
        let mut chunks = place.read_verified(id, record.size, sha256);
        while let Some(chunk) = chunks.next().await {
            match chunk {
                Ok(_) => {}
                Err(error @ (BlobError::Damaged { .. } | BlobError::Io { .. })) => {
                    return Ok(Some((Kind::DamagedBlob, error.to_string())));
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    async fn current(&self, value: &Bytes) -> Result<()> {
        let resource = Resource::from_value(value).ok();
        match resource.and_then(|resource| resource.content) {
            Some(head) => self.content(head).await,
            None => Ok(()),
        }
    }

    async fn version(&self, value: &Bytes) -> Result<()> {
        match VersionRecord::from_value(value).ok().and_then(|record| record.content) {
            Some(head) => self.content(head).await,
            None => Ok(()),
        }
    }

    /// Compares the bytes of a content with its SHA-256. Blobs were compared with their own.
    async fn content(&self, head: ContentHead) -> Result<()> {
        let Some(sha256) = head.digests.sha256 else { return Ok(()) };
        if !self.chosen(&head.id.0.to_be_bytes()) {
            return Ok(());
        }
        let asked = head.clone();
        let found = self.store.blocking(move |store| {
            let view = store.view()?;
            let extents = resolve(&view, &asked)?;
            let places = store.places_of(&view, &extents)?;
            let whole = whole_blob(&view, &extents, asked.size)?;
            Ok((extents, places, whole))
        });
        // What cannot be resolved was reported with the records, or was swept meanwhile.
        let Ok((extents, places, whole)) = found.await else { return Ok(()) };
        let actual = match whole {
            Some(known) => known,
            None => match digest(extents, head.size, places).await {
                Some(digest) => digest,
                None => return Ok(()),
            },
        };
        match actual == sha256 {
            true => Ok(()),
            false => {
                self.tell(Finding::new(Kind::Digest, head.id, "its bytes have another SHA-256"))
                    .await
            }
        }
    }

    async fn orphans(&self, place: &Place) -> Result<()> {
        let before = self.store.now().minus(YOUNG).into();
        let mut stored = place.list();
        while let Some(blob) = stored.next().await {
            let blob = blob?;
            if blob.modified < before && self.store.is_unknown(place, blob.id)? {
                let detail = format!("{} bytes in {} that nothing knows", blob.size, place.name());
                let mut finding = Finding::new(Kind::OrphanBlob, blob.id, detail);
                if self.options.repair {
                    place.delete(blob.id).await?;
                    finding.repaired = true;
                }
                self.tell(finding).await?;
            }
        }
        Ok(())
    }

    /// Whether this one belongs to the percentage that is read: the same ones each time.
    fn chosen(&self, id: &[u8]) -> bool {
        xxh3_64(id) % 100 < u64::from(self.options.contents)
    }
}

/// The SHA-256 of a content that is exactly one blob.
fn whole_blob(reads: &impl Reads, extents: &[Extent], size: u64) -> Result<Option<[u8; 32]>> {
    let [Extent { start: 0, piece: Piece::Blob(blob), .. }] = extents else { return Ok(None) };
    let record = reads.get::<BlobRecord>(&keys::blob(*blob))?;
    Ok(record.filter(|record| record.size == size).and_then(|record| record.digests.sha256))
}

/// None if not all of it can be read, which is reported with its blobs.
async fn digest(
    extents: Vec<Extent>,
    size: u64,
    places: Vec<(BlobId, Vec<Place>)>,
) -> Option<[u8; 32]> {
    let mut stream = extent_stream(extents, 0..size, places);
    let mut hasher = Hasher::default();
    while let Some(chunk) = stream.next().await {
        hasher.update(&chunk.ok()?);
    }
    Some(hasher.finish().sha256)
}
