//! From a content to its keys.
//!
//! Invariant: contents that are not marked as key sets, or are larger than the limit, are not read.

use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_keyset::{Format, KeyName, KeySet, ReadError};
use cenote_store::{At, Caller, Conditions, ErrorKind, Opened, ReadOptions, StorePath};

use crate::app::App;
use crate::native::request::conditional::{Verdict, judge_read, validators};
use crate::problem::{Problem, ProblemKind};

/// A content with the media type of a key set.
pub(super) struct Content {
    opened: Opened,
    format: Format,
}

impl Content {
    pub(super) async fn open(
        app: &App,
        caller: Caller,
        at: At,
        version: Option<u64>,
    ) -> Result<Self, Problem> {
        let options = ReadOptions { version, ..ReadOptions::default() };
        let opened = app.blocking(move |store| store.open(&caller, &at, &options)).await?;
        let media_type = opened.head.media_type.as_deref().unwrap_or_default();
        let format = Format::from_media_type(media_type)
            .ok_or_else(|| no_key_set(&opened.stat.path, media_type))?;
        check_size(opened.size(), app.limits().keyset_bytes)?;
        Ok(Self { opened, format })
    }

    pub(super) fn path(&self) -> &StorePath {
        &self.opened.stat.path
    }

    /// The tag of the bytes.
    pub(super) fn tag(&self) -> String {
        self.opened.head.tag()
    }

    /// Whether these conditions hold for what was opened.
    pub(super) fn meets(&self, conditions: &Conditions) -> bool {
        let Some(tag) = conditions.if_match.as_deref() else { return true };
        self.opened.head.has_tag(tag) || self.opened.stat.state_tag() == tag
    }

    /// Answers a question about the keys, unless the caller has the answer already.
    pub(super) async fn answer(
        self,
        app: &App,
        headers: &HeaderMap,
        parent: KeyName,
        question: impl FnOnce(KeySet) -> Result<Vec<u8>, Problem> + Send + 'static,
    ) -> Result<Response, Problem> {
        let (tag, modified) = (self.tag(), self.opened.stat.resource.written());
        let described = validators(&tag, modified);
        if judge_read(headers, &tag, modified)? == Verdict::NotModified {
            return Ok((StatusCode::NOT_MODIFIED, described).into_response());
        }
        let _turn = app.key_set_turn().await;
        let stored = self.read().await?;
        let body = app.compute(move || question(stored.keys(&parent)?)).await?;
        Ok((described, [(header::CONTENT_TYPE, "application/json")], body).into_response())
    }

    pub(super) async fn read(self) -> Result<Stored, Problem> {
        let path = self.opened.stat.path.clone();
        Ok(Stored { path, bytes: self.opened.read_all().await?, format: self.format })
    }
}

/// The bytes of a key set.
pub(super) struct Stored {
    path: StorePath,
    bytes: Bytes,
    format: Format,
}

impl Stored {
    /// Reads the keys, which takes about a second for 64 MiB that are out of order.
    pub(super) fn keys(&self, parent: &KeyName) -> Result<KeySet, Problem> {
        let options = cenote_keyset::ReadOptions::default();
        cenote_keyset::read(self.bytes.clone(), parent, self.format, options)
            .map_err(|error| malformed(&self.path, self.format, &error))
    }

    /// The bytes of other keys, in the same format.
    pub(super) fn rewritten(&self, keys: &KeySet, parent: &KeyName) -> Result<Bytes, Problem> {
        let bytes = cenote_keyset::to_bytes(keys, parent, self.format);
        bytes.map(Bytes::from).map_err(|error| Problem::invalid(error.to_string()))
    }
}

/// Refuses what would take too much memory.
pub(super) fn check_size(size: u64, most: u64) -> Result<(), Problem> {
    if size <= most {
        return Ok(());
    }
    let kind = ProblemKind::Store(ErrorKind::TooLarge);
    Err(Problem::new(kind, format!("a key set of {size} bytes; the server reads up to {most}"))
        .with_hint("get the whole content, and change it with `cenote kdb`"))
}

fn no_key_set(path: &StorePath, media_type: &str) -> Problem {
    let detail = match media_type {
        "" => format!("it is not marked as a key set: {path}"),
        known => format!("{known} is not a key set: {path}"),
    };
    Problem::new(ProblemKind::Format, detail).with_hint(
        "if it is one, set its `media_type` to application/vnd.elektra.quickdump or \
         application/vnd.elektra.dump",
    )
}

fn malformed(path: &StorePath, format: Format, error: &ReadError) -> Problem {
    let detail = format!("not a key set of the format {format}, {error}: {path}");
    Problem::new(ProblemKind::Format, detail)
        .with_hint("put the content again, or set the media type of what it is")
}
