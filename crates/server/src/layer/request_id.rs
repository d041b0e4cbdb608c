//! The id that identifies a request to the client, in the log and in a problem document.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header that carries it, in both directions.
pub(crate) const HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id accepted from a client.
const LONGEST: usize = 64;

/// Requests until the first number of an id is incremented, and the range of these numbers.
const TURN: u64 = 1_000_000;
const STARTS: u64 = 10_000_000_000_000;

/// The id of a request: what the client sent, if that is short and plain, or a new one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct RequestId(Arc<str>);

/// Generates ids that differ between requests and, by `start`, between runs of the server: 13 decimal digits and 6, as `dx`
/// and its tests know them.
#[derive(Debug)]
pub(crate) struct RequestIds {
    start: u64,
    count: AtomicU64,
}

impl RequestIds {
    /// `start` should differ from that of other servers whose logs are read together.
    pub(crate) fn new(start: u64) -> Self {
        Self { start, count: AtomicU64::new(0) }
    }

    /// The id for a request with these headers.
    pub(crate) fn of(&self, headers: &HeaderMap) -> RequestId {
        match headers.get(HEADER).and_then(|value| value.to_str().ok()) {
            Some(id) if is_plain(id) => RequestId(id.into()),
            _ => self.next(),
        }
    }

    fn next(&self) -> RequestId {
        let count = self.count.fetch_add(1, Ordering::Relaxed);
        let start = (self.start % STARTS + count / TURN) % STARTS;
        RequestId(format!("{start:013}-{:06}", count % TURN).into())
    }
}

impl RequestId {
    pub(crate) fn header(&self) -> HeaderValue {
        HeaderValue::from_str(&self.0).expect("checked or made of visible ASCII")
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

fn is_plain(id: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:".contains(&byte);
    (1..=LONGEST).contains(&id.len()) && id.bytes().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id_for(sent: &str) -> String {
        let mut headers = HeaderMap::new();
        headers.insert(HEADER, HeaderValue::from_bytes(sent.as_bytes()).unwrap());
        RequestIds::new(7).of(&headers).to_string()
    }

    #[test]
    fn a_plain_id_is_kept_and_any_other_replaced() {
        assert_eq!(id_for("01HF-x.y:z"), "01HF-x.y:z");
        for sent in ["", " ", "a b", "a\"b", "\u{e4}", &"a".repeat(65)] {
            assert_eq!(id_for(sent), "0000000000007-000000");
        }
    }

    #[test]
    fn ids_differ() {
        let ids = RequestIds::new(1);
        assert_ne!(ids.next(), ids.next());
        assert_ne!(RequestIds::new(1).next(), RequestIds::new(2).next());
        let later = RequestIds { start: u64::MAX, count: AtomicU64::new(TURN) };
        assert_eq!(later.next().to_string(), "4073709551616-000000");
    }
}
