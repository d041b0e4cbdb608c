//! One content on the server, which it may still have when the object has another one: leased, or as a kept version.
//!
//! Invariant: each request names the tag of the content, or what cannot be another content, so no answer has bytes of another one.

use std::ops::Range;

use cenote_client::{At, Content, Version};

use crate::error::{Fault, Result};
use crate::source::{Place, Source};

/// How many versions are tried at most.
const TRIED: usize = 4;

/// A content on the server.
#[derive(Debug, Clone)]
pub(crate) struct Remote {
    pub(super) source: Source,
    pub(super) place: Place,
    pub(super) etag: Option<String>,
    holder: Holder,
}

/// What has the content.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Holder {
    /// The object.
    Object,
    /// A lease.
    Lease(String),
    /// A version of the object.
    Version(u64),
}

impl Remote {
    /// The content of an object.
    pub(crate) fn new(source: Source, place: Place, etag: Option<String>) -> Self {
        Self { source, place, etag, holder: Holder::Object }
    }

    /// Begins to read a range of it.
    pub(super) async fn read(&self, range: Range<u64>) -> Result<Content> {
        let Self { source, place, .. } = self;
        match (&self.holder, self.etag.as_deref()) {
            (Holder::Lease(lease), _) => source.read_leased(lease, range).await,
            (Holder::Version(version), Some(etag)) => {
                source.read_version((place.id, *version), range, etag).await
            }
            (_, etag) => source.read(place, range, etag).await,
        }
    }

    /// The same content, from another holder than the one that does not have it any more.
    pub(super) async fn find_former(self, lease: Option<String>, size: u64) -> Result<Self> {
        if let (Holder::Object, Some(lease)) = (&self.holder, lease) {
            return Ok(Self { holder: Holder::Lease(lease), ..self });
        }
        if !matches!(self.holder, Holder::Version(_))
            && let Some(version) = self.find_version(size).await
        {
            return Ok(Self { holder: Holder::Version(version), ..self });
        }
        Err(Fault::warning(
            libc::ESTALE,
            "the content of an open file was replaced, and is not kept",
        ))
    }

    /// The newest version that has the tag.
    async fn find_version(&self, size: u64) -> Option<u64> {
        let etag = self.etag.as_deref().filter(|_| !self.source.is_past())?;
        let (source, id) = (&self.source, self.place.id);
        let versions = source.within(source.client.versions(&At::Id(id))).await.ok()?;
        let alike = versions.into_iter().filter(|version| may_have(version, etag, size));
        for version in alike.take(TRIED) {
            if source.read_version((id, version.version), 0..1, etag).await.is_ok() {
                return Some(version.version);
            }
        }
        None
    }
}

/// Whether a version can be the content with a tag, which is its SHA-256, if that was known at once.
fn may_have(version: &Version, etag: &str, size: u64) -> bool {
    let tag = etag.trim_matches('"');
    let is_digest = tag.len() == 64;
    version.size == size && (!is_digest || version.sha256.as_deref() == Some(tag))
}
