//! What the fuzz targets of headers and of frames reach of the parsers within.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use super::dialect;
use super::search::Search;
use crate::ldp::representation::filename;
use crate::ldp::representation::model::Model;
use crate::ldp::request::digest;
use crate::ldp::request::prefer::Preferences;

/// Reads a value as each header that this opening reads, and as the query of a search: each is refused, or means something.
pub fn read_headers(value: &[u8]) {
    let names = ["prefer", "digest", "want-digest"].map(HeaderName::from_static);
    if let Ok(value) = HeaderValue::from_bytes(value) {
        let named = names.into_iter().chain([header::LINK, header::CONTENT_DISPOSITION]);
        let headers: HeaderMap = named.map(|name| (name, value.clone())).collect();
        for dialect in dialect::ALL {
            let _ = Preferences::read(&headers, dialect);
        }
        let _ = (digest::expected(&headers), digest::wanted(&headers), Model::requested(&headers));
        let _ = filename::sent(&headers);
    }
    let _ = Search::read(&String::from_utf8_lossy(value), "http://h/rest/");
}

/// Reads bytes as what a broker sends, whole and in two pieces.
pub fn read_stomp(bytes: &[u8]) {
    let (first, second) = bytes.split_at(bytes.len() / 2);
    let frames = super::publish::stomp::frame::read_frames(&[bytes]);
    assert_eq!(super::publish::stomp::frame::read_frames(&[first, second]), frames);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn any_value_is_read_or_refused(
            any: Vec<u8>,
            likely in "(return=representation|handling=lenient|include=|omit=|max-member-count=|<http://www.w3.org/ns/ldp#[A-Z]{0,3}>|rel=|type|sha|md5;q=|condition=|fedora_id|%3C|&|=|\"|;|,|\\*|[a-z0-9/ ]{0,3}){0,10}",
        ) {
            super::read_headers(&any);
            super::read_headers(likely.as_bytes());
        }
    }
}
