//! Everything below a collection, as one stream.

use axum::extract::State;
use axum::response::Response;
use bytes::Bytes;
use cenote_store::{At, Caller, Store, StorePath, WalkCursor, WalkPage};

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json::{Names, Resource, Target, WalkQuery};
use crate::native::request::address::About;
use crate::native::tree::pages::{PAGE, Pages, add_line, answer_lines, most_lines};
use crate::problem::Problem;

/// Everything below a collection, one resource a line, in path order: names are compared as bytes, and a collection comes before
/// what is in it. A walk that was broken off, or ended at its limit, continues with the path of its last line as `after`.
#[utoipa::path(get, path = "/v1/walk", tag = "tree", params(Target, WalkQuery),
    responses((status = 200, body = Resource, content_type = "application/x-ndjson")))]
pub(crate) async fn walk(
    State(app): State<App>,
    Viewer(caller): Viewer,
    About(at, query): About<WalkQuery>,
) -> Result<Response, Problem> {
    let after = match query.after {
        Some(path) => Some(cursor(&app, &caller, &at, &path.parse()?).await?),
        None => None,
    };
    let left = most_lines(query.limit)?;
    answer_lines(Walk { app, caller, at, described: query.description_tag, after, left }).await
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
    after: Option<WalkCursor>,
    /// How many lines may come still.
    left: usize,
}

impl Pages for Walk {
    async fn page(self) -> Result<(Bytes, Option<Self>), Problem> {
        let app = self.app.clone();
        app.blocking(move |store| {
            let (page, tags) = self.entries(store)?;
            let mut names = Names::new(store);
            names.read_memberships(&page.entries)?;
            let mut lines = Vec::new();
            for (entry, tag) in page.entries.iter().zip(tags) {
                add_line(&mut lines, &Resource::of(entry, &mut names)?.with_description_tag(tag));
            }
            let left = self.left - page.entries.len();
            let next = page.next.filter(|_| left > 0);
            let next = next.map(|after| Self { after: Some(after), left, ..self });
            Ok((lines.into(), next))
        })
        .await
    }
}

impl Walk {
    /// The entries of a page, with the tags of their descriptions if requested.
    fn entries(&self, store: &Store) -> cenote_store::Result<(WalkPage, Vec<Option<[u8; 32]>>)> {
        let (limit, after) = (self.left.min(PAGE), self.after.as_ref());
        if self.described {
            return store.walk_described(&self.caller, &self.at, after, limit);
        }
        let page = store.walk(&self.caller, &self.at, after, limit)?;
        let none = vec![None; page.entries.len()];
        Ok((page, none))
    }
}
