//! Bytes out: a range of a content, as a stream with constant memory.

use std::ops::Range;

use bytes::Bytes;
use cenote_blob::{Algorithm, Hasher, read_here};
use futures_util::FutureExt;
use futures_util::stream::{StreamExt, iter};

use crate::access::{Chain, Operation};
use crate::catalog::View;
use crate::contents::layout::{ContentStream, Layout};
use crate::model::{At, ContentHead, Digests, Kind, PlaceId, Placement, Stat};
use crate::resources::find;
use crate::{Caller, Error, ErrorKind, Result, Store, versions};

/// The largest range, in bytes, that is read before the answer begins.
const SHORT: u64 = 512 << 10;

/// What to read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadOptions {
    /// A version, instead of the current content.
    pub version: Option<u64>,
    /// The replica of this number, from its place only, instead of the current content from any; a stale one
    /// gives what it holds.
    pub replica: Option<u32>,
}

/// A content that may be read.
#[derive(Debug, Clone)]
pub struct Opened {
    /// The object.
    pub stat: Stat,
    /// The content: the current one, or that of the requested version.
    pub head: ContentHead,
    pub(super) layout: Layout,
}

impl Store {
    /// Opens the content of an object. Needs `Rights::READ_CONTENT`.
    pub fn open(&self, caller: &Caller, at: &At, options: &ReadOptions) -> Result<Opened> {
        loop {
            // If the content was swept between lookup and pin, the next lookup finds another one.
            if let Some(opened) = self.try_open(caller, at, options)? {
                return Ok(opened);
            }
        }
    }

    fn try_open(&self, caller: &Caller, at: &At, options: &ReadOptions) -> Result<Option<Opened>> {
        let view = self.view_of_content(at)?;
        let chain = find(&view, caller, at, Operation::Read)?;
        let (head, place) = match (options.version, options.replica) {
            (Some(version), _) => (versions::content(&view, chain.id(), version)?, None),
            (None, Some(replica)) => replica_of(&chain, at, replica)?,
            (None, None) => (content_of(&chain, at)?, None),
        };
        self.met_content(chain.id(), head.id);
        let Some(layout) = self.lay_out(&view, &head)? else { return Ok(None) };
        let layout = match place {
            Some(place) => layout.only_in(place),
            None => layout,
        };
        Ok(Some(Opened { stat: chain.into(), head, layout }))
    }

    /// Opens a content that a resource has or had; nothing if it was swept since the look at it.
    pub(crate) fn open_head(
        &self,
        view: &View,
        stat: Stat,
        head: ContentHead,
    ) -> Result<Option<Opened>> {
        let layout = self.lay_out(view, &head)?;
        Ok(layout.map(|layout| Opened { stat, head, layout }))
    }
}

/// The content of a replica, and the place to read it from if there is more than one.
fn replica_of(chain: &Chain, at: &At, number: u32) -> Result<(ContentHead, Option<PlaceId>)> {
    let current = content_of(chain, at)?;
    match (&chain.resource().placement, number) {
        // Any of its copies will do.
        (Placement::ByDefault(_), 0) => Ok((current, None)),
        (Placement::ByDefault(_), number) => Err(no_replica(number)),
        (Placement::Replicas(replicas), number) => {
            let replica = replicas.get(number).ok_or_else(|| no_replica(number))?;
            Ok((replica.content(&current).clone(), Some(replica.place)))
        }
    }
}

pub(super) fn no_replica(number: u32) -> Error {
    Error::new(ErrorKind::NotFound, format!("no such replica: {number}"))
        .with_hint("list the existing replicas")
}

/// The content of an object.
pub(crate) fn content_of(chain: &Chain, at: &At) -> Result<ContentHead> {
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

    /// The same, after a copy of each blob was verified against its checksum: the bytes come from copies that
    /// were whole just now. Others are repaired.
    pub async fn verified(mut self) -> Result<Self> {
        self.layout.verify().await?;
        Ok(self)
    }

    /// Reads all bytes, and returns their current digests: SHA-256 and CRC-64/NVME, and these in addition.
    pub async fn digests(self, also: Vec<Algorithm>) -> Result<Digests> {
        self.layout.digests_by(Hasher::new(also)).await
    }

    /// The bytes of `range`, which must be within the content.
    pub fn bytes(self, range: Range<u64>) -> Result<ContentStream> {
        if range.start > range.end || range.end > self.size() {
            return Err(Error::new(
                ErrorKind::Range,
                format!("bytes {}..{} of {}", range.start, range.end, self.size()),
            ));
        }
        Ok(self.layout.bytes(range))
    }

    /// The same, for a thread that may block: a short range on a local disk is read at once, on this thread.
    pub fn bytes_here(self, range: Range<u64>) -> Result<ContentStream> {
        let is_short = range.end.saturating_sub(range.start) <= SHORT;
        let mut stream = self.bytes(range)?;
        if !is_short {
            return Ok(stream);
        }
        match read_here(|| stream.next().now_or_never()) {
            Some(first) => Ok(iter(first).chain(stream).boxed()),
            // It is elsewhere, and on its way now.
            None => Ok(stream),
        }
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
