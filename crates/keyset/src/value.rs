//! Values of keys.
//!
//! Invariants: a string contains no NUL; a binary value has at least one byte, since Elektra does not distinguish an
//! empty one from null.

/// An invalid value: a string with a NUL byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the NUL at byte {0} cannot be part of a string: store the value as binary")]
pub struct NulInString(pub usize);

/// The value of a key, borrowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ValueRef<'a> {
    /// Text without NUL bytes, in no particular encoding.
    String(&'a [u8]),
    /// Bytes, at least one.
    Binary(&'a [u8]),
    /// A binary key without a value.
    Null,
}

impl<'a> ValueRef<'a> {
    /// The bytes of the value; empty for null.
    pub fn as_bytes(self) -> &'a [u8] {
        match self {
            Self::String(bytes) | Self::Binary(bytes) => bytes,
            Self::Null => &[],
        }
    }

    /// Whether the key is a binary one.
    pub fn is_binary(self) -> bool {
        !matches!(self, Self::String(_))
    }

    /// A value from stored bytes: an empty binary one is null.
    pub(crate) fn stored(bytes: &'a [u8], binary: bool) -> Self {
        match (binary, bytes) {
            (false, text) => Self::String(text),
            (true, []) => Self::Null,
            (true, bytes) => Self::Binary(bytes),
        }
    }
}

/// A value that a key owns.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    bytes: Box<[u8]>,
    binary: bool,
}

impl Value {
    pub(crate) fn string(text: &[u8]) -> Result<Self, NulInString> {
        match memchr::memchr(0, text) {
            Some(at) => Err(NulInString(at)),
            None => Ok(Self { bytes: text.into(), binary: false }),
        }
    }

    pub(crate) fn binary(bytes: &[u8]) -> Self {
        Self { bytes: bytes.into(), binary: true }
    }

    pub(crate) fn borrow(&self) -> ValueRef<'_> {
        ValueRef::stored(&self.bytes, self.binary)
    }

    /// The value after the metakey `binary` is set: the text including its terminating NUL.
    pub(crate) fn into_binary(self) -> Self {
        if self.binary || self.bytes.is_empty() {
            return Self { binary: true, ..self };
        }
        Self { bytes: [&*self.bytes, b"\0"].concat().into(), binary: true }
    }

    /// The value after the metakey `binary` is removed: the text up to a NUL.
    pub(crate) fn into_string(self) -> Self {
        Self { bytes: until_nul(&self.bytes).into(), binary: false }
    }
}

impl From<ValueRef<'_>> for Value {
    fn from(value: ValueRef<'_>) -> Self {
        Self { bytes: value.as_bytes().into(), binary: value.is_binary() }
    }
}

/// These bytes read as a C string.
pub(crate) fn until_nul(bytes: &[u8]) -> &[u8] {
    &bytes[..memchr::memchr(0, bytes).unwrap_or(bytes.len())]
}
