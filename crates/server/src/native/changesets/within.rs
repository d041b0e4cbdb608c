//! Requests that are part of a change set: `Cenote-Changeset: ID`.
//!
//! Invariant: such a request has no effect outside of its change set. The routes run on an [`App`] whose store is the change set,
//! and only those that are listed here; every other one refuses the header.

use axum::Router;
use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use cenote_store::ChangeSetId;
use tower::ServiceExt;

use crate::app::App;
use crate::layer::{Admission, caller_of, unrouted};
use crate::problem::{Problem, ProblemKind};

const HEADER: HeaderName = HeaderName::from_static("cenote-changeset");

/// The routes that run in a change set, with their methods; `GET` stands for `HEAD`, too.
const ROUTES: &[(&str, &[&str])] = &[
    ("/v1/fs", &["GET", "PUT", "PATCH", "DELETE"]),
    ("/v1/fs/", &["GET", "PUT", "PATCH", "DELETE"]),
    ("/v1/fs/{*path}", &["GET", "PUT", "PATCH", "DELETE"]),
    ("/v1/access", &["GET", "POST"]),
    ("/v1/access/why", &["GET"]),
    ("/v1/archive", &["GET", "POST"]),
    ("/v1/attributes", &["PATCH"]),
    ("/v1/batch", &["POST"]),
    ("/v1/copy", &["POST"]),
    ("/v1/create", &["POST"]),
    ("/v1/du", &["GET"]),
    ("/v1/graph", &["GET", "PUT"]),
    ("/v1/gsd", &["GET"]),
    ("/v1/gsd/chunk", &["GET"]),
    ("/v1/key", &["GET", "PUT", "DELETE"]),
    ("/v1/keys", &["GET"]),
    ("/v1/links", &["GET"]),
    ("/v1/list", &["GET"]),
    ("/v1/list/brief", &["GET"]),
    ("/v1/meta", &["GET", "POST"]),
    ("/v1/meta/copy", &["POST"]),
    ("/v1/move", &["POST"]),
    ("/v1/search", &["POST"]),
    ("/v1/shared", &["GET"]),
    ("/v1/stat", &["GET", "POST"]),
    ("/v1/trash", &["GET"]),
    ("/v1/trash/empty", &["POST"]),
    ("/v1/trash/restore", &["POST"]),
    ("/v1/uploads/{id}/complete", &["POST"]),
    ("/v1/versions", &["GET", "POST"]),
    ("/v1/walk", &["GET"]),
    ("/v1/whoami", &["GET"]),
    ("/v1/xattr", &["GET", "PUT", "DELETE"]),
    ("/v1/xattrs", &["GET"]),
];

/// Runs a request that names a change set in it: on `routes`, with an [`App`] of its own.
pub(crate) async fn within(
    State((app, routes)): State<(App, Router<App>)>,
    request: Request,
    next: Next,
) -> Response {
    let Some(id) = request.headers().get(HEADER).cloned() else { return next.run(request).await };
    run(&app, routes, &id, request).await.unwrap_or_else(IntoResponse::into_response)
}

async fn run(
    app: &App,
    routes: Router<App>,
    id: &HeaderValue,
    request: Request,
) -> Result<Response, Problem> {
    require_listed(&request)?;
    let id: ChangeSetId = id.to_str().unwrap_or_default().parse()?;
    let caller = caller_of(&request)?;
    let admission = Admission::of(request.extensions())?;
    let within = admission.aside(app.store().within(&caller, id)).await??;
    let routes = routes.with_state(app.on((*within).clone()));
    let Ok(response) = routes.oneshot(unrouted(request)).await;
    Ok(response)
}

/// Refuses the header where it would have no effect.
pub(crate) async fn refuse(request: Request, next: Next) -> Response {
    match request.headers().contains_key(HEADER) {
        true => not_here().into_response(),
        false => next.run(request).await,
    }
}

fn require_listed(request: &Request) -> Result<(), Problem> {
    let method = match *request.method() {
        Method::HEAD => "GET",
        ref method => method.as_str(),
    };
    let route = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    let listed = ROUTES.iter().find(|(path, _)| *path == route);
    match listed.is_some_and(|(_, methods)| methods.contains(&method)) {
        true => Ok(()),
        false => Err(not_here()),
    }
}

fn not_here() -> Problem {
    Problem::new(ProblemKind::Changeset, "this route cannot be used in a change set").with_hint(
        "make the request without the header Cenote-Changeset: it then takes effect at once",
    )
}
