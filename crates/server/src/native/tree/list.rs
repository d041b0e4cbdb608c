//! The children of a collection, in pages, or briefly as one stream.

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use bytes::Bytes;
use cenote_store::{At, Caller, DetailedPage, ListOptions, Name};

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json::{Brief, BriefQuery, ListQuery, Listing, Names, Resource, Target, With};
use crate::native::request::address::About;
use crate::native::request::conditional::answer_digested;
use crate::native::request::query::page_limit;
use crate::native::tree::pages::{PAGE, Pages, add_line, answer_lines, most_lines};
use crate::problem::Problem;

/// The children of a collection, in the order of the names' bytes.
#[utoipa::path(get, path = "/v1/list", tag = "tree", params(Target, ListQuery),
    responses((status = 200, body = Listing), (status = 304, description = "The client has the current state")))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
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

/// The children of a collection, in the order of the names' bytes, one a line, each with the few attributes that a file system shows. It is
/// about half of the other listing, and arrives while the rest of it is read.
#[utoipa::path(get, path = "/v1/list/brief", tag = "tree", params(Target, BriefQuery),
    responses((status = 200, body = Brief, content_type = "application/x-ndjson")))]
pub(crate) async fn list_brief(
    State(app): State<App>,
    Viewer(caller): Viewer,
    About(at, query): About<BriefQuery>,
) -> Result<Response, Problem> {
    let after = query.after.map(Name::new).transpose()?;
    let left = most_lines(query.limit)?;
    answer_lines(BriefPages { app, caller, at, after, left }).await
}

/// A brief listing in progress; no snapshot is held between its pages.
struct BriefPages {
    app: App,
    caller: Caller,
    at: At,
    after: Option<Name>,
    /// How many lines may come still.
    left: usize,
}

/// About the length of a line of a brief listing, so that the lines of a page are not copied each time that they outgrow their room.
const BRIEF_BYTES: usize = 384;

impl Pages for BriefPages {
    async fn page(self) -> Result<(Bytes, Option<Self>), Problem> {
        let app = self.app.clone();
        app.blocking(move |store| {
            let options = ListOptions { after: self.after.clone(), limit: self.left.min(PAGE) };
            let page = store.list(&self.caller, &self.at, &options)?;
            let mut names = Names::for_caller(store, &self.caller);
            names.read_memberships(&page.entries)?;
            let mut lines = Vec::with_capacity(page.entries.len() * BRIEF_BYTES);
            for entry in &page.entries {
                add_line(&mut lines, &Brief::of(entry, &mut names)?);
            }
            let left = self.left - page.entries.len();
            let next = page.next.filter(|_| left > 0);
            let next = next.map(|after| Self { after: Some(after), left, ..self });
            Ok((lines.into(), next))
        })
        .await
    }
}
