//! The native opening: HTTP with JSON and bytes, for the program, the mount, Python, R and the
//! web page. `docs/native-api.md` tells how its routes belong together.
//!
//! One file per family of routes; `json` has the forms of all bodies, `extract`, `query` and
//! `address` what handlers take from a request. Each route documents itself to `/openapi.json`.

mod accept;
mod access;
mod address;
mod archive;
mod archive_entry;
mod attributes;
mod batch;
mod batch_entry;
mod batch_header;
mod changes;
mod check;
mod conditional;
mod create;
mod cursor;
mod digest;
mod explain;
mod extract;
mod graph;
mod gsd;
mod json;
mod keys;
mod links;
mod list;
mod meta;
mod openapi;
mod people;
mod places;
mod query;
mod range;
mod read;
mod relocate;
mod remove;
mod replicas;
mod scrub;
mod search;
mod shared;
mod stat;
mod tickets;
mod tokens;
mod trash;
mod uploads;
mod usage;
mod versions;
mod write;

use axum::Router;
use axum::http::HeaderName;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use self::cursor::CursorSeal;
use crate::app::App;
use crate::layer::{authenticate, refuse_cross_site, time_limit};

/// The id of a resource whose bytes are sent.
const ID: HeaderName = HeaderName::from_static("cenote-id");
/// Its kind.
const KIND: HeaderName = HeaderName::from_static("cenote-kind");

/// The id under which what was removed can be restored, and until when.
const TRASH: HeaderName = HeaderName::from_static("cenote-trash");
const TRASH_UNTIL: HeaderName = HeaderName::from_static("cenote-trash-until");

/// All routes of the opening, and their description.
pub(crate) fn router(app: &App) -> Router<App> {
    let answers = answers().layer(from_fn_with_state(app.clone(), time_limit));
    let routes = streams().merge(answers);
    let (router, description) = routes.split_for_parts();
    let description = openapi::document(description);
    router
        .route("/v1/fs", bytes())
        .route("/v1/fs/", bytes())
        .layer(from_fn_with_state(app.clone(), authenticate))
        .layer(from_fn(refuse_cross_site))
        .route("/openapi.json", get(async || openapi::answer(description)))
}

/// Routes that go on for as long as bytes move.
fn streams() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(read::read, write::put, write::patch, remove::remove))
        .routes(routes!(list::walk))
        .routes(routes!(batch::batch))
        .routes(routes!(archive::archive, archive::archive_of))
        .routes(routes!(check::check))
        .routes(routes!(uploads::put_part))
        .routes(routes!(usage::usage))
        .routes(routes!(trash::empty))
        .routes(routes!(changes::changes))
        .routes(routes!(gsd::chunk))
        .routes(routes!(replicas::list, replicas::replicate))
        .routes(routes!(replicas::trim))
        .routes(routes!(replicas::register))
}

/// The routes of the plain address, for a resource that is named in the query.
fn bytes() -> axum::routing::MethodRouter<App> {
    get(read::read).put(write::put).patch(write::patch).delete(remove::remove)
}

/// Routes that answer within a time.
fn answers() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(stat::stat, stat::stat_many))
        .routes(routes!(list::list))
        .routes(routes!(create::create))
        .routes(routes!(relocate::relocate))
        .routes(routes!(relocate::copy))
        .routes(routes!(attributes::set))
        .routes(routes!(meta::read, meta::change))
        .routes(routes!(meta::copy))
        .routes(routes!(graph::read, graph::replace))
        .routes(routes!(search::search))
        .routes(routes!(links::links))
        .routes(routes!(shared::shared))
        .routes(routes!(trash::list))
        .routes(routes!(trash::restore))
        .routes(routes!(keys::list))
        .routes(routes!(keys::read, keys::put, keys::remove))
        .routes(routes!(access::read, access::change))
        .routes(routes!(explain::why))
        .routes(routes!(uploads::begin))
        .routes(routes!(uploads::read, uploads::abandon))
        .routes(routes!(uploads::complete))
        .routes(routes!(versions::list, versions::change))
        .routes(routes!(tickets::list, tickets::add, tickets::remove))
        .routes(routes!(tokens::list, tokens::add, tokens::revoke))
        .routes(routes!(people::users, people::add_user, people::change_user, people::remove_user))
        .routes(routes!(
            people::groups,
            people::add_group,
            people::change_group,
            people::remove_group
        ))
        .routes(routes!(places::list, places::add, places::change, places::remove))
        .routes(routes!(places::drain))
        .routes(routes!(places::job))
        .routes(routes!(scrub::status, scrub::start))
        .routes(routes!(people::whoami))
        .routes(routes!(usage::stats))
        .routes(routes!(gsd::index))
}
