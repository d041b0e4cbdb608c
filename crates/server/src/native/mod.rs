//! The native opening: HTTP with JSON and bytes, for the program, the mount, Python, R and the
//! web page. `docs/native-api.md` describes how its routes belong together.
//!
//! A room per family of routes, with one file per resource of the API; `json` has the forms of all bodies, `request` what
//! handlers take from a request. Each route documents itself to `/openapi.json`.

mod access;
mod bulk;
mod changes;
mod changesets;
mod contents;
mod gsd;
mod json;
mod keys;
mod metadata;
mod openapi;
mod operate;
mod past;
mod request;
mod tree;

use axum::Router;
use axum::http::HeaderName;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::get;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use self::changesets::within::refuse as refuse_changeset;
pub(crate) use self::request::cursor::CursorSeal;
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
    let router = router.route("/v1/fs", bytes()).route("/v1/fs/", bytes());
    let sets = (app.clone(), router.clone());
    router
        .layer(from_fn_with_state(sets, changesets::within::within))
        .layer(from_fn_with_state(app.clone(), authenticate))
        .layer(from_fn(refuse_cross_site))
        .route("/openapi.json", get(async || openapi::answer(description)))
}

/// Routes that continue for as long as bytes move.
fn streams() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(
            contents::read::read,
            contents::write::put,
            contents::write::patch,
            tree::remove::remove
        ))
        .routes(routes!(tree::walk::walk))
        .routes(routes!(past::content))
        .routes(routes!(past::walk::walk))
        .routes(routes!(past::walk::search))
        .routes(routes!(past::archive::archive))
        .routes(routes!(bulk::batch::batch))
        .routes(routes!(bulk::archive::archive, bulk::archive::archive_of))
        .routes(routes!(operate::check::check))
        .routes(routes!(operate::backup::rows))
        .routes(routes!(operate::backup::blob))
        .routes(routes!(operate::quotas::list, operate::quotas::set, operate::quotas::remove))
        .routes(routes!(contents::uploads::put_part))
        .routes(routes!(contents::stages::read, contents::stages::patch))
        .routes(routes!(contents::leases::read_leased))
        .routes(routes!(tree::usage::usage))
        .routes(routes!(tree::trash::empty))
        .routes(routes!(changes::changes))
        .routes(routes!(gsd::chunk))
        .routes(routes!(contents::replicas::list, contents::replicas::replicate))
        .routes(routes!(contents::replicas::trim))
        .routes(routes!(contents::replicas::register))
}

/// The routes of the plain address, for a resource that is named in the query.
fn bytes() -> axum::routing::MethodRouter<App> {
    get(contents::read::read)
        .put(contents::write::put)
        .patch(contents::write::patch)
        .delete(tree::remove::remove)
}

/// Routes that answer within a time.
fn answers() -> OpenApiRouter<App> {
    OpenApiRouter::default()
        .routes(routes!(changesets::begin, changesets::list))
        .routes(routes!(changesets::read, changesets::extend, changesets::drop_set))
        .routes(routes!(changesets::commit))
        .routes(routes!(tree::stat::stat, tree::stat::stat_many))
        .routes(routes!(tree::list::list))
        .routes(routes!(tree::list::list_brief))
        .routes(routes!(tree::create::create))
        .routes(routes!(tree::relocate::relocate))
        .routes(routes!(tree::relocate::copy))
        .routes(routes!(tree::attributes::set))
        .routes(routes!(metadata::meta::read, metadata::meta::change))
        .routes(routes!(metadata::meta::copy))
        .routes(routes!(metadata::graph::read, metadata::graph::replace))
        .routes(routes!(metadata::xattrs::list))
        .routes(routes!(metadata::xattrs::read, metadata::xattrs::put, metadata::xattrs::remove))
        .routes(routes!(metadata::search::search))
        .routes(routes!(metadata::links::links))
        .routes(routes!(tree::shared::shared))
        .routes(routes!(tree::trash::list))
        .routes(routes!(tree::trash::restore))
        .routes(routes!(keys::list))
        .routes(routes!(keys::read, keys::put, keys::remove))
        .routes(routes!(access::lists::read, access::lists::change))
        .routes(routes!(access::explain::why))
        .routes(routes!(contents::leases::make))
        .routes(routes!(contents::leases::renew, contents::leases::end))
        .routes(routes!(contents::uploads::begin))
        .routes(routes!(contents::uploads::read, contents::uploads::abandon))
        .routes(routes!(contents::uploads::complete))
        .routes(routes!(contents::versions::list, contents::versions::change))
        .routes(routes!(contents::versions::compare))
        .routes(routes!(past::position))
        .routes(routes!(past::restore::restore))
        .routes(routes!(past::stat))
        .routes(routes!(past::list))
        .routes(routes!(past::meta))
        .routes(routes!(access::tickets::list, access::tickets::add, access::tickets::remove))
        .routes(routes!(access::tokens::list, access::tokens::add, access::tokens::revoke))
        .routes(routes!(
            access::people::users,
            access::people::add_user,
            access::people::change_user,
            access::people::remove_user
        ))
        .routes(routes!(
            access::people::groups,
            access::people::add_group,
            access::people::change_group,
            access::people::remove_group
        ))
        .routes(routes!(
            operate::places::list,
            operate::places::add,
            operate::places::change,
            operate::places::remove
        ))
        .routes(routes!(operate::places::drain))
        .routes(routes!(operate::places::job))
        .routes(routes!(operate::scrub::status, operate::scrub::start))
        .routes(routes!(operate::upgrade::upgrade))
        .routes(routes!(access::people::whoami))
        .routes(routes!(tree::usage::stats))
        .routes(routes!(gsd::index))
}
