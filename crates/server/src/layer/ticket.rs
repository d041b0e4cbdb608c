//! A ticket that a request presents in addition to the caller's credential.

use std::net::IpAddr;

use axum::extract::Request;
use axum::http::HeaderName;
use axum::http::uri::{PathAndQuery, Uri};
use http_body::Body;

use super::peer;
use crate::problem::Problem;

const HEADER: HeaderName = HeaderName::from_static("cenote-ticket");

/// At this path, a ticket in the query string is the subject of the request, not a credential.
const ABOUT_TICKETS: &str = "/v1/tickets";

/// The address at the other end of the connection.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Peer(pub(crate) IpAddr);

/// The connection is encrypted by this server.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Secure;

/// The ticket that a request presents. Not `Debug`, so that it cannot be logged by accident.
#[derive(Clone)]
pub(super) struct ShownTicket {
    pub(super) ticket: String,
    /// The address that it is presented from.
    pub(super) host: String,
    length: Option<u64>,
}

impl ShownTicket {
    /// The length of the body. A write with a ticket must declare it, because a ticket may have a byte limit.
    pub(super) fn length(&self) -> Result<u64, Problem> {
        self.length.ok_or_else(|| {
            Problem::invalid("a write with a ticket needs a Content-Length")
                .with_hint("send the length, or log in instead of using the ticket")
        })
    }
}

/// Removes the ticket from the request: inner layers do not see it.
pub(super) fn take(request: &mut Request) -> Option<ShownTicket> {
    let header = request.headers_mut().remove(HEADER);
    let header = header.and_then(|value| value.to_str().ok().map(str::to_owned));
    let ticket = header.or_else(|| take_from_query(request.uri_mut()))?;
    let host = peer(request.extensions()).to_string();
    Some(ShownTicket { ticket, host, length: request.body().size_hint().exact() })
}

fn take_from_query(uri: &mut Uri) -> Option<String> {
    let query = uri.query().filter(|_| uri.path() != ABOUT_TICKETS)?;
    let pairs = query.split('&').map(|pair| (pair, pair.strip_prefix("ticket=")));
    let ticket = pairs.clone().find_map(|(_, ticket)| ticket)?;
    let ticket = percent_encoding::percent_decode_str(ticket).decode_utf8().ok()?.into_owned();
    let rest: Vec<&str> =
        pairs.filter(|(_, ticket)| ticket.is_none()).map(|(pair, _)| pair).collect();
    let address = PathAndQuery::try_from(format!("{}?{}", uri.path(), rest.join("&"))).ok()?;
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(address);
    *uri = Uri::from_parts(parts).ok()?;
    Some(ticket)
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use axum::http::Method;

    use super::*;

    fn request(method: Method, uri: &str, body: Body) -> Request {
        axum::http::Request::builder().method(method).uri(uri).body(body).unwrap()
    }

    #[test]
    fn only_the_ticket_is_removed_from_the_query() {
        for (query, ticket, rest) in [
            ("?ticket=a%2Bb", Some("a+b"), "/x?"),
            ("?path=/a&ticket=t&limit=3", Some("t"), "/x?path=/a&limit=3"),
            ("?path=/a", None, "/x?path=/a"),
            ("?my_ticket=t", None, "/x?my_ticket=t"),
            ("", None, "/x"),
        ] {
            let mut request = request(Method::GET, &format!("/x{query}"), Body::empty());
            let taken = take(&mut request).map(|taken| taken.ticket);
            assert_eq!(taken.as_deref(), ticket, "{query}");
            assert_eq!(request.uri().to_string(), rest);
        }
    }

    #[test]
    fn a_write_counts_with_its_length() {
        let mut put = request(Method::PUT, "/x?ticket=t", Body::from("abc"));
        assert_eq!(take(&mut put).unwrap().length().ok(), Some(3));
        let stream = futures_util::stream::empty::<Result<bytes::Bytes, std::io::Error>>();
        let mut unknown = request(Method::PUT, "/x?ticket=t", Body::from_stream(stream));
        assert_eq!(take(&mut unknown).unwrap().length().unwrap_err().status(), 400);
    }
}
