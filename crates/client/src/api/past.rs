//! The store as of a moment in the past. A moment is a time (RFC 3339) or a position of the change feed.

use futures_util::{Stream, TryStreamExt, stream};
use http::header::RANGE;
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::{Avu, Client, Content, Error, ReadOptions, Resource, Result};

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
        self.content(call).await
    }
}

fn past(what: &str, path: &str, moment: &str) -> Call {
    Call::get(&format!("/v1/past/{what}")).query("path", path).query("as_of", moment)
}
