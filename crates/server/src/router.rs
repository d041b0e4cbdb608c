//! The router: every opening, and what the server says of itself.

use axum::Router;
use axum::http::{Method, Uri};
use axum::middleware::{from_fn, from_fn_with_state};
use cenote_store::Store;

use crate::app::App;
use crate::config::Config;
use crate::layer::{observe, refuse_ambiguous};
use crate::native::refuse_changeset;
use crate::problem::{Problem, ProblemKind};
use crate::{dnanexus, irods, ldp, native, sparql, status};

/// The whole server as a service, without a socket: the program runs it in its own process for a store in a local
/// directory, and tests do. The settings for sockets and the log are ignored.
pub fn router(store: Store, config: &Config) -> Router {
    app_router(App::new(store, config.clone()))
}

pub(crate) fn app_router(app: App) -> Router {
    let others = irods::router().merge(ldp::router(&app)).merge(sparql::router(&app));
    let others = others.merge(dnanexus::router()).merge(status::router());
    let others = others.layer(from_fn(refuse_changeset));
    native::router(&app)
        .merge(others)
        .fallback(no_route)
        .method_not_allowed_fallback(no_method)
        .layer(from_fn(refuse_ambiguous))
        .layer(from_fn_with_state(app.clone(), observe))
        .with_state(app)
}

pub(crate) async fn no_route(uri: Uri) -> Problem {
    Problem::new(ProblemKind::NoRoute, format!("no such route: {:.128}", uri.path()))
        .with_hint("see /openapi.json")
}

async fn no_method(method: Method, uri: Uri) -> Problem {
    let detail = format!("{method:.16} is not a method of {:.128}", uri.path());
    Problem::new(ProblemKind::Method, detail).with_hint("see the Allow header, or /openapi.json")
}
