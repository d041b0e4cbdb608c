//! A response being sent: the connection counts as busy until its last byte has been handed over.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::Instant;

use super::drain::Drain;
use super::state::UnderWay;

/// Bytes handed over at a time to HTTP/2, which buffers them until the peer has room.
const PIECE: usize = 64 << 10;

/// How fast a peer has to read a response.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    pub(super) idle: Duration,
    /// Bytes per second.
    pub(super) rate: u64,
}

impl Pace {
    /// How long this many bytes may take.
    fn time_for(self, bytes: usize) -> Duration {
        self.idle + Duration::from_secs(bytes as u64 / self.rate.max(1))
    }
}

/// A response's body. The connection drops it when its last byte is being sent.
pub(super) struct Answer {
    pub(super) inner: Body,
    pub(super) under_way: UnderWay,
    /// The part of the request's body that the handler did not read.
    pub(super) rest: Option<(Incoming, Drain)>,
    /// For HTTP/2, where a peer can stop reading a response while the connection is active: how fast it has to read.
    pub(super) pace: Option<Pace>,
    /// The remainder of the last frame.
    pub(super) left: Option<Bytes>,
}

impl Answer {
    fn poll_inner(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        match self.left.take() {
            Some(left) => Poll::Ready(Some(Ok(Frame::data(left)))),
            None => Pin::new(&mut self.inner).poll_frame(cx),
        }
    }

    /// Splits a long frame.
    fn piece(&mut self, frame: Frame<Bytes>) -> Frame<Bytes> {
        match frame.into_data() {
            Ok(mut data) if data.len() > PIECE => {
                let piece = data.split_to(PIECE);
                self.left = Some(data);
                Frame::data(piece)
            }
            Ok(data) => Frame::data(data),
            Err(other) => other,
        }
    }
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = self.poll_inner(cx);
        let Some(pace) = self.pace else { return polled };
        match polled {
            Poll::Ready(Some(Ok(frame))) => {
                let frame = self.piece(frame);
                let length = frame.data_ref().map_or(0, Bytes::len);
                self.under_way.handed(Some(Instant::now() + pace.time_for(length)));
                Poll::Ready(Some(Ok(frame)))
            }
            other => {
                self.under_way.handed(None);
                other
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.left.is_none() && self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let mut hint = self.inner.size_hint();
        let left = self.left.as_ref().map_or(0, Bytes::len) as u64;
        if let Some(upper) = hint.upper() {
            hint.set_upper(upper + left);
        }
        hint.set_lower(hint.lower() + left);
        hint
    }
}

impl Drop for Answer {
    fn drop(&mut self) {
        if let Some((rest, drain)) = self.rest.take() {
            let draining = self.under_way.connection().drain();
            tokio::spawn(async move {
                drain.run(rest).await;
                drop(draining);
            });
        }
    }
}
