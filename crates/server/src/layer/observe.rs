//! The outermost layer.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;
use tracing::Instrument;

use super::body::{Patience, Watch, WatchedBody};
use super::exchange::Exchange;
use super::request_id;
use crate::app::App;
use crate::problem::{self, Problem, ProblemKind};

/// Assigns an id to the request, measures and logs it, and adds a body to every failure.
pub(crate) async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let id = app.request_ids().of(request.headers());
    let exchange = Exchange::begin(app.clone(), &request, &id);
    request.extensions_mut().insert(id.clone());
    request.extensions_mut().insert(exchange.admission());
    let received = exchange.received();
    let limits = app.limits();
    let most = limits.content_bytes.unwrap_or(u64::MAX);
    let patience = Patience::new(limits.idle(), limits.body_rate);
    let body = |body| Body::new(WatchedBody::new(body, Arc::clone(&received), most, patience));
    let work = AssertUnwindSafe(next.run(request.map(body))).catch_unwind();
    let response = work.instrument(exchange.span().clone()).await.unwrap_or_else(|_| panicked());
    let response = blame_body(response, &received);
    let mut response = exchange.span().in_scope(|| problem::render(response, &id));
    response.headers_mut().insert(request_id::HEADER, id.header());
    exchange.answer(response)
}

/// A failure caused by the body is reported as such, whatever error the handler made of it.
fn blame_body(response: Response, received: &Watch) -> Response {
    match received.problem() {
        Some(problem) if response.extensions().get::<Problem>().is_some() => {
            problem.into_response()
        }
        _ => response,
    }
}

fn panicked() -> Response {
    Problem::new(ProblemKind::Internal, "an internal error ended this request")
        .with_hint("report it, with the request id and the server's log")
        .into_response()
}
