//! Creating what has no content.

use axum::extract::State;
use axum::http::StatusCode;
use cenote_store::{CreateOptions, Draft, Store};

use crate::app::App;
use crate::layer::Changer;
use crate::native::json::{Creatable, Create, Resource};
use crate::native::request::address::destination;
use crate::native::request::extract::Json;
use crate::problem::Problem;

/// Creates a collection, a link or a description.
#[utoipa::path(post, path = "/v1/create", tag = "tree", request_body = Create,
    responses((status = 201, body = Resource)))]
pub(crate) async fn create(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(create): Json<Create>,
) -> Result<(StatusCode, Json<Resource>), Problem> {
    let to = destination(create.path.as_deref(), create.parent, create.name.as_deref())?;
    let draft = draft(create.kind, create.target)?;
    let options = CreateOptions {
        parents: create.parents,
        exist_ok: create.exist_ok,
        mode: mode(create.mode)?,
        mtime: create.mtime.map(|mtime| mtime.0),
    };
    let (alone, make) = (!options.parents, move |store: &Store| {
        let stat = store.create(&caller, &to, draft, options)?;
        let resource = Resource::changed(&stat, store, &caller)?;
        Ok((StatusCode::CREATED, Json(resource)))
    });
    if alone { app.commit(make) } else { app.blocking(make).await }
}

fn draft(kind: Creatable, target: Option<String>) -> Result<Draft, Problem> {
    match (kind, target) {
        (Creatable::Link, Some(target)) => Ok(Draft::Link(target)),
        (Creatable::Link, None) => Err(Problem::invalid("a link needs a `target`")),
        (_, Some(_)) => Err(Problem::invalid("only a link has a `target`")),
        (Creatable::Collection, None) => Ok(Draft::Collection),
        (Creatable::Description, None) => Ok(Draft::Description),
    }
}

/// Checks mode bits.
pub(crate) fn mode(mode: Option<u32>) -> Result<Option<u32>, Problem> {
    match mode {
        Some(mode) if mode > 0o7777 => Err(Problem::invalid("`mode` is at most 4095 (0o7777)")),
        mode => Ok(mode),
    }
}
