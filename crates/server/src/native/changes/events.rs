//! The feed as server-sent events (WHATWG HTML, section 9.2).
//!
//! Each change is an event whose id is its position, so that a client that lost the connection goes on where it was. The position
//! alone is sent where changes follow that the caller may not see, and after a silence, to show that the connection is alive. A stream ends after some minutes and the client comes
//! back by itself: it is then known anew, and has the access that it has by then.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::Body;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use futures_util::{Stream, stream};
use tokio::time::Instant;

use super::super::json::Changes;
use super::feed::Feed;
use crate::problem::Problem;

pub(super) const MEDIA_TYPE: &str = "text/event-stream";
/// The longest silence.
const BEAT: Duration = Duration::from_secs(15);
/// After how many milliseconds a client whose stream ended comes back.
const RETRY: &str = "retry: 1000\n\n";

/// The last event that a client has seen which comes back.
pub(super) fn last_seen(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("last-event-id")?.to_str().ok()?;
    (!id.is_empty()).then(|| id.to_owned())
}

/// A stream of what happens for so long. What can be refused is refused before it begins.
pub(super) async fn answer(mut feed: Feed, lasts: Duration) -> Result<Response, Problem> {
    let begun = Instant::now();
    let page = feed.next(begun).await?;
    let first = format!("{RETRY}{}", text(&feed.show(page).await?));
    let events = Events { feed, until: begun + lasts, first: Some(first) };
    let headers = [(header::CONTENT_TYPE, MEDIA_TYPE), (header::CACHE_CONTROL, "no-store")];
    Ok((headers, Body::from_stream(events.stream())).into_response())
}

/// A stream under way.
struct Events {
    feed: Feed,
    until: Instant,
    first: Option<String>,
}

impl Events {
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
        Some(text(&self.feed.show(page).await.ok()?))
    }
}

/// The events of a page, and the position at its end, unless that is the position of the last event.
fn text(page: &Changes) -> String {
    let mut text = String::new();
    for change in &page.items {
        let data = serde_json::to_string(change).expect("a change is JSON");
        text += &format!("id: {}\nevent: change\ndata: {data}\n\n", change.position);
    }
    match page.items.last() {
        Some(last) if last.position == page.next => text,
        _ => text + &format!("id: {}\n\n", page.next),
    }
}
