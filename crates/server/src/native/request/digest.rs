//! `Repr-Digest` and `Content-Digest` (RFC 9530): the digests of the sender, and ours.
//!
//! A request carries the whole representation, or for a part its own bytes, so both headers
//! mean the same here. `crc64nvme` is not among the registered algorithms; it has the eight bytes that S3 gives, the
//! most significant first.

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cenote_store::{Algorithm, Digests, Expected};
use sfv::{BareItem, Dictionary, ListEntry, Parser};

use crate::problem::Problem;

pub(crate) const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");

const CRC64NVME: &str = "crc64nvme";

/// What is checked besides SHA-256 and CRC-64/NVME, by its name in RFC 9530.
const OTHERS: [(&str, Algorithm, usize); 4] = [
    ("sha-512", Algorithm::Sha512, 64),
    ("sha", Algorithm::Sha1, 20),
    ("md5", Algorithm::Md5, 16),
    ("crc32c", Algorithm::Crc32c, 4),
];

/// The digests of the following bytes in the headers. A digest that cannot be checked is refused, since whoever
/// sends one relies on it.
pub(crate) fn expected(headers: &HeaderMap) -> Result<Expected, Problem> {
    let mut expected = Expected::default();
    for name in [REPR_DIGEST, CONTENT_DIGEST] {
        for value in headers.get_all(&name) {
            let digests: Result<Dictionary, _> = Parser::new(value.as_bytes()).parse();
            for (algorithm, entry) in &digests.map_err(|_| wrong(&name))? {
                let digest = bytes(entry).ok_or_else(|| wrong(&name))?;
                expect(&mut expected, algorithm.as_str(), digest)?.ok_or_else(|| wrong(&name))?;
            }
        }
    }
    Ok(expected)
}

/// Adds one digest; none if it is not of the algorithm's length.
fn expect(expected: &mut Expected, algorithm: &str, digest: &[u8]) -> Result<Option<()>, Problem> {
    let known = match algorithm {
        "sha-256" => return once(&mut expected.sha256, digest.try_into().ok()),
        CRC64NVME => {
            let crc = digest.try_into().ok().map(u64::from_be_bytes);
            return once(&mut expected.crc64nvme, crc);
        }
        other => OTHERS.iter().find(|(name, ..)| *name == other),
    };
    let (_, algorithm, length) = known.ok_or_else(|| unknown(algorithm))?;
    Ok((digest.len() == *length).then(|| expected.others.push((*algorithm, digest.to_vec()))))
}

/// Sets a value that either of two headers may contain.
fn once<T: PartialEq>(digest: &mut Option<T>, declared: Option<T>) -> Result<Option<()>, Problem> {
    let Some(declared) = declared else { return Ok(None) };
    match digest.replace(declared) {
        before if before.is_none() || before == *digest => Ok(Some(())),
        _ => Err(Problem::invalid("the digests contradict each other")),
    }
}

fn bytes(entry: &ListEntry) -> Option<&[u8]> {
    match entry {
        ListEntry::Item(item) => match &item.bare_item {
            BareItem::ByteSequence(bytes) => Some(bytes),
            _ => None,
        },
        ListEntry::InnerList(_) => None,
    }
}

fn unknown(algorithm: &str) -> Problem {
    Problem::invalid(format!("the digest algorithm {algorithm:.32} is not supported"))
        .with_hint("send sha-256, sha-512, crc64nvme, crc32c, md5 or sha")
}

fn wrong(name: &HeaderName) -> Problem {
    Problem::invalid(format!("{name} is not a dictionary of digests"))
        .with_hint("send sha-256=:…: with the digest in base64 between the colons")
}

/// What is known of a content's digests, as a header.
pub(crate) fn header(digests: &Digests) -> Option<HeaderValue> {
    let sha256 = digests.sha256.as_ref().map(|digest| member("sha-256", digest));
    let crc = digests.crc64nvme.map(|crc| member(CRC64NVME, &crc.to_be_bytes()));
    let others = OTHERS.iter().filter_map(|(name, algorithm, _)| {
        digests.get(*algorithm).map(|digest| member(name, digest))
    });
    let members: Vec<_> = sha256.into_iter().chain(crc).chain(others).collect();
    let value = HeaderValue::try_from(members.join(", ")).expect("base64 is visible ASCII");
    (!members.is_empty()).then_some(value)
}

fn member(algorithm: &str, digest: &[u8]) -> String {
    format!("{algorithm}=:{}:", BASE64_STANDARD.encode(digest))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn expected_of(value: &str) -> Result<Expected, Problem> {
        let mut headers = HeaderMap::new();
        headers.insert(REPR_DIGEST, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        expected(&headers)
    }

    proptest! {
        #[test]
        fn written_digests_are_parsed(sha256: [u8; 32], crc: u64, md5: [u8; 16]) {
            let all = [
                member("sha-256", &sha256),
                member(CRC64NVME, &crc.to_be_bytes()),
                member("md5", &md5),
            ];
            let expected = expected_of(&all.join(", ")).unwrap();
            prop_assert_eq!(expected.sha256, Some(sha256));
            prop_assert_eq!(expected.others, vec![(Algorithm::Md5, md5.to_vec())]);
            prop_assert_eq!(expected.crc64nvme, Some(crc));
        }

        #[test]
        fn any_header_is_handled(value in "[ -~]{0,80}") {
            let _ = expected_of(&value);
        }
    }

    #[test]
    fn digests_that_cannot_be_checked_are_refused() {
        let crc = expected_of("crc32c=:AAAAAA==:").unwrap();
        assert_eq!(crc.others, [(Algorithm::Crc32c, vec![0; 4])]);
        assert_eq!(header(&Digests::default()), None);
        for value in [
            "sha-256",
            "sha-256=abc",
            "sha-256=:AAAA:",
            "sha-256=:*:",
            "=",
            "md5=1",
            "crc64nvme=:AAAA:",
            "sha-512=:AAAA:",
            "crc32c=:AAAA:",
            "unixsum=:AAAA:",
            "sha-256=7, md5=:AAAAAAAAAAAAAAAAAAAAAA==:",
        ] {
            assert_eq!(expected_of(value).unwrap_err().status(), 400, "{value}");
        }
    }
}
