//! Finding resources by name and description.

use futures_util::{Stream, TryStreamExt, stream};
use serde::{Deserialize, Serialize};

use crate::call::Call;
use crate::{At, Client, Error, LinksFrom, Resource, Result, Search};

#[derive(Serialize)]
struct Page<'a> {
    #[serde(flatten)]
    search: &'a Search,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Found {
    items: Vec<Resource>,
    next: Option<serde_json::Value>,
}

#[derive(Deserialize)]
struct Shared {
    items: Vec<Resource>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Links {
    items: Vec<LinksFrom>,
    next: Option<String>,
}

impl Client {
    /// All resources that link to one, page by page.
    pub fn links<'a>(&'a self, to: &'a At) -> impl Stream<Item = Result<LinksFrom>> + 'a {
        let pages = stream::try_unfold(Some(None::<String>), move |cursor| async move {
            let Some(after) = cursor else { return Ok(None) };
            let call = Call::get("/v1/links").at(to).query_opt("after", after);
            let found: Links = self.json(call).await?;
            let items = stream::iter(found.items.into_iter().map(Ok));
            Ok::<_, Error>(Some((items, found.next.map(Some))))
        });
        pages.try_flatten()
    }

    /// All resources that a search finds, page by page.
    pub fn search<'a>(&'a self, search: &'a Search) -> impl Stream<Item = Result<Resource>> + 'a {
        let pages = stream::try_unfold(Some(None), move |cursor| async move {
            let Some(after) = cursor else { return Ok(None) };
            let call = Call::post("/v1/search").json(&Page { search, after }).repeatable();
            let found: Found = self.json(call).await?;
            let items = stream::iter(found.items.into_iter().map(Ok));
            Ok::<_, Error>(Some((items, found.next.map(Some))))
        });
        pages.try_flatten()
    }

    /// All resources that are shared with the caller and cannot be reached by listing, page by page.
    pub fn shared(&self) -> impl Stream<Item = Result<Resource>> + '_ {
        let pages = stream::try_unfold(Some(None::<String>), move |cursor| async move {
            let Some(after) = cursor else { return Ok(None) };
            let call = Call::get("/v1/shared").query_opt("after", after);
            let found: Shared = self.json(call).await?;
            let items = stream::iter(found.items.into_iter().map(Ok));
            Ok::<_, Error>(Some((items, found.next.map(Some))))
        });
        pages.try_flatten()
    }
}
