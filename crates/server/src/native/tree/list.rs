//! The children of a collection, in pages; and everything below, as one stream.

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_store::{
    At, Caller, DetailedPage, ListOptions, Name, Store, StorePath, WalkCursor, WalkPage,
};
use futures_util::{Stream, stream};

use crate::app::App;
use crate::layer::Asker;
use crate::native::json::{
    Brief, BriefListing, BriefQuery, ListQuery, Listing, Names, Resource, Target, WalkQuery, With,
};
use crate::native::request::address::About;
use crate::native::request::conditional::answer_digested;
use crate::native::request::query::page_limit;
use crate::problem::Problem;

/// The children of a collection, in the order of the names' bytes.
#[utoipa::path(get, path = "/v1/list", tag = "tree", params(Target, ListQuery),
    responses((status = 200, body = Listing), (status = 304, description = "The client has the current state")))]
pub(crate) async fn list(
    State(app): State<App>,
    Asker(caller): Asker,
    About(at, query): About<ListQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let after = query.after.map(Name::new).transpose()?;
    let limit = page_limit(query.limit, ListOptions::MAX)?;
    let with = With::read(query.with.as_deref())?;
    let listing = app.blocking(move |store| {
        let (options, described) = (ListOptions { after, limit }, with.description || with.xattrs);
        let DetailedPage { page, details } =
            store.list_detailed(&caller, &at, &options, described)?;
        let mut names = Names::for_caller(store, &caller);
        names.read_memberships(&page.entries)?;
        let entries = page.entries.iter().zip(&details).map(|(entry, details)| {
            Ok(Resource::of(entry, &mut names)?.with_details(details, with))
        });
        Ok(Listing {
            entries: entries.collect::<cenote_store::Result<_>>()?,
            collection: Resource::of(&page.collection, &mut names)?,
            next: page.next.map(|name| name.to_string()),
        })
    });
    answer_digested(&headers, &listing.await?)
}

/// About the length of an entry of a brief listing. A listing has megabytes, and would be copied each time that it outgrows its room.
const BRIEF_BYTES: usize = 384;

/// The children of a collection, in the order of the names' bytes, each with the few attributes that a file system shows. The answer is
/// about half of the other listing.
#[utoipa::path(get, path = "/v1/list/brief", tag = "tree", params(Target, BriefQuery),
    responses((status = 200, body = BriefListing)))]
pub(crate) async fn list_brief(
    State(app): State<App>,
    Asker(caller): Asker,
    About(at, query): About<BriefQuery>,
) -> Result<Response, Problem> {
    let after = query.after.map(Name::new).transpose()?;
    let limit = page_limit(query.limit, ListOptions::MAX)?;
    let listing = app.blocking(move |store| {
        let page = store.list(&caller, &at, &ListOptions { after, limit })?;
        let mut names = Names::for_caller(store, &caller);
        names.read_memberships(&page.entries)?;
        let entries = page.entries.iter().map(|entry| Brief::of(entry, &mut names));
        let entries = entries.collect::<cenote_store::Result<Vec<_>>>()?;
        let mut json = Vec::with_capacity(entries.len() * BRIEF_BYTES);
        let listing = BriefListing { entries, next: page.next.map(|name| name.to_string()) };
        serde_json::to_writer(&mut json, &listing).expect("a listing is JSON");
        Ok(json)
    });
    Ok(([(header::CONTENT_TYPE, "application/json")], listing.await?).into_response())
}

/// Everything below a collection, one resource a line, in path order: names are compared as bytes, and a collection comes before
/// what is in it. A walk that was broken off, or ended at its limit, continues with the path of its last line as `after`.
#[utoipa::path(get, path = "/v1/walk", tag = "tree", params(Target, WalkQuery),
    responses((status = 200, body = Resource, content_type = "application/x-ndjson")))]
pub(crate) async fn walk(
    State(app): State<App>,
    Asker(caller): Asker,
    About(at, query): About<WalkQuery>,
) -> Result<Response, Problem> {
    let after = match query.after {
        Some(path) => Some(cursor(&app, &caller, &at, &path.parse()?).await?),
        None => None,
    };
    if query.limit == Some(0) {
        return Err(Problem::invalid("`limit` must be at least 1"));
    }
    let (described, left) = (query.description_tag, query.limit.map(|limit| limit as usize));
    let walk = Walk { app, caller, at, described, next: Some(after), left };
    let first = walk.page().await?;
    let lines = Body::from_stream(lines(first));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], lines).into_response())
}

/// Where a walk continues after a path.
async fn cursor(
    app: &App,
    caller: &Caller,
    at: &At,
    path: &StorePath,
) -> Result<WalkCursor, Problem> {
    let (caller, at) = (caller.clone(), at.clone());
    let top = app.blocking(move |store| store.stat(&caller, &at)).await?;
    WalkCursor::after(&top.path, path).ok_or_else(|| {
        Problem::invalid(format!("`after` is not below {}", top.path))
            .with_hint("the collection may have been moved: give its current path, or begin again")
    })
}

/// A walk in progress; no snapshot is held between its pages.
struct Walk {
    app: App,
    caller: Caller,
    at: At,
    /// Whether the tags of descriptions are included.
    described: bool,
    /// Where the next page begins; none at the end.
    next: Option<Option<WalkCursor>>,
    /// How many lines may come still.
    left: Option<usize>,
}

/// Resources in one page of a stream.
const PAGE: usize = 1_000;

impl Walk {
    /// The next lines, and the position of the walk after them.
    async fn page(self) -> Result<(Bytes, Self), Problem> {
        let Some(after) = self.next.clone() else { return Ok((Bytes::new(), self)) };
        let asking = self.app.clone();
        let page = move |store: &Store| {
            let (page, tags) = self.entries(store, after.as_ref())?;
            let mut names = Names::new(store);
            names.read_memberships(&page.entries)?;
            let mut lines = Vec::new();
            for (entry, tag) in page.entries.iter().zip(tags) {
                let resource = Resource::of(entry, &mut names)?.with_description_tag(tag);
                serde_json::to_writer(&mut lines, &resource).expect("a resource is JSON");
                lines.push(b'\n');
            }
            let left = self.left.map(|left| left.saturating_sub(page.entries.len()));
            let next = page.next.map(Some).filter(|_| left != Some(0));
            Ok((Bytes::from(lines), Self { next, left, ..self }))
        };
        asking.blocking(page).await
    }

    /// The entries of a page, with the tags of their descriptions if requested.
    fn entries(
        &self,
        store: &Store,
        after: Option<&WalkCursor>,
    ) -> cenote_store::Result<(WalkPage, Vec<Option<[u8; 32]>>)> {
        let limit = self.left.map_or(PAGE, |left| left.min(PAGE));
        if self.described {
            return store.walk_described(&self.caller, &self.at, after, limit);
        }
        let page = store.walk(&self.caller, &self.at, after, limit)?;
        let none = vec![None; page.entries.len()];
        Ok((page, none))
    }
}

/// A walk that fails midway interrupts the stream, which a client can tell from its end.
fn lines(first: (Bytes, Walk)) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
    stream::unfold(Some(first), |state| async {
        let (lines, walk) = state?;
        let following = match walk.next {
            None => return Some((Ok(lines), None)),
            Some(_) => walk.page().await,
        };
        match following {
            Ok(following) => Some((Ok(lines), Some(following))),
            Err(problem) => Some((Err(std::io::Error::other(problem.to_string())), None)),
        }
    })
}
