//! Digests of streams of bytes: one [`Hasher`] computes a chosen set of algorithms, always including CRC-64/NVME, and
//! SHA-256 unless that is switched off.
//!
//! SHA-256 identifies bytes, even against an attacker. The CRC detects corruption, several times as fast, and that of
//! a whole can be computed from those of its parts, which that of their SHA-256 cannot.

use std::collections::BTreeMap;
use std::fmt;

use blake2::Blake2b512;
use crc_fast::CrcAlgorithm::Crc64Nvme;
use md5::Md5;
use sha1::Sha1;
use sha2::digest::DynDigest;
use sha2::digest::common::hazmat::SerializableState;
use sha2::{Digest, Sha256, Sha512, Sha512_256};

use crate::blocks::{Blocks, Summing};

/// How many bytes are passed to all algorithms before the next ones.
const PIECE: usize = 32 << 10;

/// An algorithm that some protocol requires besides SHA-256.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// MD5 (RFC 1321), 16 bytes. Parts of DNAnexus uploads, S3, iRODS.
    Md5,
    /// SHA-1 (FIPS 180-4), 20 bytes. Fedora, LAKEsuperior.
    Sha1,
    /// SHA-512 (FIPS 180-4), 64 bytes. Fedora, iRODS.
    Sha512,
    /// SHA-512/256 (FIPS 180-4), 32 bytes. Fedora.
    Sha512_256,
    /// BLAKE2b with 64 bytes (RFC 7693). LAKEsuperior.
    Blake2b,
    /// CRC-32C (RFC 3720), 4 bytes, most significant first. S3, GCS.
    Crc32c,
}

/// The CRC-64/NVME of the concatenation of two runs of bytes: `second` is that of the second one, which has `length`
/// bytes.
///
/// ```
/// use cenote_blob::{Hasher, append_crc64nvme};
///
/// let crc = |bytes: &[u8]| {
///     let mut hasher = Hasher::default();
///     hasher.update(bytes);
///     hasher.finish().crc64nvme
/// };
/// assert_eq!(append_crc64nvme(crc(b"1234"), crc(b"56789"), 5), 0xae8b_1486_0a79_9888);
/// ```
pub fn append_crc64nvme(first: u64, second: u64, length: u64) -> u64 {
    crc_fast::checksum_combine(Crc64Nvme, first, second, length)
}

/// The CRC-64/NVME of this many zeros. Takes as many steps as the number has bits.
///
/// ```
/// use cenote_blob::{Hasher, crc64nvme_of_zeros};
///
/// let mut hasher = Hasher::default();
/// hasher.update(&[0; 1000]);
/// assert_eq!(crc64nvme_of_zeros(1000), hasher.finish().crc64nvme);
/// ```
pub fn crc64nvme_of_zeros(length: u64) -> u64 {
    let (mut whole, mut run) = (0, crc_fast::checksum(Crc64Nvme, &[0]));
    for bit in 0..u64::BITS - length.leading_zeros() {
        if length >> bit & 1 == 1 {
            whole = append_crc64nvme(whole, run, 1 << bit);
        }
        run = append_crc64nvme(run, run, 1 << bit);
    }
    whole
}

/// The digests of one run of bytes: its SHA-256 and CRC-64/NVME, and others that were requested.
#[derive(Clone, PartialEq, Eq)]
pub struct Digests {
    /// SHA-256 (FIPS 180-4); `None` of a hasher [without it](Hasher::without_sha256).
    pub sha256: Option<[u8; 32]>,
    /// CRC-64/NVME (NVM Express NVM Command Set Specification 1.0, 5.2.1.3.4), as used by S3.
    pub crc64nvme: u64,
    others: BTreeMap<Algorithm, Box<[u8]>>,
}

impl Digests {
    /// The digest by `algorithm`, if it was requested; its length is the algorithm's.
    pub fn get(&self, algorithm: Algorithm) -> Option<&[u8]> {
        self.others.get(&algorithm).map(|digest| &**digest)
    }

    /// The other requested digests.
    pub fn others(&self) -> impl Iterator<Item = (Algorithm, &[u8])> {
        self.others.iter().map(|(algorithm, digest)| (*algorithm, &**digest))
    }
}

impl fmt::Debug for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        map.entry(&"sha256", &self.sha256.map(hex::encode));
        map.entry(&"crc64nvme", &format_args!("{:016x}", self.crc64nvme));
        self.others()
            .fold(&mut map, |map, (algorithm, digest)| map.entry(&algorithm, &hex::encode(digest)));
        map.finish()
    }
}

/// The SHA-256 of a run of bytes before finalization, so that it can continue with the bytes that follow.
#[derive(Clone, Default)]
pub struct Sha256State(Sha256);

impl Sha256State {
    /// Restores a saved state; `None` if the bytes are not from [`to_bytes`](Self::to_bytes).
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        Sha256::deserialize(bytes.try_into().ok()?).ok().map(Self)
    }

    /// Saves the state for a limited time: another version of this crate may not be able to read it.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.serialize().to_vec()
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        Digest::update(&mut self.0, bytes);
    }

    /// The SHA-256 of the bytes so far.
    pub fn sha256(&self) -> [u8; 32] {
        self.0.clone().finalize().into()
    }
}

impl PartialEq for Sha256State {
    fn eq(&self, other: &Self) -> bool {
        self.to_bytes() == other.to_bytes()
    }
}

impl Eq for Sha256State {}

impl fmt::Debug for Sha256State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sha256State").field(&hex::encode(self.sha256())).finish()
    }
}

enum State {
    Cryptographic(Box<dyn DynDigest + Send>),
    Crc32c(u32),
}

impl State {
    fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Md5 => Self::Cryptographic(Box::new(Md5::new())),
            Algorithm::Sha1 => Self::Cryptographic(Box::new(Sha1::new())),
            Algorithm::Sha512 => Self::Cryptographic(Box::new(Sha512::new())),
            Algorithm::Sha512_256 => Self::Cryptographic(Box::new(Sha512_256::new())),
            Algorithm::Blake2b => Self::Cryptographic(Box::new(Blake2b512::new())),
            Algorithm::Crc32c => Self::Crc32c(0),
        }
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Cryptographic(digest) => digest.update(bytes),
            Self::Crc32c(crc) => *crc = crc32c::crc32c_append(*crc, bytes),
        }
    }

    fn finish(self) -> Box<[u8]> {
        match self {
            Self::Cryptographic(digest) => digest.finalize(),
            Self::Crc32c(crc) => Box::new(crc.to_be_bytes()),
        }
    }
}

/// Computes the digests of bytes passed in order.
///
/// ```
/// use cenote_blob::{Algorithm, Hasher};
///
/// let mut hasher = Hasher::new([Algorithm::Crc32c]);
/// hasher.update(b"1234");
/// hasher.update(b"56789");
/// assert_eq!(hasher.finish().get(Algorithm::Crc32c), Some(&[0xe3, 0x06, 0x92, 0x83][..]));
/// ```
pub struct Hasher {
    sha256: Option<Sha256State>,
    crc64nvme: Summing,
    others: BTreeMap<Algorithm, State>,
    /// Continues from the bytes before these.
    whole: Option<Sha256State>,
}

impl Hasher {
    /// A hasher for SHA-256, CRC-64/NVME and each of `others`.
    pub fn new(others: impl IntoIterator<Item = Algorithm>) -> Self {
        let others =
            others.into_iter().map(|algorithm| (algorithm, State::new(algorithm))).collect();
        let sha256 = Some(Sha256State::default());
        Self { sha256, crc64nvme: Summing::default(), others, whole: None }
    }

    /// The same without the SHA-256 of these bytes, which takes several times as long as the CRC.
    pub fn without_sha256(self) -> Self {
        Self { sha256: None, ..self }
    }

    /// The same for bytes that follow others: [`state`](Self::state) then covers all of them.
    pub fn after(self, before: Sha256State) -> Self {
        Self { whole: Some(before), ..self }
    }

    /// Adds the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        // Each piece stays in the cache until the last algorithm has seen it.
        for piece in bytes.chunks(PIECE) {
            self.sha256.iter_mut().for_each(|sha256| sha256.update(piece));
            self.crc64nvme.update(piece);
            self.others.values_mut().for_each(|state| state.update(piece));
            self.whole.iter_mut().for_each(|whole| whole.update(piece));
        }
    }

    /// The SHA-256 state after these bytes and those before them, if one was computed.
    pub fn state(&self) -> Option<Sha256State> {
        self.whole.as_ref().or(self.sha256.as_ref()).cloned()
    }

    /// The block checksums of all bytes added.
    pub fn blocks(&self) -> Blocks {
        self.crc64nvme.blocks()
    }

    /// The digests of all bytes added.
    pub fn finish(self) -> Digests {
        let others = self.others.into_iter().map(|(algorithm, state)| (algorithm, state.finish()));
        Digests {
            sha256: self.sha256.map(|state| state.sha256()),
            crc64nvme: self.crc64nvme.crc(),
            others: others.collect(),
        }
    }
}

impl Default for Hasher {
    /// A hasher for SHA-256 and CRC-64/NVME only.
    fn default() -> Self {
        Self::new([])
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher").field("others", &self.others.keys()).finish_non_exhaustive()
    }
}
