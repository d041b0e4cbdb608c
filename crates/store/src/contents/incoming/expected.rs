//! What a sender announces about bytes, and the verification.

use cenote_blob::{Algorithm, Hasher};

use crate::{Error, ErrorKind, Result};

/// The announcement of the sender; bytes that do not match it are refused.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expected {
    /// How many there are.
    pub length: Option<u64>,
    /// Their SHA-256.
    pub sha256: Option<[u8; 32]>,
    /// Their CRC-64/NVME.
    pub crc64nvme: Option<u64>,
    /// Other digests of them.
    pub others: Vec<(Algorithm, Vec<u8>)>,
    /// Other digests to compute.
    pub also: Vec<Algorithm>,
    /// Whether bytes that end early are kept as far as they arrived, as a shorter part of an upload. Nothing else can
    /// be kept so.
    pub keep_short: bool,
}

impl Expected {
    pub(crate) fn algorithms(&self) -> Vec<Algorithm> {
        let others = self.others.iter().map(|(algorithm, _)| *algorithm);
        self.also.iter().copied().chain(others).collect()
    }

    pub(crate) fn hasher(&self) -> Hasher {
        Hasher::new(self.algorithms())
    }

    pub(crate) fn is_short(&self, size: u64) -> bool {
        self.length.is_some_and(|length| size < length) && !self.keep_short
    }

    pub(crate) fn check(&self, size: u64, digests: &cenote_blob::Digests) -> Result<()> {
        if self.length.is_some_and(|length| size > length) || self.is_short(size) {
            return Err(mismatched("the length differs from the one announced"));
        }
        if self.sha256.is_some() && self.sha256 != digests.sha256 {
            return Err(mismatched("the SHA-256 differs from the one announced"));
        }
        if self.crc64nvme.is_some_and(|crc| crc != digests.crc64nvme) {
            return Err(mismatched("the CRC-64/NVME differs from the one announced"));
        }
        let differs = |(algorithm, digest): &&(Algorithm, Vec<u8>)| {
            digests.get(*algorithm) != Some(digest.as_slice())
        };
        match self.others.iter().find(differs) {
            Some((algorithm, _)) => {
                Err(mismatched(&format!("the {algorithm:?} differs from the one announced")))
            }
            None => Ok(()),
        }
    }
}

pub(crate) fn mismatched(message: &str) -> Error {
    Error::new(ErrorKind::Mismatch, message).with_hint("send it again; nothing was stored")
}
