//! Looking at the tree: one resource or many, listings and walks.

use futures_util::{Stream, TryStreamExt, stream};
use serde::Deserialize;

use crate::api::lines::lines;
use crate::call::Call;
use crate::error::Problem;
use crate::{At, Brief, Client, Error, Kind, Listing, Resource, Result, Usage};

/// What a listing includes for each entry besides its attributes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct With {
    /// The description.
    pub description: bool,
    /// The extended attributes.
    pub xattrs: bool,
    /// What the caller may do.
    pub level: bool,
}

impl With {
    fn text(self) -> Option<String> {
        let words =
            [("description", self.description), ("xattrs", self.xattrs), ("level", self.level)];
        let requested: Vec<_> =
            words.into_iter().filter(|(_, requested)| *requested).map(|(word, _)| word).collect();
        (!requested.is_empty()).then(|| requested.join(","))
    }
}

#[derive(Deserialize)]
struct StatItem {
    resource: Option<Resource>,
    problem: Option<Problem>,
}

impl StatItem {
    fn into_result(self) -> Result<Resource> {
        match (self.resource, self.problem) {
            (Some(resource), _) => Ok(resource),
            (None, Some(problem)) => Err(problem.into()),
            (None, None) => Err(Error::protocol("an item has neither a resource nor a problem")),
        }
    }
}

impl Client {
    /// One resource, including what the caller may do with it.
    pub async fn stat(&self, at: &At) -> Result<Resource> {
        self.json(Call::get("/v1/stat").at(at)).await
    }

    /// One resource, or `None` if the path does not exist.
    pub async fn find(&self, path: &str) -> Result<Option<Resource>> {
        if_found(self.stat(&path.into()).await)
    }

    /// The resource of this name in a collection, or `None` if there is none.
    pub async fn find_child(&self, parent: u64, name: &str) -> Result<Option<Resource>> {
        let call = Call::get("/v1/stat").query("parent", parent).query("name", name);
        if_found(self.json(call).await)
    }

    /// The same with the tag of its description.
    pub async fn find_described(&self, path: &str) -> Result<Option<Resource>> {
        let call = Call::get("/v1/stat").query("path", path).query("description_tag", true);
        if_found(self.json(call).await)
    }

    /// Many resources at once, each with its own outcome, in the requested order.
    pub async fn stat_many(&self, items: &[At]) -> Result<Vec<Result<Resource>>> {
        let body = serde_json::json!({ "items": items });
        let found = self.items(Call::post("/v1/stat").json(&body).repeatable()).await?;
        Ok(found.into_iter().map(StatItem::into_result).collect())
    }

    /// A page of a collection, starting after the name `after`.
    pub async fn list_page(
        &self,
        at: &At,
        after: Option<&str>,
        limit: Option<u32>,
        with: With,
    ) -> Result<Listing> {
        let call = Call::get("/v1/list").at(at).query_opt("with", with.text());
        self.json(call.query_opt("after", after).query_opt("limit", limit)).await
    }

    /// The children of a collection in the order of the names' bytes, as they arrive, each with the few attributes that a file system shows. If
    /// there are fewer than `limit`, these are all.
    pub async fn list_brief(
        &self,
        at: &At,
        limit: Option<u32>,
    ) -> Result<impl Stream<Item = Result<Brief>> + use<>> {
        let call = Call::get("/v1/list/brief").at(at).query_opt("limit", limit);
        lines(self.send(call).await?)
    }

    /// All children of a collection with further details, page by page, in the order of the names' bytes.
    pub fn list_with<'a>(
        &'a self,
        at: &'a At,
        with: With,
    ) -> impl Stream<Item = Result<Resource>> + 'a {
        let pages = stream::try_unfold(Some(None::<String>), move |cursor| async move {
            let Some(after) = cursor else { return Ok(None) };
            let page = self.list_page(at, after.as_deref(), None, with).await?;
            let entries = stream::iter(page.entries.into_iter().map(Ok));
            Ok::<_, Error>(Some((entries, page.next.map(Some))))
        });
        pages.try_flatten()
    }

    /// All children of a collection, page by page, in the order of the names' bytes.
    pub fn list<'a>(&'a self, at: &'a At) -> impl Stream<Item = Result<Resource>> + 'a {
        self.list_with(at, With::default())
    }

    /// Everything below a resource, in path order, as it arrives.
    pub async fn walk(&self, at: &At) -> Result<impl Stream<Item = Result<Resource>> + use<>> {
        let answer = self.send(Call::get("/v1/walk").at(at)).await?;
        lines(answer)
    }

    /// A page of the same, of `limit` resources, starting after a path or at the beginning. The last page has fewer.
    pub async fn walk_page(
        &self,
        at: &At,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Resource>> {
        let call = Call::get("/v1/walk").at(at).query_opt("after", after).query("limit", limit);
        lines(self.send(call).await?)?.try_collect().await
    }

    /// The same, each with the tag of its description.
    pub async fn walk_described(
        &self,
        at: &At,
    ) -> Result<impl Stream<Item = Result<Resource>> + use<>> {
        let call = Call::get("/v1/walk").at(at).query("description_tag", true);
        lines(self.send(call).await?)
    }

    /// The number and size of the resources below a resource.
    pub async fn usage(&self, at: &At) -> Result<Usage> {
        self.json(Call::get("/v1/du").at(at)).await
    }
}

fn if_found(found: Result<Resource>) -> Result<Option<Resource>> {
    match found {
        Ok(resource) => Ok(Some(resource)),
        Err(error) if error.kind() == Kind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}
