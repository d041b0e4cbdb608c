//! One request and its response, from the first byte of the header to the last of the body: its metrics, and
//! the line that is logged at its end.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request};
use axum::http::{Method, StatusCode};
use axum::response::Response;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use tracing::Span;

use super::RequestId;
use super::admission::Admission;
use super::authenticate::User;
use super::body::Watch;
use crate::app::App;
use crate::dnanexus::SHARED;

/// An exchange in progress. It ends when it is dropped, whether the body was complete or not.
#[derive(Debug)]
pub(crate) struct Exchange {
    app: App,
    admission: Admission,
    span: Span,
    route: Arc<str>,
    method: Method,
    begun: Instant,
    user: Option<User>,
    status: Option<StatusCode>,
    received: Arc<Watch>,
    sent: u64,
}

impl Exchange {
    /// Begins an exchange. The query string is not logged: it may contain a ticket. Nor is what follows in an address that has one.
    pub(crate) fn begin(app: App, request: &Request, id: &RequestId) -> Self {
        let route = request.extensions().get::<MatchedPath>();
        let method = request.method().clone();
        let path = loggable(request.uri().path());
        let span = tracing::info_span!(target: "cenote", "request", %id, %method, path);
        app.metrics().begun();
        Self {
            route: route.map_or("unmatched", MatchedPath::as_str).into(),
            admission: Admission::new(app.clone(), request.extensions()),
            app,
            span,
            method,
            begun: Instant::now(),
            user: None,
            status: None,
            received: Arc::default(),
            sent: 0,
        }
    }

    pub(crate) fn span(&self) -> &Span {
        &self.span
    }

    /// The server resources that the request holds, until its end.
    pub(crate) fn admission(&self) -> Admission {
        self.admission.clone()
    }

    /// The metrics of the request's body.
    pub(crate) fn received(&self) -> Arc<Watch> {
        Arc::clone(&self.received)
    }

    /// Continues until the last byte of this response has been taken.
    pub(crate) fn answer(mut self, mut response: Response) -> Response {
        self.status = Some(response.status());
        self.user = response.extensions_mut().remove();
        response.map(|inner| Body::new(Sent { inner, exchange: self }))
    }
}

impl Drop for Exchange {
    fn drop(&mut self) {
        let seconds = self.begun.elapsed().as_secs_f64();
        let received = self.received.count();
        let status = self.status.map_or(499, |status| status.as_u16());
        let Self { app, route, method, sent, .. } = self;
        app.metrics().ended(route, method, status, seconds, received, *sent);
        let user = self.user.as_ref().map(User::as_str);
        let _entered = self.span.enter();
        tracing::info!(target: "cenote", status, user, seconds, received, sent = *sent, "answered");
    }
}

/// A path without a ticket in it.
fn loggable(path: &str) -> &str {
    if path.starts_with(SHARED) { SHARED } else { path }
}

/// A response's body, counted, with its exchange.
struct Sent {
    inner: Body,
    exchange: Exchange,
}

impl HttpBody for Sent {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.inner).poll_frame(cx);
        if let Poll::Ready(Some(Ok(frame))) = &polled {
            self.exchange.sent += frame.data_ref().map_or(0, Bytes::len) as u64;
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
