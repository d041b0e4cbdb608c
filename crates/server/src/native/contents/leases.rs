//! Leases: a content stays as it is for a limited time, for a client that reads it with several requests, or, on the server's machine, past the
//! server, from where its bytes are.
//!
//! Invariant: the path of a file is disclosed only to a caller with a login who may read the content, on a connection from this machine
//! that no proxy passed on, and only if the server's settings allow leases.

use std::net::IpAddr;
use std::time::Duration;

use axum::extract::{FromRequestParts, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::Response;
use cenote_store::{Caller, ErrorKind, LeaseId, ReadOptions};

use super::read::answer;
use crate::app::App;
use crate::layer::{Reader, peer};
use crate::native::json::{Instant, Lease, LeaseQuery, NewLease, Renewed};
use crate::native::request::address::at;
use crate::native::request::extract::{Json, Segment};
use crate::native::request::query::Params;
use crate::problem::{Problem, ProblemKind};

/// The default duration of a lease, in seconds.
const USUAL: u64 = 60;

/// Leases a content, or its local files. Files may only be read, and only until the lease ends.
#[utoipa::path(post, path = "/v1/leases", tag = "bytes", request_body = NewLease,
    responses((status = 201, body = Lease)))]
pub(crate) async fn make(
    State(app): State<App>,
    here: Result<OnThisMachine, Problem>,
    Reader(caller): Reader,
    Json(question): Json<NewLease>,
) -> Result<(StatusCode, Json<Lease>), Problem> {
    let lease = match question.files {
        true => {
            // Checked after the body, whose type is refused first, as for all routes.
            here?;
            local(&app, caller, question).await?
        }
        false => content(&app, caller, question).await?,
    };
    Ok((StatusCode::CREATED, Json(lease.into())))
}

async fn local(
    app: &App,
    caller: Caller,
    question: NewLease,
) -> Result<cenote_store::Lease, Problem> {
    if question.if_match.is_some() {
        return Err(Problem::invalid("`if_match` is for a lease without `files`"));
    }
    let at = at(question.path.as_deref(), question.id)?;
    let options = ReadOptions { version: question.version, ..ReadOptions::default() };
    let limits = (lifetime(question.seconds), app.limits().local_file_leases);
    app.blocking(move |store| store.lease_local(&caller, &at, &options, limits)).await
}

async fn content(
    app: &App,
    caller: Caller,
    question: NewLease,
) -> Result<cenote_store::Lease, Problem> {
    if question.version.is_some() {
        return Err(Problem::invalid("a version is not leased: it stays as it is"));
    }
    let at = at(question.path.as_deref(), question.id)?;
    let tag = question.if_match.map(|tag| tag.trim_matches('"').to_owned());
    let limits = (lifetime(question.seconds), app.limits().content_leases);
    app.blocking(move |store| store.lease_content(&caller, &at, tag, limits)).await
}

/// The content of a lease without `files`, or a range of it, also after the object was replaced or removed.
#[utoipa::path(method(get, head), path = "/v1/leases/{id}/content", tag = "bytes", params(("id" = String, Path)), responses(
    (status = 200, content_type = "*/*", body = Vec<u8>),
    (status = 206, content_type = "*/*", body = Vec<u8>),
    (status = 304, description = "The client has the current state"),
))]
pub(crate) async fn read_leased(
    State(app): State<App>,
    Reader(caller): Reader,
    Segment(id): Segment<String>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let id: LeaseId = id.parse()?;
    let opened = app.blocking(move |store| store.open_leased(&caller, id)).await?;
    answer(opened, &method, &headers)
}

/// Renews a lease, from now on, as long as the caller may read the object.
#[utoipa::path(put, path = "/v1/leases/{id}", tag = "bytes",
    params(("id" = String, Path), LeaseQuery), responses((status = 200, body = Renewed)))]
pub(crate) async fn renew(
    State(app): State<App>,
    Reader(caller): Reader,
    Segment(id): Segment<String>,
    Params(query): Params<LeaseQuery>,
) -> Result<Json<Renewed>, Problem> {
    let (id, lifetime) = (id.parse::<LeaseId>()?, lifetime(query.seconds));
    let until = app.blocking(move |store| store.renew_lease(&caller, id, lifetime)).await?;
    Ok(Json(Renewed { until: Instant(until) }))
}

/// Ends a lease.
#[utoipa::path(delete, path = "/v1/leases/{id}", tag = "bytes", params(("id" = String, Path)),
    responses((status = 204, description = "Ended")))]
pub(crate) async fn end(
    State(app): State<App>,
    Reader(caller): Reader,
    Segment(id): Segment<String>,
) -> Result<StatusCode, Problem> {
    let id = id.parse::<LeaseId>()?;
    app.blocking(move |store| store.end_lease(&caller, id)).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn lifetime(seconds: Option<u64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(USUAL))
}

/// A request that comes from this machine, to a server that leases local files.
#[derive(Debug)]
pub(crate) struct OnThisMachine;

impl FromRequestParts<App> for OnThisMachine {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let denied = |detail: &str| Problem::new(ProblemKind::Store(ErrorKind::Denied), detail);
        if app.limits().local_file_leases == 0 {
            return Err(denied("this server does not lease local files")
                .with_hint("read through the server, or set `limits.local_file_leases`"));
        }
        match is_local(peer(&parts.extensions), &parts.headers, &app.limits().proxies) {
            true => Ok(Self),
            false => Err(denied("local files are leased to clients on the server's machine only")
                .with_hint("read through the server")),
        }
    }
}

/// What proxies add to the requests that they pass on.
const FORWARDED: [&str; 5] =
    ["forwarded", "x-forwarded-for", "x-forwarded-host", "x-real-ip", "via"];

fn is_local(peer: IpAddr, headers: &HeaderMap, proxies: &[IpAddr]) -> bool {
    let is_forwarded = FORWARDED.iter().any(|name| headers.contains_key(*name));
    peer.is_loopback() && !is_forwarded && !proxies.iter().any(|proxy| proxy.to_canonical() == peer)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn a_local_client_has_a_loopback_address_and_no_proxy() {
        let here: IpAddr = "127.0.0.1".parse().unwrap();
        let none = HeaderMap::new();
        assert!(is_local(here, &none, &[]));
        assert!(is_local("::1".parse().unwrap(), &none, &[here]));
        assert!(!is_local(here, &none, &["::ffff:127.0.0.1".parse().unwrap()]));
        for elsewhere in ["192.0.2.1", "2001:db8::1", "0.0.0.0"] {
            assert!(!is_local(elsewhere.parse().unwrap(), &none, &[]), "{elsewhere}");
        }
        for name in FORWARDED {
            let headers = HeaderMap::from_iter([(
                name.parse().unwrap(),
                HeaderValue::from_static("127.0.0.1"),
            )]);
            assert!(!is_local(here, &headers, &[]), "{name}");
        }
    }
}
