//! `Repr-Digest` and `Content-Digest` (RFC 9530): what the sender says of the bytes, and what we say.
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

pub(super) const REPR_DIGEST: HeaderName = HeaderName::from_static("repr-digest");
const CONTENT_DIGEST: HeaderName = HeaderName::from_static("content-digest");

const CRC64NVME: &str = "crc64nvme";

/// What the headers say of the bytes that follow. Algorithms that are not known are passed over.
pub(super) fn expected(headers: &HeaderMap) -> Result<Expected, Problem> {
    let mut expected = Expected::default();
    for name in [REPR_DIGEST, CONTENT_DIGEST] {
        for value in headers.get_all(&name) {
            let wrong = || wrong(&name);
            let digests: Dictionary = Parser::new(value.as_bytes()).parse().map_err(|_| wrong())?;
            for (algorithm, entry) in &digests {
                match algorithm.as_str() {
                    "sha-256" => expected.sha256 = Some(bytes(entry).ok_or_else(wrong)?),
                    CRC64NVME => {
                        let crc = bytes(entry).ok_or_else(wrong)?;
                        expected.crc64nvme = Some(u64::from_be_bytes(crc));
                    }
                    "md5" => expected.md5 = Some(bytes(entry).ok_or_else(wrong)?),
                    _ => {}
                }
            }
        }
    }
    Ok(expected)
}

fn bytes<const N: usize>(entry: &ListEntry) -> Option<[u8; N]> {
    match entry {
        ListEntry::Item(item) => match &item.bare_item {
            BareItem::ByteSequence(bytes) => bytes.as_slice().try_into().ok(),
            _ => None,
        },
        ListEntry::InnerList(_) => None,
    }
}

fn wrong(name: &HeaderName) -> Problem {
    Problem::invalid(format!("{name} is not a dictionary of digests"))
        .with_hint("send sha-256=:…: with the digest in base64 between the colons")
}

/// What is known of a content's digests, as a header.
pub(super) fn header(digests: &Digests) -> Option<HeaderValue> {
    let sha256 = digests.sha256.as_ref().map(|digest| member("sha-256", digest));
    let md5 = digests.get(Algorithm::Md5).map(|digest| member("md5", digest));
    let crc = digests.crc64nvme.map(|crc| member(CRC64NVME, &crc.to_be_bytes()));
    let members: Vec<_> = sha256.into_iter().chain(crc).chain(md5).collect();
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

    fn said(value: &str) -> Result<Expected, Problem> {
        let mut headers = HeaderMap::new();
        headers.insert(REPR_DIGEST, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        expected(&headers)
    }

    proptest! {
        #[test]
        fn what_we_say_is_what_we_understand(sha256: [u8; 32], crc: u64, md5: [u8; 16]) {
            let all = [
                member("sha-256", &sha256),
                member(CRC64NVME, &crc.to_be_bytes()),
                member("md5", &md5),
            ];
            let expected = said(&all.join(", ")).unwrap();
            prop_assert_eq!((expected.sha256, expected.md5), (Some(sha256), Some(md5)));
            prop_assert_eq!(expected.crc64nvme, Some(crc));
        }

        #[test]
        fn any_header_is_answered(value in "[ -~]{0,80}") {
            let _ = said(&value);
        }
    }

    #[test]
    fn unknown_algorithms_are_passed_over_and_nonsense_refused() {
        assert_eq!(said("crc32c=:AAAAAA==:").unwrap(), Expected::default());
        assert_eq!(header(&Digests::default()), None);
        for value in [
            "sha-256",
            "sha-256=abc",
            "sha-256=:AAAA:",
            "sha-256=:*:",
            "=",
            "md5=1",
            "crc64nvme=:AAAA:",
        ] {
            assert_eq!(said(value).unwrap_err().status(), 400, "{value}");
        }
    }
}
