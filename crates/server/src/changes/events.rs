//! The feed as server-sent events (WHATWG HTML, section 9.2).
//!
//! Each change is an event whose id is its position, so that a client that lost the connection can continue. The position
//! alone is sent where changes follow that the caller may not see, and after a silence, to show that the connection is alive. A stream ends after some minutes, and when what the
//! caller may do has changed; the client reconnects by itself, and is then authenticated again.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_store::{ChangePage, Store};
use futures_util::{Stream, stream};
use serde::Serialize;
use tokio::time::Instant;

use super::Feed;
use crate::problem::Problem;

pub(crate) const MEDIA_TYPE: &str = "text/event-stream";
/// How long a stream lasts.
const LASTS: Duration = Duration::from_secs(300);
/// The longest silence.
const BEAT: Duration = Duration::from_secs(15);
/// After how many milliseconds a client whose stream ended comes back.
const RETRY: &str = "retry: 1000\n\n";

/// The last event that a client has seen which comes back.
pub(crate) fn last_event_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("last-event-id")?.to_str().ok()?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// A stream of what happens for so long. What can be refused is refused before it begins.
pub(crate) async fn answer<S: Show>(mut feed: Feed, show: S) -> Result<Response, Problem> {
    let begun = Instant::now();
    let page = feed.next(begun).await?;
    let until = if page.renew { begun } else { begun + LASTS };
    let first = format!("{RETRY}{}", feed.show(page, show.clone()).await?);
    let events = Events { feed, show, until, first: Some(first) };
    let headers = [(header::CONTENT_TYPE, MEDIA_TYPE), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(events.stream())).into_response())
}

/// Writes a page of the feed as events.
pub(crate) trait Show:
    Fn(&Store, ChangePage) -> cenote_store::Result<String> + Clone + Send + 'static
{
}

impl<S> Show for S where
    S: Fn(&Store, ChangePage) -> cenote_store::Result<String> + Clone + Send + 'static
{
}

/// The state of a stream.
struct Events<S> {
    feed: Feed,
    show: S,
    until: Instant,
    first: Option<String>,
}

impl<S: Show> Events<S> {
    fn stream(self) -> impl Stream<Item = Result<Bytes, Infallible>> {
        stream::unfold(self, |mut events| async {
            let text = events.next().await?;
            Some((Ok(text.into()), events))
        })
    }

    /// A fault ends the stream: the client comes back, and then sees it as a status.
    async fn next(&mut self) -> Option<String> {
        if let Some(first) = self.first.take() {
            return Some(first);
        }
        let now = Instant::now();
        if now >= self.until || self.feed.is_stopping() {
            return None;
        }
        let page = self.feed.next(self.until.min(now + BEAT)).await.ok()?;
        if page.renew {
            self.until = now;
        }
        self.feed.show(page, self.show.clone()).await.ok()
    }
}

/// One event, with the position that a client comes back with.
pub(crate) fn event(name: &str, position: impl std::fmt::Display, data: &impl Serialize) -> String {
    let data = serde_json::to_string(data).expect("an event is JSON");
    format!("id: {position}\nevent: {name}\ndata: {data}\n\n")
}

/// The position at the end of a page, where nothing of what was before is shown.
pub(crate) fn position(next: impl std::fmt::Display) -> String {
    format!("id: {next}\n\n")
}
