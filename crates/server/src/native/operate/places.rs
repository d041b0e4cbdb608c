//! Places for contents, and the jobs that move bytes between them.

use axum::extract::State;
use axum::http::StatusCode;
use cenote_store::{Act, Caller, Error, ErrorKind, PlaceChange, Store};

use crate::app::App;
use crate::layer::{Changer, Viewer};
use crate::native::json;
use crate::native::json::{ChangePlace, Drain, Job, Named, NewPlace, PlaceView, Places};
use crate::native::request::extract::{Json, Segment};
use crate::native::request::query::Params;
use crate::problem::Problem;

/// All places.
#[utoipa::path(get, path = "/v1/places", tag = "places", responses((status = 200, body = Places)))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
) -> Result<Json<Places>, Problem> {
    caller.require(Act::Names)?;
    app.blocking(move |store| Ok(Json(Places { items: json::places(store, &caller)? }))).await
}

/// Adds a place or a group.
#[utoipa::path(post, path = "/v1/places", tag = "places", request_body = NewPlace,
    responses((status = 201, body = PlaceView)))]
pub(crate) async fn add(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<NewPlace>,
) -> Result<(StatusCode, Json<PlaceView>), Problem> {
    let NewPlace { name, address, group, default, properties } = question;
    app.blocking(move |store| {
        if default && address.is_none() {
            return Err(Error::new(
                ErrorKind::Invalid,
                "a new group has no place that accepts contents",
            )
            .with_hint("create it, add places to it, then make it the default"));
        }
        let parent = group.as_deref().map(|group| store.place_named(&caller, group)).transpose()?;
        let new = cenote_store::NewPlace { name: name.clone(), address, parent, properties };
        let id = store.add_place(&caller, &new)?;
        if default {
            store.set_default_place(&caller, id)?;
        }
        Ok((StatusCode::CREATED, Json(place_view(store, &caller, &name)?)))
    })
    .await
}

/// Changes a place.
#[utoipa::path(patch, path = "/v1/places", tag = "places", request_body = ChangePlace,
    responses((status = 200, body = PlaceView)))]
pub(crate) async fn change(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<ChangePlace>,
) -> Result<Json<PlaceView>, Problem> {
    app.blocking(move |store| {
        let id = store.place_named(&caller, &question.name)?;
        let name = question.rename.clone().unwrap_or_else(|| question.name.clone());
        let default = question.default;
        store.change_place(&caller, id, &change_of(store, &caller, question)?)?;
        if default {
            store.set_default_place(&caller, id)?;
        }
        Ok(Json(place_view(store, &caller, &name)?))
    })
    .await
}

fn change_of(
    store: &Store,
    caller: &Caller,
    question: ChangePlace,
) -> cenote_store::Result<PlaceChange> {
    let parent = match question.group.as_deref() {
        None => None,
        Some("") => Some(None),
        Some(group) => Some(Some(store.place_named(caller, group)?)),
    };
    Ok(PlaceChange {
        name: question.rename,
        address: question.address,
        parent,
        state: question.state.map(Into::into),
        properties: question.properties,
    })
}

/// Forgets a place that holds nothing.
#[utoipa::path(delete, path = "/v1/places", tag = "places", params(Named),
    responses((status = 204, description = "Removed")))]
pub(crate) async fn remove(
    State(app): State<App>,
    Changer(caller): Changer,
    Params(Named { name }): Params<Named>,
) -> Result<StatusCode, Problem> {
    let id = app.quick(|store| store.place_named(&caller, &name))?;
    app.store().remove_place(&caller, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Closes a place, and moves all that it holds to another one, as a job.
#[utoipa::path(post, path = "/v1/drain", tag = "places", request_body = Drain,
    responses((status = 202, body = Job)))]
pub(crate) async fn drain(
    State(app): State<App>,
    Changer(caller): Changer,
    Json(question): Json<Drain>,
) -> Result<(StatusCode, Json<Job>), Problem> {
    app.blocking(move |store| {
        let from = store.place_named(&caller, &question.name)?;
        let to = question.to.as_deref().map(|to| store.place_named(&caller, to)).transpose()?;
        let job = store.drain_place(&caller, from, to)?;
        Ok((StatusCode::ACCEPTED, Json(job.into())))
    })
    .await
}

/// How far a job has come.
#[utoipa::path(get, path = "/v1/jobs/{id}", tag = "places", params(("id" = u64, Path)),
    responses((status = 200, body = Job)))]
pub(crate) async fn job(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Segment(id): Segment<u64>,
) -> Result<Json<Job>, Problem> {
    app.blocking(move |store| Ok(Json(store.job(&caller, id)?.into()))).await
}

fn place_view(store: &Store, caller: &Caller, name: &str) -> cenote_store::Result<PlaceView> {
    let place = json::places(store, caller)?.into_iter().find(|place| place.name == name);
    place.ok_or_else(|| {
        cenote_store::Error::new(
            ErrorKind::Conflict,
            format!("it was changed in the meantime: {name}"),
        )
    })
}
