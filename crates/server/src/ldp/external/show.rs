//! GET and HEAD of a resource whose bytes are elsewhere.

use axum::body::Body;
use axum::http::{HeaderName, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_blob::Hasher;
use futures_util::StreamExt;

use super::source::Source;
use super::{Elsewhere, Handling};
use crate::ldp::request::call::Call;
use crate::ldp::request::digest::{DigestAlgorithm, wanted};
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::{DIGEST, Headers};

const CONTENT_LOCATION: HeaderName = header::CONTENT_LOCATION;

/// Answers with the bytes, or with where they are.
pub(crate) async fn show(
    call: Call,
    mut headers: Headers,
    elsewhere: Elsewhere,
) -> Result<Response, Fault> {
    // The bytes may have been changed by others at any time.
    for name in [header::ETAG, header::ACCEPT_RANGES, DIGEST] {
        headers.0.remove(name);
    }
    if let Some(wanted) = wanted(&call.headers)? {
        let source = read(&call, &elsewhere, true).await?;
        headers.add(DIGEST, &digests(&call, source, &wanted).await?);
    }
    if elsewhere.handling == Handling::Redirect {
        headers.add(header::LOCATION, &elsewhere.url);
        return Ok((StatusCode::TEMPORARY_REDIRECT, headers.0).into_response());
    }
    let source = read(&call, &elsewhere, call.method == Method::GET).await?;
    headers.add(CONTENT_LOCATION, &elsewhere.url);
    if let Some(length) = source.length {
        headers.add(header::CONTENT_LENGTH, &length.to_string());
    }
    let body = match call.method {
        Method::GET => source.into_body(),
        _ => Body::empty(),
    };
    Ok((headers.0, body).into_response())
}

/// What cannot be read now is no mistake of the client.
async fn read(call: &Call, elsewhere: &Elsewhere, bytes: bool) -> Result<Source, Fault> {
    let source = Source::open(call, &elsewhere.url, bytes).await;
    source.map_err(|_| Fault::new(StatusCode::BAD_GATEWAY, "the external content cannot be read"))
}

/// The digests of all bytes, as the client wants them.
async fn digests(
    call: &Call,
    source: Source,
    wanted: &std::collections::BTreeSet<DigestAlgorithm>,
) -> Result<String, Fault> {
    let mut hasher = Hasher::new(wanted.iter().filter_map(|known| known.algorithm()));
    let mut bytes = source.into_body().into_data_stream();
    while let Some(piece) = bytes.next().await {
        let piece = piece
            .map_err(|_| super::refused(call, "reading the external content was interrupted"))?;
        hasher.update(&piece);
    }
    let digests = hasher.finish();
    let shown = wanted.iter().filter_map(|known| {
        let digest = match known.algorithm() {
            None => digests.sha256?.to_vec(),
            Some(algorithm) => digests.get(algorithm)?.to_vec(),
        };
        Some(known.shown(&digest, call.dialect.digests))
    });
    Ok(shown.collect::<Vec<_>>().join(","))
}
