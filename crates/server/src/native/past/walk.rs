//! All that was below a collection, or what a search finds of it, as one stream.

use axum::body::Body;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_store::{PastSearch, PastWalk, Store, StorePath};
use futures_util::{Stream, stream};

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json::{self, Names, PastLine, PastQuery, PastWalkQuery};
use crate::native::metadata::search::condition;
use crate::native::request::extract::Json;
use crate::native::request::query::{And, Params};
use crate::problem::Problem;

/// Resources in one page of a stream.
const PAGE: usize = 1_000;

/// All that was below a collection at a moment, one resource a line, in path order: names are compared as bytes, and a collection comes
/// before what was in it. A walk that was broken off, or ended at its limit, continues with the path of its last line as `after`.
#[utoipa::path(get, path = "/v1/past/walk", tag = "past", params(PastQuery, PastWalkQuery),
    responses((status = 200, body = PastLine, content_type = "application/x-ndjson")))]
pub(crate) async fn walk(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Params(And(query, part)): Params<And<PastQuery, PastWalkQuery>>,
) -> Result<Response, Problem> {
    let path: StorePath = query.path.parse()?;
    let after = part.after.map(|after| after.parse()).transpose()?;
    let begin =
        move |store: &Store| store.walk_as_of(&caller, &path, query.as_of.0, after.as_ref());
    answer(app, begin, part.limit).await
}

/// What was below a collection at a moment, and for which all conditions held, one resource a line, in path order. What may have
/// matched, and is not kept, is `lost`.
#[utoipa::path(post, path = "/v1/past/search", tag = "past", request_body = json::PastSearch,
    responses((status = 200, body = PastLine, content_type = "application/x-ndjson")))]
pub(crate) async fn search(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Json(question): Json<json::PastSearch>,
) -> Result<Response, Problem> {
    let under = question.under.map_or_else(|| Ok(StorePath::root()), |under| under.parse())?;
    let search = PastSearch {
        under,
        moment: question.as_of.0,
        after: question.after.map(|after| after.parse()).transpose()?,
        conditions: question.conditions.into_iter().map(condition).collect::<Result<_, _>>()?,
        name: question.name,
        kind: question.kind.map(Into::into),
        text: question.text.map(|text| text.parse()).transpose()?,
    };
    let begin = move |store: &Store| store.search_as_of(&caller, &search);
    answer(app, begin, question.limit).await
}

/// Answers with the lines of a walk, as they come; an error before the first page is the answer.
async fn answer(
    app: App,
    begin: impl FnOnce(&Store) -> cenote_store::Result<PastWalk> + Send + 'static,
    limit: Option<u32>,
) -> Result<Response, Problem> {
    if limit == Some(0) {
        return Err(Problem::invalid("`limit` must be at least 1"));
    }
    let walk = app.blocking(begin).await?;
    let lines = Lines { app, walk, left: limit.map(|limit| limit as usize) };
    let first = lines.page().await?;
    let body = Body::from_stream(stream(first));
    Ok(([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response())
}

/// The lines of a walk in progress; no snapshot is held between its pages.
struct Lines {
    app: App,
    walk: PastWalk,
    /// How many lines may come still.
    left: Option<usize>,
}

impl Lines {
    /// The next lines, and the position of the walk after them.
    async fn page(mut self) -> Result<(Bytes, Self), Problem> {
        let app = self.app.clone();
        app.blocking(move |store| {
            let limit = self.left.map_or(PAGE, |left| left.min(PAGE));
            let entries = store.walk_further(&mut self.walk, limit)?;
            self.left = self.left.map(|left| left.saturating_sub(entries.len()));
            let (mut names, mut lines) = (Names::new(store), Vec::new());
            for entry in entries {
                let line = PastLine::of(entry, &mut names)?;
                serde_json::to_writer(&mut lines, &line).expect("a resource is JSON");
                lines.push(b'\n');
            }
            Ok((Bytes::from(lines), self))
        })
        .await
    }

    fn is_over(&self) -> bool {
        self.walk.is_over() || self.left == Some(0)
    }
}

/// A walk that fails midway interrupts the stream, which a client can tell from its end.
fn stream(first: (Bytes, Lines)) -> impl Stream<Item = Result<Bytes, std::io::Error>> {
    stream::unfold(Some(first), |state| async {
        let (bytes, lines) = state?;
        if lines.is_over() {
            return Some((Ok(bytes), None));
        }
        match lines.page().await {
            Ok(following) => Some((Ok(bytes), Some(following))),
            Err(problem) => Some((Err(std::io::Error::other(problem.to_string())), None)),
        }
    })
}
