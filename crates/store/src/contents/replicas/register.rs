//! Registering: a file becomes the content of an object, in place. It is never written or deleted.

use cenote_blob::Outside;
use futures_util::TryStreamExt;

use crate::access::{Act, Operation};
use crate::catalog::{BlobCopy, BlobRecord, Reads, keys};
use crate::contents::media_type::FirstBytes;
use crate::contents::read::content_of;
use crate::contents::{
    Expected, NewBlob, PutOptions, ReceiveOptions, Received, blob_ids, count_copy, require_up,
    resolve,
};
use crate::model::{At, Content, Digests, Extent, Piece, PlaceId, Placement, Stat, StorePath};
use crate::resources::{find, rewrite_record};
use crate::{BlobId, Bytes, Caller, Conditions, Error, ErrorKind, Result, Store};

/// A file to be registered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registration {
    /// The place that it counts to.
    pub place: PlaceId,
    /// Its absolute path, on the machine that has the store open.
    pub file: String,
    /// Its length in bytes; the file need not exist yet if this is given.
    pub size: Option<u64>,
    /// Its SHA-256, if that is known; computed later otherwise.
    pub sha256: Option<[u8; 32]>,
    /// As another replica of an existing object: the others become stale, unless the SHA-256 shows that they
    /// are the same.
    pub additional: bool,
    /// Replacing the content of an existing object.
    pub replace: bool,
}

impl Store {
    /// Makes a file the content of an object, in place. Needs [`Act::Replicas`], and what [`Store::put`] needs. A
    /// file in one of the store's own places is copied: it is the store's to delete, some time after nothing refers to it.
    ///
    /// # Errors
    /// [`ErrorKind::Denied`] if the program does not let files there be referred to; [`ErrorKind::NotFound`] if there
    /// is no file and no size was given; [`ErrorKind::Precondition`] if there is an object and neither
    /// `additional` nor `replace` is set.
    pub async fn register(
        &self,
        caller: &Caller,
        path: &StorePath,
        file: &Registration,
    ) -> Result<Stat> {
        caller.require(Act::Replicas)?;
        let adopted = self.adopt(file).await?;
        let own = adopted.is_some();
        let received = match adopted {
            Some(received) => received,
            None => self.refer_to(file).await?,
        };
        let (caller, path, file) = (caller.clone(), path.clone(), file.clone());
        self.blocking(move |store| {
            if file.additional
                && !own
                && let Some(stat) = store.register_same(&caller, &(&path).into(), &received)?
            {
                return Ok(stat);
            }
            let if_absent = !file.additional && !file.replace;
            let conditions = Conditions { if_absent, ..Conditions::default() };
            let options = PutOptions { conditions, ..PutOptions::default() };
            store.publish(&caller, &path, &received, &options)
        })
        .await
    }

    /// The bytes of a file in a place of the store; none for other files.
    async fn adopt(&self, file: &Registration) -> Result<Option<Received>> {
        let known = self.known();
        let path = std::path::Path::new(&file.file);
        if !known.opened().any(|(_, place)| place.has_file(path)) {
            return Ok(None);
        }
        let outside = self.outside(file)?.1;
        let size = outside.size().await?.ok_or_else(|| no_file(file))?;
        let bytes = outside.read(self.new_blob_id(), 0..size);
        let expected = Expected { sha256: file.sha256, ..Expected::default() };
        let options = ReceiveOptions { expected, place: Some(file.place) };
        self.receive(bytes, options).await.map(Some)
    }

    /// The file, and the place that it counts to.
    fn outside(&self, file: &Registration) -> Result<(PlaceId, Outside)> {
        let known = self.known();
        let place = *known.leaves(file.place).first().ok_or_else(|| {
            Error::new(ErrorKind::NotFound, format!("there is no place in #{}", file.place))
        })?;
        let outside = self.parts().opener.outside(&known.name(place), &file.file);
        let outside = outside.ok_or_else(|| {
            Error::new(ErrorKind::Denied, format!("this file may not be registered: {}", file.file))
                .with_hint(
                    "name a directory above it as `register` in the `store.toml` of the store",
                )
        })?;
        Ok((place, outside))
    }

    /// The file as bytes that have arrived.
    async fn refer_to(&self, file: &Registration) -> Result<Received> {
        let (place, outside) = self.outside(file)?;
        let size = match file.size {
            Some(size) => size,
            None => outside.size().await?.ok_or_else(|| no_file(file))?,
        };
        let digests = Digests::only(file.sha256, None);
        let copies = vec![BlobCopy::Outside(place, file.file.clone())];
        let record = BlobRecord { size, digests: digests.clone(), copies, block: None };
        let id = self.new_blob_id();
        let whole = Extent { offset: 0, length: size, start: 0, piece: Piece::Blob(id) };
        let extents = if size == 0 { Vec::new() } else { vec![whole] };
        let blob = (size > 0).then_some(NewBlob { id, record, blocks: None, claims: Vec::new() });
        Ok(Received {
            content: Content { extents },
            size,
            digests,
            blob,
            named: Some(place),
            state: None,
            sniffed: first_bytes(&outside, id, size).await.sniff(),
        })
    }

    /// Adds the file as a copy of the current content, if its SHA-256 is known to be the same; none otherwise.
    fn register_same(&self, caller: &Caller, at: &At, received: &Received) -> Result<Option<Stat>> {
        let Some(blob) = &received.blob else { return Ok(None) };
        let BlobRecord { size, digests, copies, .. } = &blob.record;
        self.transact(|tx| {
            let chain = find(tx, caller, at, Operation::Replicate)?;
            let head = content_of(&chain, at)?;
            let same = digests.sha256.is_some() && digests.sha256 == head.digests.sha256;
            let Some(blob) = self.whole_blob(tx, &resolve(tx, &head)?, *size)?.filter(|_| same)
            else {
                return Ok(None);
            };
            let Some(mut record) = tx.get::<BlobRecord>(&keys::blob(blob))? else {
                return Ok(None);
            };
            let place = copies[0].place();
            if record.copy_in(place).is_some() {
                return Ok(None);
            }
            require_up(tx, place)?;
            count_copy(tx, &copies[0], *size, 1);
            record.copies.push(copies[0].clone());
            tx.put(keys::blob(blob), &record);
            let mut new = chain.resource().clone();
            let mut replicas = new.replicas();
            replicas.add(place, tx.now());
            new.placement = Placement::Replicas(replicas);
            rewrite_record(tx, chain.id(), chain.resource(), &new);
            Ok(Some(Stat { resource: new, ..Stat::from(chain) }))
        })
    }

    /// The blob that a content is, all of it and nothing else.
    fn whole_blob(
        &self,
        reads: &impl Reads,
        extents: &[Extent],
        size: u64,
    ) -> Result<Option<BlobId>> {
        let [Extent { start: 0, length, .. }] = extents else { return Ok(None) };
        let Some(blob) = blob_ids(extents).next() else { return Ok(None) };
        let record = reads.get::<BlobRecord>(&keys::blob(blob))?;
        Ok(record.filter(|record| record.size == size && *length == size).map(|_| blob))
    }
}

/// The first bytes of a file; none if it is not there yet.
async fn first_bytes(file: &Outside, id: BlobId, size: u64) -> FirstBytes {
    let start = file.read(id, 0..size.min(FirstBytes::MOST as u64));
    let chunks: Vec<Bytes> = start.try_collect().await.unwrap_or_default();
    let mut first = FirstBytes::default();
    chunks.iter().for_each(|chunk| first.append(chunk));
    first
}

fn no_file(file: &Registration) -> Error {
    Error::new(ErrorKind::NotFound, format!("no such file: {}", file.file))
}
