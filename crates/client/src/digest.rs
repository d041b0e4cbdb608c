//! Digests of contents, and their form in headers (RFC 9530): SHA-256 identifies bytes, CRC-64/NVME detects damage several times as
//! fast.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use crc_fast::CrcAlgorithm::Crc64Nvme;
use sha2::{Digest, Sha256};

/// A SHA-256; displayed as 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Sha256Digest([u8; 32]);

impl Sha256Digest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Its 32 bytes.
    pub fn bytes(&self) -> &[u8; 32] {
        &self.0
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

/// A CRC-64/NVME; displayed as 16 lower-case hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CrcDigest(u64);

impl CrcDigest {
    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(crc_fast::checksum(Crc64Nvme, bytes))
    }

    /// Whether `text` is this digest in hexadecimal.
    pub fn is(&self, text: &str) -> bool {
        u64::from_str_radix(text, 16) == Ok(self.0)
    }

    /// The value of a `Repr-Digest` header.
    pub(crate) fn header(&self) -> String {
        format!("crc64nvme=:{}:", STANDARD.encode(self.0.to_be_bytes()))
    }
}

impl fmt::Display for CrcDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
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
    fn a_crc_is_written_in_hexadecimal_and_for_a_header() {
        // The check value of the NVMe specification.
        let digest = CrcDigest::of(b"123456789");
        assert_eq!(digest.to_string(), "ae8b14860a799888");
        assert!(digest.is("AE8B14860A799888") && !digest.is("") && !digest.is("ae8b"));
        assert_eq!(digest.header(), "crc64nvme=:rosUhgp5mIg=:");
    }

    #[test]
    fn a_text_that_is_not_hexadecimal_is_not_a_digest() {
        let digest = Sha256Digest::of(b"abc").to_string();
        for text in ["", &digest[1..], &format!("{digest}00"), &digest.replace('a', "g")] {
            assert!(!Sha256Digest::of(b"abc").is(text), "{text}");
        }
    }
}
