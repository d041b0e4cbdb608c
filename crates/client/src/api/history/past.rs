//! The store as of a moment in the past. A moment is a time (RFC 3339) or a position of the change feed.

use futures_util::{Stream, TryStreamExt, stream};
use http::header::{IF_MATCH, RANGE};
use serde::{Deserialize, Serialize};

use bytes::Bytes;

use crate::api::lines::lines;
use crate::call::Call;
use crate::{Avu, Client, Content, Done, Error, ReadOptions, Resource, Result, Search};

/// Something that was in a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastEntry {
    /// As it was.
    Kept(Box<Resource>),
    /// It was there, and what it was like is not kept.
    Lost(Lost),
}

/// Something of which it is known only that it was there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lost {
    /// Its id.
    pub id: u64,
    /// The path that it had.
    pub path: String,
}

/// A line of a walk or a search.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Lost { lost: Lost },
    Kept(Box<Resource>),
}

impl From<Line> for PastEntry {
    fn from(line: Line) -> Self {
        match line {
            Line::Lost { lost } => Self::Lost(lost),
            Line::Kept(resource) => Self::Kept(resource),
        }
    }
}

/// What to restore, and where.
#[derive(Debug, Clone, Serialize)]
pub struct RestorePast {
    /// The path that it had.
    pub path: String,
    /// The moment, a time or a position.
    pub as_of: String,
    /// The path that it gets, which has to be free.
    pub to: String,
    /// With all that was below it.
    pub recursive: bool,
    /// Create missing parent collections.
    pub parents: bool,
    /// Leave out what is not kept, or may not be read, instead of restoring nothing.
    pub partial: bool,
}

#[derive(Serialize)]
struct Searching<'a> {
    #[serde(flatten)]
    search: &'a Search,
    as_of: &'a str,
}

#[derive(Deserialize)]
struct Position {
    position: String,
}

#[derive(Deserialize)]
struct Page {
    entries: Vec<Resource>,
    lost: Vec<Lost>,
    next: Option<String>,
}

impl Page {
    fn into_entries(self) -> Vec<PastEntry> {
        let kept = self.entries.into_iter().map(|entry| PastEntry::Kept(Box::new(entry)));
        kept.chain(self.lost.into_iter().map(PastEntry::Lost)).collect()
    }
}

impl Client {
    /// The position of a moment: several requests with it are about the same state.
    ///
    /// # Errors
    /// [`Kind::Expired`](crate::Kind::Expired) if the moment is before the changes that are kept.
    pub async fn position_of(&self, moment: &str) -> Result<String> {
        let call = Call::get("/v1/past/position").query("as_of", moment);
        let answer: Position = self.json(call).await?;
        Ok(answer.position)
    }

    /// All that was below a collection, a collection before what was in it. Of a resource that was removed for good, nothing that was below
    /// it is known.
    pub async fn walk_as_of(
        &self,
        path: &str,
        moment: &str,
    ) -> Result<impl Stream<Item = Result<PastEntry>> + use<>> {
        self.past_lines(past("walk", path, moment)).await
    }

    /// All that was below a collection and for which a search holds, by path; what may have matched and is not kept is lost.
    pub async fn search_as_of(
        &self,
        search: &Search,
        moment: &str,
    ) -> Result<impl Stream<Item = Result<PastEntry>> + use<>> {
        let call = Call::post("/v1/past/search").json(&Searching { search, as_of: moment });
        self.past_lines(call.repeatable()).await
    }

    async fn past_lines(
        &self,
        call: Call,
    ) -> Result<impl Stream<Item = Result<PastEntry>> + use<>> {
        let answer = self.send(call).await?;
        Ok(lines::<Line>(answer.into_body()).map_ok(PastEntry::from))
    }

    /// The contents of the objects that had these paths, at most 1,000, as a tar archive in memory (POSIX pax); missing and unreadable ones
    /// are left out.
    pub(crate) async fn archive_as_of(&self, moment: &str, paths: &[&str]) -> Result<Bytes> {
        let question = serde_json::json!({ "as_of": moment, "paths": paths });
        self.bytes(Call::post("/v1/past/archive").json(&question).repeatable()).await
    }

    /// Restores what was at a path under another one; a collection by a recorded job, which shows it once it is whole.
    ///
    /// # Errors
    /// [`Kind::Exists`](crate::Kind::Exists) if the name is taken.
    pub async fn restore_as_of(&self, restore: &RestorePast) -> Result<Done<Resource>> {
        self.json(Call::post("/v1/past/restore").json(restore)).await
    }

    /// What was at a path.
    ///
    /// # Errors
    /// [`Kind::Expired`](crate::Kind::Expired) if that is not kept.
    pub async fn stat_as_of(&self, path: &str, moment: &str) -> Result<Resource> {
        self.json(past("stat", path, moment)).await
    }

    /// What was in a collection. In each page those entries come last of which it is not kept what they were like.
    pub fn list_as_of<'a>(
        &'a self,
        path: &'a str,
        moment: &'a str,
    ) -> impl Stream<Item = Result<PastEntry>> + 'a {
        let pages = stream::try_unfold(Some(None::<String>), move |cursor| async move {
            let Some(after) = cursor else { return Ok(None) };
            let call = past("list", path, moment).query_opt("after", after);
            let mut page: Page = self.json(call).await?;
            let next = page.next.take().map(Some);
            let entries = stream::iter(page.into_entries().into_iter().map(Ok));
            Ok::<_, Error>(Some((entries, next)))
        });
        pages.try_flatten()
    }

    /// The description that a resource had.
    pub async fn meta_as_of(&self, path: &str, moment: &str) -> Result<Vec<Avu>> {
        self.items(past("meta", path, moment)).await
    }

    /// Reads the content that an object had, or a part of it.
    pub async fn read_as_of(
        &self,
        path: &str,
        moment: &str,
        options: &ReadOptions,
    ) -> Result<Content> {
        let mut call = past("content", path, moment);
        if let Some(range) = options.range() {
            call = call.header(RANGE, &range)?;
        }
        if let Some(etag) = &options.if_match {
            call = call.header(IF_MATCH, etag)?;
        }
        self.content(call).await
    }
}

fn past(what: &str, path: &str, moment: &str) -> Call {
    Call::get(&format!("/v1/past/{what}")).query("path", path).query("as_of", moment)
}
