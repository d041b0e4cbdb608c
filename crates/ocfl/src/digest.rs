//! The digests of inventories and of their fixity blocks.

use std::collections::BTreeMap;
use std::fmt;

use sha2::digest::DynDigest;

/// A digest algorithm; inventories use the first two, fixity blocks all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Algorithm {
    /// SHA-512, which inventories should use.
    Sha512,
    /// SHA-256, which they may use.
    Sha256,
    /// SHA-512/256.
    Sha512Over256,
    /// SHA-1.
    Sha1,
    /// MD5.
    Md5,
    /// BLAKE2b with 512 bits.
    Blake2b512,
}

impl Algorithm {
    const ALL: [Self; 6] =
        [Self::Sha512, Self::Sha256, Self::Sha512Over256, Self::Sha1, Self::Md5, Self::Blake2b512];

    /// Its name in inventories.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sha512 => "sha512",
            Self::Sha256 => "sha256",
            Self::Sha512Over256 => "sha512/256",
            Self::Sha1 => "sha1",
            Self::Md5 => "md5",
            Self::Blake2b512 => "blake2b-512",
        }
    }

    /// The algorithm with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Whether the digests of an inventory may be of this algorithm.
    pub fn is_for_content(self) -> bool {
        matches!(self, Self::Sha512 | Self::Sha256)
    }

    /// The digest of bytes, in hexadecimal.
    pub fn of(self, bytes: &[u8]) -> String {
        let mut hasher = self.hasher();
        hasher.update(bytes);
        hex::encode(hasher.finalize())
    }

    fn hasher(self) -> Box<dyn DynDigest + Send> {
        match self {
            Self::Sha512 => Box::<sha2::Sha512>::default(),
            Self::Sha256 => Box::<sha2::Sha256>::default(),
            Self::Sha512Over256 => Box::<sha2::Sha512_256>::default(),
            Self::Sha1 => Box::<sha1::Sha1>::default(),
            Self::Md5 => Box::<md5::Md5>::default(),
            Self::Blake2b512 => Box::<blake2::Blake2b512>::default(),
        }
    }
}

/// Several digests of the same bytes, computed in one pass.
#[derive(Default)]
pub struct Hashes(BTreeMap<Algorithm, Box<dyn DynDigest + Send>>);

impl fmt::Debug for Hashes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl Hashes {
    /// Digests of no bytes yet.
    pub fn new(algorithms: impl IntoIterator<Item = Algorithm>) -> Self {
        Self(algorithms.into_iter().map(|algorithm| (algorithm, algorithm.hasher())).collect())
    }

    /// The next bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.values_mut().for_each(|hasher| hasher.update(bytes));
    }

    /// The digests, in lower-case hexadecimal.
    pub fn finish(self) -> BTreeMap<Algorithm, String> {
        let digest = |(algorithm, hasher): (_, Box<dyn DynDigest + Send>)| {
            (algorithm, hex::encode(hasher.finalize()))
        };
        self.0.into_iter().map(digest).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_no_bytes_are_the_published_ones() {
        for (algorithm, digest) in [
            (Algorithm::Md5, "d41d8cd98f00b204e9800998ecf8427e"),
            (Algorithm::Sha1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (Algorithm::Sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ] {
            assert_eq!(algorithm.of(b""), digest);
            assert_eq!(Hashes::new([algorithm]).finish()[&algorithm], digest);
            assert_eq!(Algorithm::named(algorithm.name()), Some(algorithm));
        }
    }
}
