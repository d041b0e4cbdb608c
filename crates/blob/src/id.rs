//! The name of a blob. The path is determined by the id alone, so a blob can be found from its id in any place, and
//! its id from its path.

use std::fmt;
use std::str::FromStr;

use object_store::path::Path;

/// The directory (or key prefix) that holds every blob of a place.
pub(crate) const BLOBS: &str = "blobs";

/// The id of one blob: 128 bits chosen by the caller, from a source of randomness good enough that no two are ever
/// equal.
///
/// Printed as 32 lower-case hexadecimal digits. In a place it is stored at `blobs/ab/cdef…`: the first two digits,
/// then the other thirty.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId([u8; 16]);

impl BlobId {
    /// The id consisting of these 16 bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> Self {
        Self(bytes)
    }

    /// The 16 bytes of the id.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// The path of the blob, relative to its place.
    pub(crate) fn path(self) -> Path {
        let hex = self.to_string();
        Path::from_iter([BLOBS, &hex[..2], &hex[2..]])
    }

    /// The id of the blob stored at `path`; `None` if that is not the name of a blob.
    pub(crate) fn from_path(path: &Path) -> Option<Self> {
        let digits = path.as_ref().strip_prefix(BLOBS)?.strip_prefix('/')?;
        let (fan, rest) = digits.split_once('/')?;
        (fan.len() == 2).then(|| format!("{fan}{rest}").parse().ok())?
    }
}

impl fmt::Display for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for BlobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BlobId({self})")
    }
}

/// A text that is not 32 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a blob id is 32 lower-case hexadecimal digits")]
pub struct BlobIdError;

impl FromStr for BlobId {
    type Err = BlobIdError;

    fn from_str(text: &str) -> std::result::Result<Self, BlobIdError> {
        // Only one spelling per id: upper case would name the same blob by two paths.
        if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            return Err(BlobIdError);
        }
        let mut bytes = [0; 16];
        hex::decode_to_slice(text, &mut bytes).map_err(|_| BlobIdError)?;
        Ok(Self(bytes))
    }
}
