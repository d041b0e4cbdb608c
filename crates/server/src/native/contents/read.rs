//! Bytes out: ranges, conditions, and streaming with back pressure.

use std::fmt::Display;
use std::ops::Range;

use axum::body::Body;
use axum::extract::State;
use axum::http::header::{self, HeaderMap, HeaderValue};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use cenote_store::{ContentStream, Opened, ReadOptions};
use futures_util::StreamExt;

use crate::app::App;
use crate::layer::Reader;
use crate::layer::range::{Selection, select};
use crate::native::json::ReadQuery;
use crate::native::request::address::About;
use crate::native::request::conditional::{Verdict, judge_read, validators};
use crate::native::request::digest;
use crate::problem::Problem;

/// The content of an object, or a range of it.
#[utoipa::path(method(get, head), path = "/v1/fs/{*path}", tag = "bytes", params(ReadQuery), responses(
    (status = 200, content_type = "*/*", body = Vec<u8>),
    (status = 206, content_type = "*/*", body = Vec<u8>),
    (status = 304, description = "The client has the current state"),
))]
pub(crate) async fn read(
    State(app): State<App>,
    Reader(caller): Reader,
    About(at, query): About<ReadQuery>,
    method: Method,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let options = ReadOptions { version: query.version, replica: query.replica };
    if query.verify {
        let opened = app.blocking(move |store| store.open(&caller, &at, &options)).await?;
        return answer(opened.verified().await?, &method, &headers);
    }
    let store = app.store().clone();
    // A short range is read on the thread that found it: a change of threads costs more than the read.
    app.compute(move || {
        let opened = store.open(&caller, &at, &options)?;
        let bytes = if method == Method::GET { Opened::bytes_here } else { Opened::bytes };
        answer_with(opened, (&method, &headers), bytes)
    })
    .await
}

/// The content, or the requested range of it, unless the caller has it already.
pub(crate) fn answer(
    opened: Opened,
    method: &Method,
    headers: &HeaderMap,
) -> Result<Response, Problem> {
    answer_with(opened, (method, headers), Opened::bytes)
}

fn answer_with(
    opened: Opened,
    (method, headers): (&Method, &HeaderMap),
    bytes: impl FnOnce(Opened, Range<u64>) -> cenote_store::Result<ContentStream>,
) -> Result<Response, Problem> {
    let written = opened.stat.resource.written();
    let described = describe(&opened);
    match judge_read(headers, &opened.head.tag(), written)? {
        Verdict::NotModified => Ok((StatusCode::NOT_MODIFIED, described).into_response()),
        Verdict::Proceed { ranged } => {
            let range = headers.get(header::RANGE).filter(|_| ranged && *method == Method::GET);
            let selection = select(range.and_then(|range| range.to_str().ok()), opened.size());
            let (id, size) = (opened.stat.id, opened.size());
            let content = content(selection, size, id, |range| bytes(opened, range))?;
            Ok((described, content).into_response())
        }
    }
}

/// The headers that describe the whole content, whichever part of it is sent.
fn describe(opened: &Opened) -> HeaderMap {
    let (stat, head) = (&opened.stat, &opened.head);
    let mut headers = validators(&head.tag(), stat.resource.written());
    let mut put = |name, value: Option<HeaderValue>| {
        if let Some(value) = value {
            headers.insert(name, value);
        }
    };
    let text = |text: &str| HeaderValue::from_str(text).ok();
    put(digest::REPR_DIGEST, digest::header(&head.digests));
    put(header::ACCEPT_RANGES, Some(HeaderValue::from_static("bytes")));
    let media_type = head.media_type.as_deref().and_then(text);
    let unknown = HeaderValue::from_static("application/octet-stream");
    put(header::CONTENT_TYPE, Some(media_type.unwrap_or(unknown)));
    put(crate::native::ID, Some(stat.id.0.into()));
    put(crate::native::KIND, text(stat.resource.kind.as_str()));
    let is_guessed_page =
        head.media_type_guessed && head.media_type.as_deref().is_some_and(is_page);
    let attachment = HeaderValue::from_static("attachment");
    put(header::CONTENT_DISPOSITION, is_guessed_page.then_some(attachment));
    headers.extend(no_page());
    headers
}

/// Stored contents never run as pages of this server.
pub(crate) fn no_page() -> HeaderMap {
    HeaderMap::from_iter([
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox")),
    ])
}

/// Whether a browser shows a content of this type as a page that may have scripts. If its type was only guessed, the browser saves it instead.
fn is_page(media_type: &str) -> bool {
    let essence = media_type.split(';').next().unwrap_or_default();
    matches!(essence, "text/html" | "text/xml" | "application/xml") || essence.ends_with("+xml")
}

/// All of `size` bytes, or those that are selected. A stream that fails midway breaks off before the length it announced.
pub(crate) fn content(
    selection: Selection,
    size: u64,
    id: impl Display + Send + 'static,
    open: impl FnOnce(Range<u64>) -> cenote_store::Result<ContentStream>,
) -> Result<Response, Problem> {
    let (range, status) = match selection {
        Selection::Outside => return Err(Problem::range(size)),
        Selection::Whole => (0..size, StatusCode::OK),
        Selection::Part(range) => (range, StatusCode::PARTIAL_CONTENT),
    };
    let part = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
    let part = (status == StatusCode::PARTIAL_CONTENT).then_some([(header::CONTENT_RANGE, part)]);
    let length = [(header::CONTENT_LENGTH, range.end - range.start)];
    let stream = open(range)?.inspect(move |chunk| {
        if let Err(error) = chunk {
            tracing::error!(%id, %error, "reading failed");
        }
    });
    Ok((status, part, length, Body::from_stream(stream)).into_response())
}
