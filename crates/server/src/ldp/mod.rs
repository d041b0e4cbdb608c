//! The linked-data opening: LDP 1.0, LAKEsuperior's dialect of it and the Fedora API's, over the same tree, descriptions and access as
//! every other opening (`docs/ldp.md`).
//!
//! * `dialect` is the table of what the mount points do differently; no handler knows which one it serves.
//! * `target` and `web` translate addresses, `model` kinds of resources, `vocabulary` the terms that the server manages.
//! * `seen` and `members` compute what a representation has besides the description; `graph` writes it.
//! * `methods` has a file per method; `fault` is the one place that turns errors into statuses.

mod call;
mod conditions;
mod dialect;
mod digest;
mod fault;
mod graph;
mod headers;
mod managed;
mod members;
mod methods;
mod model;
mod prefer;
mod seen;
mod target;
mod vocabulary;
mod web;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get};

use self::dialect::Dialect;
use crate::app::App;
use crate::layer::{authenticate, refuse_cross_site};

/// All routes of this opening.
pub(crate) fn router(app: &App) -> Router<App> {
    let mounts = dialect::ALL.into_iter().fold(Router::new(), |router, dialect| {
        [String::new(), "/".to_owned(), "/{*path}".to_owned()]
            .iter()
            .fold(router, |router, rest| {
                router.route(&format!("{}{rest}", dialect.mount), mount(dialect))
            })
    });
    mounts
        .layer(from_fn_with_state(app.clone(), authenticate))
        .layer(from_fn(refuse_cross_site))
        .route("/info/ldp_constraints", get(async || managed::constraints()))
}

fn mount(dialect: &'static Dialect) -> axum::routing::MethodRouter<App> {
    any(move |State(app): State<App>, request: Request| call::answer(app, dialect, request))
}
