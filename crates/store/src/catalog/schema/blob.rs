//! Blobs, where their copies are, and what their blocks must be.

use minicbor::data::Type;
use minicbor::encode::Write;
use minicbor::{Decode, Decoder, Encode, Encoder, decode, encode};

use crate::model::{Digests, PlaceId, Time};

/// A blob and where its copies are.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct BlobRecord {
    #[n(0)]
    pub(crate) size: u64,
    #[n(1)]
    pub(crate) digests: Digests,
    /// Its copies, the one to read first.
    #[n(2)]
    pub(crate) copies: Vec<BlobCopy>,
    /// The bytes of its blocks, if there are rows with their checksums. There are none for a blob of one block, of which
    /// the CRC says as much, nor for one of which they are not known yet.
    #[n(3)]
    pub(crate) block: Option<u64>,
}

/// Checksums of neighbouring blocks of a blob, in the order of [`Blocks::sums`](cenote_blob::Blocks::sums), 8 bytes each, big-endian.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct SumsRecord {
    #[cbor(n(0), with = "minicbor::bytes")]
    sums: Vec<u8>,
}

impl SumsRecord {
    pub(crate) fn new(sums: &[u64]) -> Self {
        Self { sums: sums.iter().flat_map(|sum| sum.to_be_bytes()).collect() }
    }

    pub(crate) fn sums(&self) -> impl Iterator<Item = u64> {
        let (sums, _) = self.sums.as_chunks::<8>();
        sums.iter().map(|sum| u64::from_be_bytes(*sum))
    }
}

/// A copy that was found damaged and could not be repaired yet.
#[derive(Debug, Clone, PartialEq, Eq, Encode, Decode)]
pub(crate) struct DamageRecord {
    #[n(0)]
    pub(crate) found: Time,
    /// What was found, in a sentence.
    #[n(1)]
    pub(crate) what: String,
}

/// Where a copy of a blob is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum BlobCopy {
    /// A place keeps it, under the blob's id.
    Kept(PlaceId),
    /// A file that was registered in place, and is assigned to a place. It is never written or deleted.
    Outside(PlaceId, String),
}

impl BlobCopy {
    /// The place that it is in, or counts to.
    pub(crate) fn place(&self) -> PlaceId {
        match self {
            Self::Kept(place) | Self::Outside(place, _) => *place,
        }
    }
}

impl BlobRecord {
    /// The place of its first copy.
    pub(crate) fn place(&self) -> PlaceId {
        self.copies.first().map(BlobCopy::place).unwrap_or_default()
    }

    pub(crate) fn copy_in(&self, place: PlaceId) -> Option<&BlobCopy> {
        self.copies.iter().find(|copy| copy.place() == place)
    }
}

/// A place's id, or an array of that and the path of the file. Format 1 had the name of the only place.
impl<C> Encode<C> for BlobCopy {
    fn encode<W: Write>(
        &self,
        e: &mut Encoder<W>,
        _: &mut C,
    ) -> Result<(), encode::Error<W::Error>> {
        match self {
            Self::Kept(place) => e.u64(place.0)?.ok(),
            Self::Outside(place, path) => e.array(2)?.u64(place.0)?.str(path)?.ok(),
        }
    }
}

impl<'b, C> Decode<'b, C> for BlobCopy {
    fn decode(d: &mut Decoder<'b>, _: &mut C) -> Result<Self, decode::Error> {
        match d.datatype()? {
            Type::String => d.skip().map(|()| Self::Kept(PlaceId::MAIN)),
            Type::Array => match d.array()? {
                Some(2) => Ok(Self::Outside(PlaceId(d.u64()?), d.str()?.to_owned())),
                _ => Err(decode::Error::message("a file outside has a place and a path")),
            },
            _ => Ok(Self::Kept(PlaceId(d.u64()?))),
        }
    }
}
