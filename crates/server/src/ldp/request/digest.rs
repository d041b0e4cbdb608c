//! `Digest` and `Want-Digest` (RFC 3230), which the Fedora API uses: the digests sent with bytes, and those requested
//! by a reader.

use std::collections::BTreeSet;

use axum::http::{HeaderMap, StatusCode};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cenote_store::{Algorithm, Digests, Expected};

use crate::ldp::dialect::DigestForm;
use crate::ldp::request::fault::Fault;

/// A digest of RFC 3230, or one that LAKEsuperior knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DigestAlgorithm {
    Md5,
    Sha1,
    Sha256,
    Sha512,
    Sha512_256,
    Blake2b,
}

/// Each with its names, the first of which is Fedora's, and its bytes.
const TABLE: [(DigestAlgorithm, &[&str], usize); 6] = [
    (DigestAlgorithm::Md5, &["md5"], 16),
    (DigestAlgorithm::Sha1, &["sha", "sha1", "sha-1"], 20),
    (DigestAlgorithm::Sha256, &["sha-256", "sha256"], 32),
    (DigestAlgorithm::Sha512, &["sha-512", "sha512"], 64),
    (DigestAlgorithm::Sha512_256, &["sha-512/256", "sha512/256"], 32),
    (DigestAlgorithm::Blake2b, &["blake2b"], 64),
];

impl DigestAlgorithm {
    fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let row = TABLE.iter().find(|(_, names, _)| names.contains(&name.as_str()));
        row.map(|(known, ..)| *known)
    }

    fn row(self) -> &'static (Self, &'static [&'static str], usize) {
        TABLE.iter().find(|(known, ..)| *known == self).expect("the table has all of them")
    }

    /// The store's name; none for SHA-256, which it always computes.
    pub(crate) fn algorithm(self) -> Option<Algorithm> {
        match self {
            Self::Md5 => Some(Algorithm::Md5),
            Self::Sha1 => Some(Algorithm::Sha1),
            Self::Sha256 => None,
            Self::Sha512 => Some(Algorithm::Sha512),
            Self::Sha512_256 => Some(Algorithm::Sha512_256),
            Self::Blake2b => Some(Algorithm::Blake2b),
        }
    }

    /// The digest, if the store knows it.
    pub(crate) fn of(self, digests: &Digests) -> Option<Vec<u8>> {
        match self.algorithm() {
            None => digests.sha256.map(|digest| digest.to_vec()),
            Some(algorithm) => digests.get(algorithm).map(<[u8]>::to_vec),
        }
    }

    /// All digests of a content that the store knows, each with its name in IRIs.
    pub(crate) fn all(digests: &Digests) -> Vec<(Self, &'static str, Vec<u8>)> {
        let known = TABLE.iter().filter_map(|(known, names, _)| {
            let name = if *known == Self::Sha1 { "sha1" } else { names[0] };
            Some((*known, name, known.of(digests)?))
        });
        known.collect()
    }

    /// A digest as the header has it.
    pub(crate) fn shown(self, digest: &[u8], form: DigestForm) -> String {
        let (_, names, _) = self.row();
        match form {
            DigestForm::Hex => format!("{}={}", names[0], hex::encode(digest)),
            DigestForm::Base64 => {
                let name = names.get(1).unwrap_or(&names[0]).to_ascii_uppercase();
                format!("{name}={}", BASE64_STANDARD.encode(digest))
            }
        }
    }
}

/// The digests of the following bytes in `Digest` headers, in hexadecimal or base64.
pub(crate) fn expected(headers: &HeaderMap) -> Result<Expected, Fault> {
    let mut expected = Expected::default();
    for value in headers.get_all("digest") {
        let wrong = || Fault::bad("the Digest header is not of the form algorithm=digest");
        for digest in value.to_str().map_err(|_| wrong())?.split(',') {
            let (name, digest) = digest.split_once('=').ok_or_else(wrong)?;
            let known = DigestAlgorithm::named(name).ok_or_else(|| {
                Fault::bad(format!("the digest algorithm {:.32} is not supported", name.trim()))
            })?;
            let digest = decoded(digest.trim()).ok_or_else(wrong)?;
            if digest.len() != known.row().2 {
                return Err(Fault::new(StatusCode::CONFLICT, "the digest has the wrong length"));
            }
            match known.algorithm() {
                None => expected.sha256 = digest.try_into().ok(),
                Some(algorithm) => expected.others.push((algorithm, digest)),
            }
        }
    }
    Ok(expected)
}

/// A digest in hexadecimal or base64.
fn decoded(text: &str) -> Option<Vec<u8>> {
    hex::decode(text).ok().or_else(|| BASE64_STANDARD.decode(text).ok())
}

/// The digests that `Want-Digest` names, if there is such a header.
///
/// # Errors
/// Status 400 if it names none that is known.
pub(crate) fn wanted(headers: &HeaderMap) -> Result<Option<BTreeSet<DigestAlgorithm>>, Fault> {
    if !headers.contains_key("want-digest") {
        return Ok(None);
    }
    let values = headers.get_all("want-digest").iter().filter_map(|value| value.to_str().ok());
    let wanted: BTreeSet<DigestAlgorithm> =
        values.flat_map(|value| value.split(',')).filter_map(want).collect();
    match wanted.is_empty() {
        true => Err(Fault::bad("Want-Digest names no supported digest")),
        false => Ok(Some(wanted)),
    }
}

/// One entry, unless its weight is zero.
fn want(entry: &str) -> Option<DigestAlgorithm> {
    let (name, parameters) = entry.split_once(';').unwrap_or((entry, ""));
    let weight = parameters.trim().strip_prefix("q=").and_then(|weight| weight.parse::<f32>().ok());
    DigestAlgorithm::named(name).filter(|_| weight != Some(0.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn headers(name: &'static str, value: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if let Ok(value) = value.parse() {
            headers.insert(name, value);
        }
        headers
    }

    #[test]
    fn digests_are_read_in_hexadecimal_and_base64() {
        let digest = [7u8; 20];
        for text in [hex::encode(digest), BASE64_STANDARD.encode(digest)] {
            for name in ["sha", "SHA1", "Sha-1"] {
                let read = expected(&headers("digest", &format!("{name}={text}"))).unwrap();
                assert_eq!(read.others, [(Algorithm::Sha1, digest.to_vec())]);
            }
        }
        for wrong in ["sha", "sha=00", "whirlpool=00", "sha=x=y", "=", "sha=*"] {
            assert!(expected(&headers("digest", wrong)).is_err(), "{wrong}");
        }
    }

    #[test]
    fn wanted_digests_are_those_that_are_known() {
        let wanted = |value| wanted(&headers("want-digest", value)).map(|it| it.unwrap().len());
        assert_eq!(wanted("sha").unwrap(), 1);
        assert_eq!(wanted("md5;q=0.3, sha;q=1, x").unwrap(), 2);
        assert_eq!(wanted("md5;q=0, sha").unwrap(), 1);
        assert!(wanted("x").is_err());
        assert_eq!(DigestAlgorithm::Sha1.shown(&[255], DigestForm::Hex), "sha=ff");
        assert_eq!(DigestAlgorithm::Sha1.shown(&[255], DigestForm::Base64), "SHA1=/w==");
    }

    proptest! {
        #[test]
        fn any_header_is_read_or_refused(value in "[a-z0-9=,;/+ ]{0,30}") {
            let _ = (expected(&headers("digest", &value)), wanted(&headers("want-digest", &value)));
        }
    }
}
