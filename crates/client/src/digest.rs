//! SHA-256 of contents, and its form in headers (RFC 9530).

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest, Sha256};

/// A SHA-256; displayed as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256Digest([u8; 32]);

impl Sha256Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Finalises a hash.
    pub(crate) fn from_hasher(hasher: Sha256) -> Self {
        Self(hasher.finalize().into())
    }

    /// Whether `text` is this digest in hexadecimal.
    pub fn is(&self, text: &str) -> bool {
        let mut bytes = [0; 32];
        hex::decode_to_slice(text, &mut bytes).is_ok() && bytes == self.0
    }

    /// The value of a `Repr-Digest` header.
    pub(crate) fn header(&self) -> String {
        format!("sha-256=:{}:", STANDARD.encode(self.0))
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
    fn a_digest_is_written_in_hexadecimal_and_for_a_header() {
        let digest = Sha256Digest::of(b"abc");
        assert!(digest.is("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
        assert_eq!(digest.header(), "sha-256=:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=:");
    }

    #[test]
    fn a_text_that_is_not_hexadecimal_is_not_a_digest() {
        let digest = Sha256Digest::of(b"abc").to_string();
        for text in ["", &digest[1..], &format!("{digest}00"), &digest.replace('a', "g")] {
            assert!(!Sha256Digest::of(b"abc").is(text), "{text}");
        }
    }
}
