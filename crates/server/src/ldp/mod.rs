//! The linked-data opening: LDP 1.0, LAKEsuperior's dialect of it and the Fedora API's, over the same tree, descriptions and access as
//! every other opening (`docs/ldp.md`).
//!
//! * `dialect` is the table of what the mount points do differently; no handler knows which one it serves.
//! * `request` reads what a request is about, prefers and requires; its `fault` is the one place that turns errors into statuses, its
//!   `transactions` has fcrepo's, as change sets of the store.
//! * `representation` is what a resource is shown as: `web` translates addresses, `model` kinds of resources, `vocabulary` the terms that
//!   the server manages; `filename` what bytes are called; `resource` and `members` compute the triples that are not in the description; `graph` writes the graph, `html` for people,
//!   `paging` in parts.
//! * `acl` shows and sets access lists in the words of Web Access Control.
//! * `versions` has their lists, mementos and dates.
//! * `fixity` compares bytes with the digests that are kept of them; `admin` has LAKEsuperior's pages for administrators.
//! * `search` has fcrepo's search.
//! * `notifications` shows changes as activities, and `publish` sends them to others: webhooks, and brokers.
//! * `outward` makes requests to other servers: `external` reads external content, where the settings allow it.
//! * `methods` has a file per method.

mod acl;
mod admin;
mod dialect;
mod external;
mod fixity;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzzing;
mod methods;
mod notifications;
mod outward;
mod publish;
mod representation;
mod request;
mod search;
mod versions;

use axum::Router;
use axum::extract::{Request, State};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{any, get};

pub use self::external::Allowed;
pub(crate) use self::publish::{Publication, maintain};
pub(crate) use self::versions::version_name;

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
        .route("/admin/{*path}", get(admin::answer))
        .layer(from_fn_with_state(app.clone(), authenticate))
        .layer(from_fn(refuse_cross_site))
        .route("/info/ldp_constraints", get(async || representation::managed::constraints()))
}

fn mount(dialect: &'static Dialect) -> axum::routing::MethodRouter<App> {
    any(move |State(app): State<App>, request: Request| {
        request::call::answer(app, dialect, request)
    })
}
