//! Digests of bytes that stream past: one [`Hasher`] computes a chosen set of
//! algorithms, SHA-256 always among them.

use std::collections::BTreeMap;
use std::fmt;

use blake2::Blake2b512;
use md5::Md5;
use sha1::Sha1;
use sha2::digest::DynDigest;
use sha2::digest::common::hazmat::SerializableState;
use sha2::{Digest, Sha256, Sha512, Sha512_256};

/// An algorithm that some protocol asks for beside SHA-256.
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

/// The digests of one run of bytes: its SHA-256, and what else was asked for.
#[derive(Clone, PartialEq, Eq)]
pub struct Digests {
    /// SHA-256 (FIPS 180-4).
    pub sha256: [u8; 32],
    others: BTreeMap<Algorithm, Box<[u8]>>,
}

impl Digests {
    /// The digest by `algorithm`, if it was asked for; its length is the algorithm's.
    pub fn get(&self, algorithm: Algorithm) -> Option<&[u8]> {
        self.others.get(&algorithm).map(|digest| &**digest)
    }

    /// Every digest beside SHA-256.
    pub fn others(&self) -> impl Iterator<Item = (Algorithm, &[u8])> {
        self.others.iter().map(|(algorithm, digest)| (*algorithm, &**digest))
    }
}

impl fmt::Debug for Digests {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        map.entry(&"sha256", &hex::encode(self.sha256));
        self.others()
            .fold(&mut map, |map, (algorithm, digest)| map.entry(&algorithm, &hex::encode(digest)));
        map.finish()
    }
}

/// The SHA-256 of a run of bytes before it is closed, so that it can go on with the bytes that follow.
#[derive(Clone, PartialEq, Eq)]
pub struct Sha256State(Box<[u8]>);

impl Sha256State {
    /// The state as it was kept; none if these are not [`as_bytes`](Self::as_bytes) of one.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        resume(bytes).map(|_| Self(bytes.into()))
    }

    /// The state as it can be kept for a while: another version of this crate may not know it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The SHA-256 of the bytes so far.
    pub fn sha256(&self) -> [u8; 32] {
        self.hash().finalize().into()
    }

    fn of(hash: &Sha256) -> Self {
        Self(hash.serialize().as_slice().into())
    }

    fn hash(&self) -> Sha256 {
        resume(&self.0).expect("made from a state only")
    }
}

impl fmt::Debug for Sha256State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Sha256State").field(&hex::encode(self.sha256())).finish()
    }
}

fn resume(bytes: &[u8]) -> Option<Sha256> {
    Sha256::deserialize(bytes.try_into().ok()?).ok()
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

/// Computes the digests of bytes given in order.
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
    sha256: Sha256,
    others: BTreeMap<Algorithm, State>,
    /// Goes on from what came before these bytes.
    whole: Option<Sha256>,
}

impl Hasher {
    /// A hasher for SHA-256 and each of `others`.
    pub fn new(others: impl IntoIterator<Item = Algorithm>) -> Self {
        let others =
            others.into_iter().map(|algorithm| (algorithm, State::new(algorithm))).collect();
        Self { sha256: Sha256::new(), others, whole: None }
    }

    /// A hasher for SHA-256 alone, which goes on from where `state` stands.
    pub fn resume(state: &Sha256State) -> Self {
        Self { sha256: state.hash(), others: BTreeMap::new(), whole: None }
    }

    /// The same for bytes that follow others: [`state`](Self::state) is that of all together.
    pub fn after(self, before: &Sha256State) -> Self {
        Self { whole: Some(before.hash()), ..self }
    }

    /// Takes the next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        Digest::update(&mut self.sha256, bytes);
        self.others.values_mut().for_each(|state| state.update(bytes));
        self.whole.iter_mut().for_each(|whole| Digest::update(whole, bytes));
    }

    /// Where the SHA-256 stands, of these bytes and of those that came before them.
    pub fn state(&self) -> Sha256State {
        Sha256State::of(self.whole.as_ref().unwrap_or(&self.sha256))
    }

    /// The digests of all bytes taken.
    pub fn finish(self) -> Digests {
        let others = self.others.into_iter().map(|(algorithm, state)| (algorithm, state.finish()));
        Digests { sha256: self.sha256.finalize().into(), others: others.collect() }
    }
}

impl Default for Hasher {
    /// A hasher for SHA-256 alone.
    fn default() -> Self {
        Self::new([])
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Hasher").field("others", &self.others.keys()).finish_non_exhaustive()
    }
}
