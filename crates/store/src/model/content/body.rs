//! A content: a list of extents over immutable pieces.
//!
//! Invariant: extents are sorted by offset, do not overlap, and cover exactly
//! `0..size`. Patches (small positional writes) are applied to them in the order in which they
//! were written, until they are folded in.

use cenote_blob::{Algorithm, BlobId};
use minicbor::{Decode, Encode};

use crate::model::ContentId;
use crate::{Error, Result};

/// The content in the record of a resource.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct ContentHead {
    /// Which content.
    #[n(0)]
    pub id: ContentId,
    /// Its size in bytes.
    #[n(1)]
    pub size: u64,
    /// Its known digests; "not yet" is a legal state.
    #[n(2)]
    pub digests: Digests,
    /// The media type, if a client set one or it could be guessed.
    #[n(3)]
    pub media_type: Option<String>,
    /// The number of patches on top of the extents.
    #[n(4)]
    pub patches: u32,
    /// Identifies these bytes: replaced with every change of them, kept when they are stored
    /// in another way.
    #[n(5)]
    pub stamp: u64,
    /// Whether the SHA-256 was computed later than the bytes were stored: their tag is kept.
    #[cbor(n(6), default)]
    pub digested_later: bool,
    /// Whether the media type was guessed from the name and the first bytes.
    #[cbor(n(7), default)]
    pub media_type_guessed: bool,
}

/// Bytes of the longest media type: RFC 6838 allows 255 of type and subtype, the rest is for parameters.
const LONGEST_MEDIA_TYPE: usize = 1_024;

/// Refuses a media type that no answer could have in its header.
pub(crate) fn check_media_type(media_type: &str) -> Result<()> {
    match media_type.len() <= LONGEST_MEDIA_TYPE && !media_type.contains(char::is_control) {
        true => Ok(()),
        false => {
            Err(Error::invalid("a media type has at most 1,024 bytes, and no control characters"))
        }
    }
}

impl ContentHead {
    /// The media type that a client set: it is kept when the content is replaced, unlike a guess.
    pub fn stated_media_type(&self) -> Option<&str> {
        self.media_type.as_deref().filter(|_| !self.media_type_guessed)
    }

    /// Changes with every change of the bytes, and only then; says the same as the SHA-256 where that was known at once.
    pub fn tag(&self) -> String {
        match &self.digests.sha256 {
            Some(sha256) if !self.digested_later => in_digits(sha256),
            _ => self.stamp_tag(),
        }
    }

    /// Whether a tag is one of these bytes. Earlier versions gave them another once their digest was known.
    pub fn has_tag(&self, tag: &str) -> bool {
        tag == self.tag() || tag == self.stamp_tag()
    }

    fn stamp_tag(&self) -> String {
        format!("c{}", self.stamp)
    }
}

/// A digest in hexadecimal digits. A listing has one for each entry: `hex::encode` makes them one character at a time.
fn in_digits(sha256: &[u8; 32]) -> String {
    let mut digits = [0; 64];
    hex::encode_to_slice(sha256, &mut digits).expect("there are two digits for each byte");
    String::from_utf8_lossy(&digits).into_owned()
}

/// Digests of a whole content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct Digests {
    /// SHA-256.
    #[cbor(n(0), with = "minicbor::bytes")]
    pub sha256: Option<[u8; 32]>,
    /// Others that a protocol requested.
    #[n(1)]
    others: Vec<OtherDigest>,
    /// CRC-64/NVME.
    #[n(2)]
    pub crc64nvme: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
struct OtherDigest {
    #[n(0)]
    algorithm: u8,
    #[cbor(n(1), with = "minicbor::bytes")]
    bytes: Vec<u8>,
}

/// The numbers under which the catalog keeps algorithms. They never change.
const ALGORITHMS: [(Algorithm, u8); 6] = [
    (Algorithm::Md5, 1),
    (Algorithm::Sha1, 2),
    (Algorithm::Sha512, 3),
    (Algorithm::Sha512_256, 4),
    (Algorithm::Blake2b, 5),
    (Algorithm::Crc32c, 6),
];

impl Digests {
    /// Of which these are known, if any.
    pub(crate) fn only(sha256: Option<[u8; 32]>, crc64nvme: Option<u64>) -> Self {
        Self { sha256, others: Vec::new(), crc64nvme }
    }

    /// Whether nothing is known.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These, and of the SHA-256 and the CRC those of `other` that are not known here.
    pub(crate) fn or(&self, other: &Self) -> Self {
        let (sha256, crc64nvme) =
            (self.sha256.or(other.sha256), self.crc64nvme.or(other.crc64nvme));
        Self { sha256, crc64nvme, ..self.clone() }
    }

    /// These, and all of `other` that are not known here.
    pub(crate) fn and(&self, other: &Self) -> Self {
        let mut both = self.or(other);
        let is_new =
            |one: &&OtherDigest| both.others.iter().all(|own| own.algorithm != one.algorithm);
        let more: Vec<_> = other.others.iter().filter(is_new).cloned().collect();
        both.others.extend(more);
        both
    }

    /// Whether these cannot be digests of the same bytes.
    pub(crate) fn contradict(&self, other: &Self) -> bool {
        self.sha256.zip(other.sha256).is_some_and(|(one, other)| one != other)
            || self.crc64nvme.zip(other.crc64nvme).is_some_and(|(one, other)| one != other)
    }

    /// The digest by `algorithm`, if it is known.
    pub fn get(&self, algorithm: Algorithm) -> Option<&[u8]> {
        let (_, number) = ALGORITHMS.iter().find(|(known, _)| *known == algorithm)?;
        let other = self.others.iter().find(|other| other.algorithm == *number)?;
        Some(&other.bytes)
    }
}

impl From<&cenote_blob::Digests> for Digests {
    fn from(digests: &cenote_blob::Digests) -> Self {
        let others = ALGORITHMS.iter().filter_map(|(known, algorithm)| {
            let bytes = digests.get(*known)?.to_vec();
            Some(OtherDigest { algorithm: *algorithm, bytes })
        });
        let (sha256, crc64nvme) = (digests.sha256, Some(digests.crc64nvme));
        Self { sha256, others: others.collect(), crc64nvme }
    }
}

/// The record of a content.
#[derive(Debug, Clone, Default, PartialEq, Eq, Encode, Decode)]
pub struct Content {
    /// The extents.
    #[n(0)]
    pub extents: Vec<Extent>,
}

/// A run of bytes of a content, and where they are.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub struct Extent {
    /// The first byte, in the content.
    #[n(0)]
    pub offset: u64,
    /// How many bytes.
    #[n(1)]
    pub length: u64,
    /// The first byte, in the piece.
    #[n(2)]
    pub start: u64,
    /// The piece.
    #[n(3)]
    pub piece: Piece,
}

impl Extent {
    /// The byte after the last, in the content.
    pub fn end(&self) -> u64 {
        self.offset + self.length
    }
}

/// Immutable bytes.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub enum Piece {
    /// Kept in the record itself.
    #[n(0)]
    Inline(#[cbor(n(0), with = "minicbor::bytes")] Vec<u8>),
    /// A blob, kept in one or more places.
    #[n(1)]
    Blob(#[cbor(n(0), with = "blob_id")] BlobId),
    /// Zeros (the gap between the end of a content and a write beyond it).
    #[n(2)]
    Hole,
}

/// A [`BlobId`] as a byte string of 16.
mod blob_id {
    use cenote_blob::BlobId;
    use minicbor::decode::{Decoder, Error};
    use minicbor::encode::{self, Encoder, Write};

    pub(super) fn encode<C, W: Write>(
        id: &BlobId,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), encode::Error<W::Error>> {
        e.bytes(&id.to_bytes())?.ok()
    }

    pub(super) fn decode<C>(d: &mut Decoder<'_>, _: &mut C) -> Result<BlobId, Error> {
        let bytes = d.bytes()?.try_into().map_err(|_| Error::message("a blob id has 16 bytes"))?;
        Ok(BlobId::from_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_contradict_if_both_are_known_and_differ() {
        let digests = Digests::only;
        let known = digests(Some([1; 32]), Some(1));
        for other in [known.clone(), digests(None, Some(1)), digests(Some([1; 32]), None)] {
            assert!(!known.contradict(&other) && !other.contradict(&Digests::default()));
        }
        for other in [digests(Some([2; 32]), Some(1)), digests(Some([1; 32]), Some(2))] {
            assert!(known.contradict(&other) && other.contradict(&known));
        }
    }

    #[test]
    fn digests_written_before_the_crc_was_added_are_read() {
        let bytes =
            minicbor::to_vec((minicbor::bytes::ByteArray::from([7; 32]), [0u8; 0])).unwrap();
        assert_eq!(
            minicbor::decode::<Digests>(&bytes).unwrap(),
            Digests::only(Some([7; 32]), None)
        );
    }
}
