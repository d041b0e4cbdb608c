//! A request's body as a handler reads it: counted, limited, and aborted when the client stalls.

mod gather;
mod patience;

use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use cenote_store::ErrorKind;
use http_body::{Body as HttpBody, Frame, SizeHint};

use crate::problem::{Problem, ProblemKind};

pub(crate) use self::gather::{Gathering, NotGathered, gather};
pub(super) use self::patience::Patience;

/// Why a body ended early.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("no byte arrived for {0:?}")]
    Stalled(Duration),
    #[error("the body arrived at less than {0} bytes a second")]
    Slow(u64),
    #[error("the body is larger than {0} bytes")]
    TooLarge(u64),
    #[error("the connection ended before the body did")]
    Truncated,
}

/// What was observed of a body while it was read.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    count: AtomicU64,
    fault: OnceLock<Fault>,
}

impl Watch {
    /// How many bytes have arrived.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// The problem with the body, whatever the handler made of it.
    pub(crate) fn problem(&self) -> Option<Problem> {
        self.fault.get().map(|fault| Problem::new(fault.kind(), fault.to_string()))
    }
}

impl Fault {
    fn kind(self) -> ProblemKind {
        match self {
            Self::Stalled(_) | Self::Slow(_) => ProblemKind::Timeout,
            Self::TooLarge(_) => ProblemKind::Store(ErrorKind::TooLarge),
            Self::Truncated => ProblemKind::Store(ErrorKind::Mismatch),
        }
    }
}

/// The body of a request, watched.
#[derive(Debug)]
pub(crate) struct WatchedBody {
    inner: Body,
    watch: Arc<Watch>,
    limit: u64,
    patience: Patience,
}

impl WatchedBody {
    /// Reports to `watch`; fails after `limit` bytes, or when they arrive too slowly.
    pub(crate) fn new(inner: Body, watch: Arc<Watch>, limit: u64, patience: Patience) -> Self {
        Self { inner, watch, limit, patience }
    }

    fn take(&mut self, frame: Frame<Bytes>) -> Result<Frame<Bytes>, Fault> {
        let length = frame.data_ref().map_or(0, Bytes::len) as u64;
        self.patience.restore(length);
        let before = self.watch.count.fetch_add(length, Ordering::Relaxed);
        match before + length > self.limit {
            true => Err(Fault::TooLarge(self.limit)),
            false => Ok(frame),
        }
    }

    fn poll_inner(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Fault>>> {
        let Poll::Ready(frame) = Pin::new(&mut self.inner).poll_frame(cx) else {
            return Poll::Ready(Some(Err(ready!(self.patience.poll_ended(cx)))));
        };
        Poll::Ready(frame.map(|frame| match frame {
            Ok(frame) => self.take(frame),
            Err(_) => Err(Fault::Truncated),
        }))
    }
}

impl HttpBody for WatchedBody {
    type Data = Bytes;
    type Error = Fault;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Fault>>> {
        let polled = ready!(self.poll_inner(cx));
        if let Some(Err(fault)) = &polled {
            self.watch.fault.get_or_init(|| *fault);
        }
        Poll::Ready(polled)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use futures_util::stream;
    use http_body_util::BodyExt;

    use super::*;

    /// Nobody sends in the one test that waits for this to elapse.
    const IDLE: Duration = Duration::from_millis(20);
    const RATE: u64 = 256;

    /// The result of reading a body, and what the watch observed.
    async fn read(inner: Body, limit: u64) -> (Result<Bytes, Fault>, Arc<Watch>) {
        let watch = Arc::<Watch>::default();
        let body = WatchedBody::new(inner, Arc::clone(&watch), limit, Patience::new(IDLE, RATE));
        (body.collect().await.map(|body| body.to_bytes()), watch)
    }

    #[tokio::test]
    async fn a_body_within_its_limit_is_counted_and_passed_on() {
        let (body, watch) = read(Body::from("hello"), 5).await;
        assert_eq!(body.unwrap(), "hello");
        assert_eq!(watch.count(), 5);
        assert!(watch.problem().is_none());
    }

    #[tokio::test]
    async fn a_body_beyond_its_limit_fails() {
        let (body, watch) = read(Body::from("hello"), 4).await;
        assert_eq!(body.unwrap_err(), Fault::TooLarge(4));
        assert_eq!(watch.problem().unwrap().status(), 413);
    }

    #[tokio::test]
    async fn a_body_that_ends_early_is_truncated() {
        let broken = stream::iter([Ok(Bytes::from("he")), Err(std::io::Error::other("reset"))]);
        let (body, watch) = read(Body::from_stream(broken), 9).await;
        assert_eq!(body.unwrap_err(), Fault::Truncated);
        assert_eq!(watch.problem().unwrap().status(), 422);
    }

    #[tokio::test]
    async fn a_body_that_stalls_is_aborted() {
        let silent = Body::from_stream(stream::pending::<Result<Bytes, Fault>>());
        let (body, watch) = read(silent, 9).await;
        assert_eq!(body.unwrap_err(), Fault::Stalled(IDLE));
        assert_eq!(watch.problem().unwrap().status(), 408);
    }
}
