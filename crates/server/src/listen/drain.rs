//! A request that is answered before its body has arrived completely: the response is sent, then the rest of
//! the body is read and discarded, within limits, and then the connection is closed.
//!
//! Many clients send a whole body before they look for a response. If the connection were closed at once,
//! they would see "Broken pipe" or a reset instead of the reason for the refusal, since the kernel discards
//! an unread response when the rest of the body meets a closed socket. HTTP/2 does not need this: there the
//! stream ends, not the connection.
//!
//! Invariant: the body is not read before the response is being sent, so that a client that waits for `100
//! Continue` is never invited to send bytes that will not be used.

use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderValue, Request, Response, StatusCode, header};
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Maximum time for which one connection is drained.
const LONGEST: Duration = Duration::from_secs(30);

/// Up to this many bytes are worth draining to keep the connection for the next request.
const WORTH_KEEPING: u64 = 64 << 10;

/// How much of a refused body is read and discarded.
#[derive(Debug, Clone)]
pub(super) struct Drain {
    /// In bytes.
    pub(super) most: u64,
    /// Maximum time without a byte.
    pub(super) idle: Duration,
    /// Ends all draining.
    pub(super) stopping: CancellationToken,
}

/// Where a handler leaves the rest of a body.
#[derive(Debug, Clone, Default)]
pub(super) struct Rest(Arc<Mutex<Option<Incoming>>>);

impl Rest {
    /// Passes the request to the handler. What the handler does not read of its body is stored here.
    pub(super) fn lend(&self, request: Request<Incoming>) -> Request<Body> {
        let lend = |body| Body::new(Lent { body: Some(body), rest: self.clone() });
        request.map(|body| if body.is_end_stream() { Body::empty() } else { lend(body) })
    }

    /// What remains to be drained after the response. If that is long, the connection is closed afterwards.
    pub(super) fn take(&self, response: &mut Response<Body>) -> Option<Incoming> {
        let rest = self.0.lock().unwrap_or_else(PoisonError::into_inner).take()?;
        if rest.size_hint().upper().is_none_or(|size| size > WORTH_KEEPING) {
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        // A client that was too slow for the handler gets no extra time.
        (response.status() != StatusCode::REQUEST_TIMEOUT).then_some(rest)
    }

    fn put(&self, body: Incoming) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(body);
    }
}

impl Drain {
    pub(super) async fn run(self, rest: Incoming) {
        let drained = timeout(LONGEST, discard(rest, self.most, self.idle));
        tokio::select! {
            _ = drained => {}
            () = self.stopping.cancelled() => {}
        }
    }
}

/// Reads and discards up to `most` bytes, as long as they arrive.
async fn discard(mut rest: Incoming, most: u64, idle: Duration) {
    let mut left = most;
    while let Ok(Some(Ok(frame))) = timeout(idle, rest.frame()).await {
        let length = frame.data_ref().map_or(0, Bytes::len) as u64;
        match left.checked_sub(length) {
            Some(fewer) => left = fewer,
            None => return,
        }
    }
}

/// A request's body while a handler owns it.
struct Lent {
    /// `None` once it has ended.
    body: Option<Incoming>,
    rest: Rest,
}

impl HttpBody for Lent {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let Some(body) = &mut self.body else { return Poll::Ready(None) };
        let polled = Pin::new(body).poll_frame(cx);
        if matches!(polled, Poll::Ready(None | Some(Err(_)))) {
            self.body = None;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.as_ref().is_none_or(HttpBody::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.body.as_ref().map_or(SizeHint::with_exact(0), HttpBody::size_hint)
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        if let Some(body) = self.body.take().filter(|body| !body.is_end_stream()) {
            self.rest.put(body);
        }
    }
}
