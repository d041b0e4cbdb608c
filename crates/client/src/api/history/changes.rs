//! The change feed: a page of it, or changes as they happen.

use std::collections::VecDeque;

use bytes::{Bytes, BytesMut};
use futures_util::{Stream, stream};
use http::header::{ACCEPT, CONTENT_TYPE};
use http_body_util::BodyExt;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::body::Body;
use crate::call::Call;
use crate::{At, Client, Error, Kind, Result};

/// A page of the change feed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Changes {
    /// What changed, the oldest first.
    pub items: Vec<Change>,
    /// The position of the last change of an access list in this page that may have hidden something from the caller.
    pub access: Option<String>,
    /// Where to continue.
    pub next: String,
    /// Whether more is available now.
    pub more: bool,
}

/// One change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Its position in the feed.
    pub position: String,
    /// What happened.
    pub kind: ChangeKind,
    /// The id of the resource.
    pub id: u64,
    /// The id of its current collection; for a removal, of its former one.
    pub parent: u64,
    /// Its name in that collection.
    pub name: String,
    /// Its location before it was moved, if the caller could see that.
    pub from: Option<Origin>,
    /// When it happened.
    pub at: Timestamp,
    /// Who made it.
    pub by: String,
    /// Counts the changes of the resource.
    pub revision: u64,
}

/// What happened to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChangeKind {
    /// It was created.
    Created,
    /// Its content changed.
    Written,
    /// Its description or attributes changed.
    Described,
    /// Its access list changed.
    Granted,
    /// Its name or collection changed.
    Moved,
    /// It was removed, with everything below it.
    Removed,
}

/// A collection and a name in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The id of the collection.
    pub parent: u64,
    /// The name.
    pub name: String,
}

/// An item in a stream of changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A change.
    Change(Change),
    /// An access list changed at this position and may have hidden something from the caller: anything cached before
    /// has to be requested again.
    Access(String),
    /// All changes up to this position have been sent: a later stream can continue from here.
    Position(String),
}

impl Client {
    /// Changes since a position, of a resource and everything below it if one is given; waits up to `wait` seconds if
    /// there are none.
    pub async fn changes(
        &self,
        below: Option<&At>,
        since: Option<&str>,
        wait: u32,
    ) -> Result<Changes> {
        let call = feed(below).query_opt("since", since);
        self.json(call.query_opt("wait", (wait > 0).then_some(wait))).await
    }

    /// An endless stream of changes from a position on, as they happen. If the connection is lost or closed, it is
    /// reopened at the last position received.
    ///
    /// # Errors
    /// Any error of reconnecting, after all attempts of the client: [`Kind::Expired`] if the feed no longer
    /// reaches back to the position, [`Kind::NotFound`] once the resource has been removed.
    pub fn follow(
        &self,
        below: Option<At>,
        since: Option<String>,
    ) -> impl Stream<Item = Result<Event>> + Send + use<> {
        let follow = Follow { client: self.clone(), below, last: since, stream: None };
        stream::try_unfold(follow, |mut follow| async move {
            let event = follow.next().await?;
            Ok(Some((event, follow)))
        })
    }
}

fn feed(below: Option<&At>) -> Call {
    let call = Call::get("/v1/changes");
    match below {
        Some(at) => call.at(at),
        None => call,
    }
}

const EVENTS: &str = "text/event-stream";

/// A feed being followed.
struct Follow {
    client: Client,
    below: Option<At>,
    last: Option<String>,
    stream: Option<Events>,
}

impl Follow {
    async fn next(&mut self) -> Result<Event> {
        loop {
            let stream = match &mut self.stream {
                Some(stream) => stream,
                None => {
                    let call = feed(self.below.as_ref()).query_opt("since", self.last.as_ref());
                    self.stream.insert(connect(self.client.clone(), call).await?)
                }
            };
            match stream.next().await {
                Ok(Some(event)) => {
                    self.last = Some(event.position().to_owned());
                    return Ok(event);
                }
                Ok(None) => self.stream = None,
                Err(error) if error.kind() == Kind::Unreachable => self.stream = None,
                Err(error) => return Err(error),
            }
        }
    }
}

async fn connect(client: Client, call: Call) -> Result<Events> {
    let answer = client.send(call.header(ACCEPT, EVENTS)?).await?;
    // Anything else would be requested again without end.
    if answer.headers().get(CONTENT_TYPE).is_none_or(|media_type| media_type != EVENTS) {
        return Err(Error::protocol("it has no events"));
    }
    Ok(Events { body: answer.into_body(), rest: BytesMut::new(), ready: VecDeque::new() })
}

impl Event {
    fn position(&self) -> &str {
        match self {
            Self::Change(change) => &change.position,
            Self::Access(position) | Self::Position(position) => position,
        }
    }
}

/// Server-sent events, as written by the server.
struct Events {
    body: Body,
    rest: BytesMut,
    ready: VecDeque<Bytes>,
}

/// Longer than any event that the server sends.
const LONGEST: usize = 1 << 20;

impl Events {
    /// The next event; `None` at the end. A truncated one is sent again on the next connection.
    async fn next(&mut self) -> Result<Option<Event>> {
        loop {
            if let Some(block) = self.ready.pop_front() {
                match event(&block)? {
                    Some(event) => return Ok(Some(event)),
                    None => continue,
                }
            }
            match self.body.frame().await {
                Some(frame) => self.take(&frame?.into_data().unwrap_or_default())?,
                None => return Ok(None),
            }
        }
    }

    fn take(&mut self, data: &[u8]) -> Result<()> {
        let mut from = self.rest.len().saturating_sub(1);
        self.rest.extend_from_slice(data);
        while let Some(end) = self.rest[from..].windows(2).position(|two| two == b"\n\n") {
            self.ready.push_back(self.rest.split_to(from + end + 2).freeze());
            from = 0;
        }
        match self.rest.len() > LONGEST {
            true => Err(Error::protocol("an event is too long")),
            false => Ok(()),
        }
    }
}

/// The event in a block of lines; `None` if it has no position.
fn event(block: &[u8]) -> Result<Option<Event>> {
    let block = std::str::from_utf8(block).map_err(Error::protocol)?;
    let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
    match (field("event: "), field("data: "), field("id: ")) {
        (Some("change"), Some(data), _) => {
            serde_json::from_str(data).map(Event::Change).map(Some).map_err(Error::protocol)
        }
        (Some("access"), _, Some(position)) => Ok(Some(Event::Access(position.to_owned()))),
        // Events of a type unknown to this client have a position, too.
        (_, _, Some(position)) => Ok(Some(Event::Position(position.to_owned()))),
        (_, _, None) => Ok(None),
    }
}
