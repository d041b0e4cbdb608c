//! For those who come with a browser: what this address is, and a login where nothing is shown without one.

use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{Html, IntoResponse, Response};
use cenote_store::ErrorKind;

use crate::problem::{Problem, ProblemKind};

const PAGE: &str = concat!(
    "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>cenote</title>\n",
    "<h1>cenote ",
    env!("CARGO_PKG_VERSION"),
    "</h1>\n<p>A store for researchers' data.\n",
    "<ul><li><a href=\"/v1/list?path=/\">Its contents</a>, as far as you may see them, as JSON\n",
    "<li><a href=\"/openapi.json\">The HTTP API</a></ul>\n",
    "<p>With the program: <code>cenote --store ADDRESS ls /</code>\n"
);

const TEXT: &str = concat!(
    "cenote ",
    env!("CARGO_PKG_VERSION"),
    ": a store for researchers' data. /openapi.json describes the HTTP API.\n"
);

/// `GET /`: what this is; for all callers.
pub(crate) async fn front(headers: HeaderMap) -> Response {
    match wants_page(&headers) {
        true => Html(PAGE).into_response(),
        false => TEXT.into_response(),
    }
}

/// Whether the client is a browser without a ticket.
pub(crate) fn is_browsed(request: &Request) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD)
        && wants_page(request.headers())
        && !request.uri().query().is_some_and(|query| query.contains("ticket="))
}

pub(crate) fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Prompts a browser without a login for one, instead of answering that the resource is missing. It is the
/// same for hidden and for missing resources.
pub(crate) fn prompt_for_login(response: Response) -> Response {
    match response.status() {
        StatusCode::NOT_FOUND | StatusCode::FORBIDDEN => {
            let kind = ProblemKind::Store(ErrorKind::Unauthenticated);
            Problem::new(kind, "this page requires a login").into_response()
        }
        _ => response,
    }
}
