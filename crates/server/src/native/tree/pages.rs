//! Sequences of pages that are sent as one stream of lines.

use std::io;

use axum::body::Body;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{Stream, stream};
use serde::Serialize;

use crate::problem::Problem;

/// Resources in one page of a stream.
pub(super) const PAGE: usize = 1_000;

/// A sequence of pages in progress.
pub(super) trait Pages: Sized + Send + 'static {
    /// The lines of the next page, and what follows it, if anything does.
    fn page(self) -> impl Future<Output = Result<(Bytes, Option<Self>), Problem>> + Send;
}

/// Answers with all pages. If the first one fails, so does the request. A later failure interrupts the stream, which a client can tell from
/// its end.
pub(super) async fn answer_lines(pages: impl Pages) -> Result<Response, Problem> {
    let first = pages.page().await?;
    let lines = Body::from_stream(lines(first));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], lines).into_response())
}

/// Where a stream is.
enum Step<P> {
    /// A page is there.
    Read(Bytes, Option<P>),
    /// The next one has to be read.
    Following(P),
}

/// Each page is sent before the next one is read.
fn lines<P: Pages>((lines, next): (Bytes, Option<P>)) -> impl Stream<Item = io::Result<Bytes>> {
    stream::try_unfold(Some(Step::Read(lines, next)), |step| async {
        let (lines, next) = match step {
            None => return Ok(None),
            Some(Step::Read(lines, next)) => (lines, next),
            Some(Step::Following(pages)) => {
                pages.page().await.map_err(|problem| io::Error::other(problem.to_string()))?
            }
        };
        Ok(Some((lines, next.map(Step::Following))))
    })
}

/// How many lines may come at most, where a request says so.
pub(super) fn most_lines(limit: Option<u32>) -> Result<usize, Problem> {
    match limit {
        Some(0) => Err(Problem::invalid("`limit` must be at least 1")),
        limit => Ok(limit.map_or(usize::MAX, |limit| limit as usize)),
    }
}

/// Adds a value as one line.
pub(super) fn add_line(lines: &mut Vec<u8>, value: &impl Serialize) {
    serde_json::to_writer(&mut *lines, value).expect("a resource is JSON");
    lines.push(b'\n');
}
