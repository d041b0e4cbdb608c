//! Finding resources by name and description.

use futures_util::Stream;
use serde::Serialize;

use crate::call::Call;
use crate::{At, Client, LinksFrom, Resource, Result, Search};

#[derive(Serialize)]
struct Page<'a> {
    #[serde(flatten)]
    search: &'a Search,
    #[serde(skip_serializing_if = "Option::is_none")]
    after: Option<String>,
}

impl Client {
    /// All resources that link to one, page by page.
    pub fn links<'a>(&'a self, to: &'a At) -> impl Stream<Item = Result<LinksFrom>> + 'a {
        self.pages(move |after| Call::get("/v1/links").at(to).query_opt("after", after))
    }

    /// All resources that a search finds, page by page.
    pub fn search<'a>(&'a self, search: &'a Search) -> impl Stream<Item = Result<Resource>> + 'a {
        self.pages(move |after| Call::post("/v1/search").json(&Page { search, after }).repeatable())
    }

    /// All resources that are shared with the caller and cannot be reached by listing, page by page.
    pub fn shared(&self) -> impl Stream<Item = Result<Resource>> + '_ {
        self.pages(|after| Call::get("/v1/shared").query_opt("after", after))
    }
}
