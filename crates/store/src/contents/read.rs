//! Bytes out: a range of a content, as a stream with constant memory.

use std::ops::Range;

use bytes::Bytes;
use cenote_blob::Place;
use futures_util::stream::{self, BoxStream, StreamExt};

use crate::access::Chain;
use crate::catalog::{BlobRecord, Reads, View, keys};
use crate::contents::{extents, resolve};
use crate::model::{At, ContentHead, Extent, Kind, Level, Piece, Stat};
use crate::tree::find;
use crate::{BlobId, Caller, Error, ErrorKind, Result, Store, versions};

/// Bytes of a content, in order.
pub type ContentStream = BoxStream<'static, Result<Bytes>>;

/// What to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// A version, instead of the current content.
    pub version: Option<u64>,
}

/// A content that may be read.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The object.
    pub stat: Stat,
    /// The content: the current one, or that of the version asked for.
    pub head: ContentHead,
    extents: Vec<Extent>,
    places: Vec<(BlobId, Vec<Place>)>,
}

impl Store {
    /// Opens the content of an object. Needs [`Level::ReadObject`].
    pub fn open(&self, caller: &Caller, at: &At, options: &ReadOptions) -> Result<Opened> {
        let view = self.view()?;
        let chain = find(&view, caller, at, Level::ReadObject)?;
        let head = match options.version {
            Some(version) => versions::content(&view, chain.id(), version)?,
            None => content_of(&chain, at)?,
        };
        let extents = resolve(&view, &head)?;
        let places = self.places_of(&view, &extents)?;
        Ok(Opened { stat: chain.into(), head, extents, places })
    }

    pub(crate) fn places_of(
        &self,
        view: &View,
        extents: &[Extent],
    ) -> Result<Vec<(BlobId, Vec<Place>)>> {
        let mut places: Vec<(BlobId, Vec<Place>)> = Vec::new();
        for blob in super::refs::blob_ids(extents) {
            if places.iter().all(|(known, _)| *known != blob) {
                places.push((blob, self.copies(view, blob)?));
            }
        }
        Ok(places)
    }

    /// The places that hold a copy of a blob.
    fn copies(&self, reads: &impl Reads, blob: BlobId) -> Result<Vec<Place>> {
        let record = reads
            .get::<BlobRecord>(&keys::blob(blob))?
            .ok_or_else(|| Error::damaged(format!("blob {blob} has no record")))?;
        let places = self.parts().places.iter();
        Ok(places
            .filter(|place| record.places.iter().any(|name| name == place.name()))
            .cloned()
            .collect())
    }
}

/// The content of an object.
pub(super) fn content_of(chain: &Chain, at: &At) -> Result<ContentHead> {
    let resource = chain.resource();
    match (&resource.content, resource.kind) {
        (Some(content), _) => Ok(content.clone()),
        (None, kind) => Err(Error::new(
            ErrorKind::WrongKind,
            format!("a {} has no content: {at}", kind.as_str()),
        )
        .with_hint(if kind == Kind::Collection {
            "list it instead"
        } else {
            "read its description instead"
        })),
    }
}

impl Opened {
    /// How many bytes there are.
    pub fn size(&self) -> u64 {
        self.head.size
    }

    /// The bytes of `range`, which must lie in the content.
    pub fn bytes(self, range: Range<u64>) -> Result<ContentStream> {
        if range.start > range.end || range.end > self.size() {
            return Err(Error::new(
                ErrorKind::Range,
                format!("bytes {}..{} of {}", range.start, range.end, self.size()),
            ));
        }
        Ok(extent_stream(self.extents, range, self.places))
    }

    /// The whole content in memory, for one that is small.
    pub async fn read_all(self) -> Result<Bytes> {
        let size = self.size();
        let mut stream = self.bytes(0..size)?;
        let mut whole =
            bytes::BytesMut::with_capacity(usize::try_from(size).unwrap_or(0).min(1 << 20));
        while let Some(chunk) = stream.next().await {
            whole.extend_from_slice(&chunk?);
        }
        Ok(whole.freeze())
    }
}

/// The bytes of `range`, from extents that cover it.
pub(crate) fn extent_stream(
    extents: Vec<Extent>,
    range: Range<u64>,
    places: Vec<(BlobId, Vec<Place>)>,
) -> ContentStream {
    let runs = extents::cut(extents, &range).into_iter();
    stream::iter(runs).flat_map(move |extent| run(extent, &places)).boxed()
}

/// The bytes of one extent.
fn run(extent: Extent, places: &[(BlobId, Vec<Place>)]) -> ContentStream {
    let Extent { length, start, piece, .. } = extent;
    match piece {
        Piece::Inline(bytes) => {
            let bytes = Bytes::from(bytes).slice(start as usize..(start + length) as usize);
            stream::once(async { Ok(bytes) }).boxed()
        }
        Piece::Hole => zeros(length),
        Piece::Blob(blob) => blob_run(blob, start..start + length, places),
    }
}

/// Reads from the first place; from the next, if that cannot give the first bytes.
fn blob_run(blob: BlobId, range: Range<u64>, places: &[(BlobId, Vec<Place>)]) -> ContentStream {
    let copies = places.iter().find(|(known, _)| *known == blob).map(|(_, places)| places.clone());
    let copies = copies.unwrap_or_default();
    stream::once(async move {
        let mut fault = Error::damaged(format!("no place has blob {blob}"));
        for place in copies {
            let mut bytes = place.read(blob, range.clone());
            match bytes.next().await {
                Some(Ok(first)) => {
                    let first = stream::once(async { Ok(first) });
                    return first.chain(bytes.map(|chunk| chunk.map_err(Error::from))).boxed();
                }
                Some(Err(error)) => fault = error.into(),
                None => {}
            }
        }
        stream::once(async { Err(fault) }).boxed()
    })
    .flatten()
    .boxed()
}

fn zeros(length: u64) -> ContentStream {
    const BLOCK: u64 = 256 << 10;
    let block = Bytes::from(vec![0; BLOCK.min(length) as usize]);
    let runs = (0..length).step_by(BLOCK as usize);
    stream::iter(runs.map(move |at| Ok(block.slice(..BLOCK.min(length - at) as usize)))).boxed()
}
