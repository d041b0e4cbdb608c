//! Refuses requests whose host or framing is ambiguous: a proxy could read them in one way, and this server in another.
//!
//! Invariant: a request has one host (RFC 9112, section 3.2), and no transfer coding but `chunked`. hyper has
//! already refused malformed requests; if there are both `Content-Length` and `Transfer-Encoding`, it obeys
//! the latter and closes the connection after the response (section 6.3).

use axum::extract::Request;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Version, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Peer;
use crate::problem::{Problem, ProblemKind};

/// Refuses a request with no host or several, or a body in another coding. Requests that the process itself
/// makes have no peer and no host.
pub(crate) async fn refuse_ambiguous(request: Request, next: Next) -> Response {
    if request.extensions().get::<Peer>().is_none() {
        return next.run(request).await;
    }
    let Err(problem) = check_coding(request.headers()).and_then(|()| check_host(&request)) else {
        return next.run(request).await;
    };
    let mut response = problem.into_response();
    if request.version() <= Version::HTTP_11 {
        response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    }
    response
}

fn check_coding(headers: &HeaderMap) -> Result<(), Problem> {
    let mut codings = headers.get_all(header::TRANSFER_ENCODING).iter();
    let is_chunked = |value: &HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"chunked");
    match (codings.next(), codings.next()) {
        (None, _) => Ok(()),
        (Some(coding), None) if is_chunked(coding) => Ok(()),
        _ => {
            Err(Problem::new(ProblemKind::Coding, "the only supported transfer coding is chunked")
                .with_hint("send the body without another coding"))
        }
    }
}

fn check_host(request: &Request) -> Result<(), Problem> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (host, second) = (hosts.next(), hosts.next());
    let needed = request.version() == Version::HTTP_11;
    match (host, second) {
        (_, Some(_)) => Err(Problem::invalid("the request has several Host headers")),
        (None, None) if needed => Err(Problem::invalid("the request has no Host header")),
        (Some(host), None) if !is_host(host) => Err(Problem::invalid("the Host header is invalid")),
        (Some(host), None) if is_contradicted(host, request) => {
            Err(Problem::invalid("the Host header differs from the host of the address"))
        }
        _ => Ok(()),
    }
}

/// Whether HTTP/2 names another host in `:authority` (RFC 9113, section 8.3.1). In HTTP/1.1 an absolute address is allowed
/// to differ, and wins.
fn is_contradicted(host: &HeaderValue, request: &Request) -> bool {
    let authority = request.uri().authority().filter(|_| request.version() == Version::HTTP_2);
    authority.is_some_and(|named| !named.as_str().as_bytes().eq_ignore_ascii_case(host.as_bytes()))
}

/// A name or address with an optional port; or empty, as clients send it for a URL without a host.
fn is_host(value: &HeaderValue) -> bool {
    let is_authority = |host: &str| host.parse::<Authority>().is_ok() && !host.contains('@');
    value.to_str().is_ok_and(|host| host.is_empty() || is_authority(host))
}
