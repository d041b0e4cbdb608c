//! Verifies that the received bytes are those that the store keeps.
//!
//! The CRC-64/NVME is compared if the store knows it, as it does even for contents uploaded in parts: it detects
//! corruption in transit and on the disk in a fraction of the time that SHA-256 takes. Otherwise SHA-256 is compared.

use crc_fast::CrcAlgorithm::Crc64Nvme;
use sha2::{Digest, Sha256};

use crate::{Error, Kind, Resource, Result, Sha256Digest};

/// Consumes the bytes of a content, in order.
pub(super) struct Verification(Hash);

enum Hash {
    Crc64Nvme { so_far: crc_fast::Digest, kept: u64 },
    Sha256 { so_far: Sha256, kept: String },
}

impl Verification {
    /// The verification for `resource`; `None` if the store knows no digest of it.
    pub(super) fn of(resource: &Resource) -> Option<Self> {
        let crc = resource.crc64nvme.as_deref().and_then(|hex| u64::from_str_radix(hex, 16).ok());
        let crc =
            crc.map(|kept| Hash::Crc64Nvme { so_far: crc_fast::Digest::new(Crc64Nvme), kept });
        let sha256 =
            || Some(Hash::Sha256 { so_far: Sha256::new(), kept: resource.sha256.clone()? });
        crc.or_else(sha256).map(Self)
    }

    /// Adds the next bytes.
    pub(super) fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            Hash::Crc64Nvme { so_far, .. } => so_far.update(bytes),
            Hash::Sha256 { so_far, .. } => so_far.update(bytes),
        }
    }

    /// # Errors
    /// [`Kind::Mismatch`] if the bytes differ.
    pub(super) fn finish(self, path: &str) -> Result<()> {
        let same = match self.0 {
            Hash::Crc64Nvme { so_far, kept } => so_far.finalize() == kept,
            Hash::Sha256 { so_far, kept } => Sha256Digest::from_hasher(so_far).is(&kept),
        };
        if same {
            return Ok(());
        }
        let message = format!("received bytes that differ from those in the store: {path}");
        Err(Error::new(Kind::Mismatch, message)
            .with_hint("get it again; if the error persists, run `cenote check`"))
    }
}

/// Verifies bytes in memory, if requested.
pub(super) fn verify(resource: &Resource, bytes: &[u8]) -> Result<()> {
    match Verification::of(resource) {
        Some(mut verification) => {
            verification.update(bytes);
            verification.finish(&resource.path)
        }
        None => Ok(()),
    }
}
