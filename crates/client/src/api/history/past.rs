//! The store as of a moment in the past. A moment is a time (RFC 3339) or a position of the change feed.

use futures_util::{Stream, TryStreamExt, stream};
use http::header::IF_MATCH;
use serde::{Deserialize, Serialize};

use bytes::Bytes;

use crate::api::lines::lines;
use crate::call::Call;
use crate::{Avu, Client, Content, Done, Error, ReadOptions, Resource, Result, Search};

/// A former entry of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PastEntry {
    /// Its former attributes.
    Kept(Box<Resource>),
    /// It existed, but its attributes are no longer known.
    Lost(Lost),
}

/// A resource of which only the former existence is known.
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
    /// With everything that was below it.
    pub recursive: bool,
    /// Create missing parent collections.
    pub parents: bool,
    /// Skip what is no longer kept or may not be read, instead of restoring nothing.
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
    /// [`Kind::Expired`](crate::Kind::Expired) if the moment is earlier than the oldest change in
    /// the feed.
    pub async fn position_of(&self, moment: &str) -> Result<String> {
        let call = Call::get("/v1/past/position").query("as_of", moment);
        let answer: Position = self.json(call).await?;
        Ok(answer.position)
    }

    /// Everything that was below a collection, each collection before its children. The children of a resource that has been permanently
    /// removed are not known.
    pub async fn walk_as_of(
        &self,
        path: &str,
        moment: &str,
    ) -> Result<impl Stream<Item = Result<PastEntry>> + use<>> {
        self.past_lines(past("walk", path, moment)).await
    }

    /// Everything that was below a collection and matches a search, by path; resources that may have matched but are no
    /// longer kept are reported as lost.
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
        Ok(lines::<Line>(answer)?.map_ok(PastEntry::from))
    }

    /// The contents of the objects that had these paths, at most 1,000, as a tar archive in memory (POSIX pax); missing and unreadable ones
    /// are omitted.
    pub(crate) async fn archive_as_of(&self, moment: &str, paths: &[&str]) -> Result<Bytes> {
        let question = serde_json::json!({ "as_of": moment, "paths": paths });
        self.bytes(Call::post("/v1/past/archive").json(&question).repeatable()).await
    }

    /// Restores what was at a path to another path. A collection is restored by a recorded job and becomes visible
    /// once it is complete.
    ///
    /// # Errors
    /// [`Kind::Exists`](crate::Kind::Exists) if the name is taken.
    pub async fn restore_as_of(&self, restore: &RestorePast) -> Result<Done<Resource>> {
        self.json(Call::post("/v1/past/restore").json(restore)).await
    }

    /// The resource that was at a path.
    ///
    /// # Errors
    /// [`Kind::Expired`](crate::Kind::Expired) if it is no longer kept.
    pub async fn stat_as_of(&self, path: &str, moment: &str) -> Result<Resource> {
        self.json(past("stat", path, moment)).await
    }

    /// The former entries of a collection. In each page, those whose attributes are no longer known come last.
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

    /// The former description of a resource.
    pub async fn meta_as_of(&self, path: &str, moment: &str) -> Result<Vec<Avu>> {
        self.items(past("meta", path, moment)).await
    }

    /// Reads the former content of an object, or a part of it.
    pub async fn read_as_of(
        &self,
        path: &str,
        moment: &str,
        options: &ReadOptions,
    ) -> Result<Content> {
        let mut call = options.of(past("content", path, moment))?;
        if let Some(etag) = &options.if_match {
            call = call.header(IF_MATCH, etag)?;
        }
        self.content(call).await
    }
}

fn past(what: &str, path: &str, moment: &str) -> Call {
    Call::get(&format!("/v1/past/{what}")).query("path", path).query("as_of", moment)
}
