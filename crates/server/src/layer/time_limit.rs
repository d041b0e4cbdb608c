//! Requests that are not streams have a time limit, which starts when their body is complete: how slowly a
//! body may arrive is governed by its rate.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_store::ErrorKind;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tokio::sync::oneshot;

use crate::app::App;
use crate::problem::{Problem, ProblemKind};

/// Responds in time, or with a problem. Catalog work that has already begun still completes.
pub(crate) async fn time_limit(State(app): State<App>, request: Request, next: Next) -> Response {
    let limit = app.limits().request();
    let (read, is_read) = oneshot::channel();
    let request = request.map(|inner| Body::new(Awaited::new(inner, read)));
    let mut work = pin!(next.run(request));
    tokio::select! {
        response = &mut work => return response,
        // The other half was dropped: nothing is ever sent.
        _ = is_read => {}
    }
    tokio::time::timeout(limit, work).await.unwrap_or_else(|_| late(limit))
}

fn late(limit: Duration) -> Response {
    let detail = format!("no answer within {} s", limit.as_secs());
    Problem::new(ProblemKind::Store(ErrorKind::Unavailable), detail)
        .with_hint("the change may still happen: check before trying again")
        .into_response()
}

/// A body, until it is complete.
#[derive(Debug)]
struct Awaited {
    inner: Body,
    /// Dropped when the body has ended, or is no longer read.
    read: Option<oneshot::Sender<()>>,
}

impl Awaited {
    fn new(inner: Body, read: oneshot::Sender<()>) -> Self {
        let read = (!inner.is_end_stream()).then_some(read);
        Self { inner, read }
    }
}

impl HttpBody for Awaited {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = std::task::ready!(Pin::new(&mut self.inner).poll_frame(cx));
        if !matches!(polled, Some(Ok(_))) || self.inner.is_end_stream() {
            self.read = None;
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
