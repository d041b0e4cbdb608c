//! SHA-256 of contents, and how headers write it (RFC 9530).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// A SHA-256; shown as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256Digest([u8; 32]);

impl Sha256Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Ends a hash.
    pub(crate) fn from_hasher(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }

    /// Whether `text` writes this digest in hexadecimal.
    pub fn is(&self, text: &str) -> bool {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).is_ok() && bytes == self.0
    }

    /// The value of a `Repr-Digest` header.
    pub(crate) fn header(&self) -> String {
        format!("sha-256=:{}:", STANDARD.encode(self.0))
    }

    /// From the value of a `Repr-Digest` header, which may have other digests too.
    pub(crate) fn from_header(value: &str) -> Option<Self> {
        let member = value.split(',').find_map(|member| member.trim().strip_prefix("sha-256="))?;
        let text = member.strip_prefix(':')?.split(':').next()?;
        Some(Self(STANDARD.decode(text).ok()?.try_into().ok()?))
    }
}

impl fmt::Display for Sha256Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_gives_back_what_was_put_in() {
        let digest = Sha256Digest::of(b"abc");
        let value = format!("md5=:AAAA:, {}", digest.header());
        assert_eq!(Sha256Digest::from_header(&value), Some(digest));
        assert!(digest.is("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
    }

    #[test]
    fn a_header_without_a_proper_digest_gives_none() {
        for value in ["", "sha-256=", "sha-256=::", "sha-256=:AAAA:", "md5=:AAAA:", "sha-256=:*:"] {
            assert_eq!(Sha256Digest::from_header(value), None, "{value}");
        }
    }
}
