//! The DNAnexus opening: the part of the DNAnexus API that `dx`, dxpy and dxfuse use of a store of files, over the same tree,
//! descriptions and access as every other opening (`docs/dnanexus.md`, `docs/adr/0017-dnanexus.md`).
//!
//! * `call` turns a request into a call of a method, and its outcome into a response; `call::fault` has the types of errors, and
//!   every translation into them; `methods` is the table of methods;
//! * `id` has the ids, `note` the notes about resources, `name` the names of objects in the tree;
//! * `login` has logins by password; `project` and `object` have the methods of projects and objects, `find` those that look for them, `data` the bytes.

mod call;
mod data;
mod fields;
mod find;
mod id;
mod login;
mod methods;
mod name;
mod note;
mod object;
mod project;
mod system;
mod words;

use axum::Router;
use axum::routing::{any, get, put};

pub(crate) use self::data::SHARED;
use crate::app::App;

/// All routes of this opening.
pub(crate) fn router() -> Router<App> {
    Router::new()
        .route("/{resource}/{method}", any(call::endpoint::answer))
        .route("/dnanexus/parts/{file}/{number}", put(data::upload::put))
        .route("/dnanexus/files/{file}/{name}", get(data::read::read))
        .route("/dnanexus/shared/{ticket}/{file}/{name}", get(data::read::read_shared))
}
