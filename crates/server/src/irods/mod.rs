//! The iRODS opening: the HTTP API that iRODS clients speak, over the same tree, users and
//! descriptions as every other opening (`docs/irods.md`).
//!
//! The zone is a name in front of the store's root: `/tempZone/home/ada` is `/home/ada`. Any
//! version in the address is accepted, since clients hard-code different ones.
//!
//! * `call` takes a request apart, `endpoint` finds who answers it;
//! * `rest` is the older interface, irods-rest, over the same operations;
//! * one file a family of operations; `code` has the numbers, and every translation into them.

mod answer;
mod call;
mod code;
mod collections;
mod data_objects;
mod endpoint;
mod form;
mod identity;
mod lpath;
mod metadata;
mod parallel;
mod permissions;
mod query;
mod read;
mod rest;
mod stat;
mod tickets;
mod trash;
mod users;
mod write;
mod zones;

use axum::Router;
use axum::routing::any;

use crate::app::App;

/// All routes of the opening.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/irods-http-api/{version}/{endpoint}", any(endpoint::answer))
        .route("/irods-rest/{version}/{*operation}", any(rest::answer))
}
