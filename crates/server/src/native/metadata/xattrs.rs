//! Extended attributes: attributes with one value of any bytes each, as file systems have them.

use axum::extract::{Request, State};
use axum::http::{HeaderMap, header};
use axum::response::Response;
use cenote_store::{At, Xattr};

use crate::app::App;
use crate::layer::{Changer, Viewer, Writer};
use crate::native::json::{Resource, Target, XattrQuery, Xattrs};
use crate::native::request::address::About;
use crate::native::request::conditional::{answer_description, write_conditions};
use crate::native::request::extract::{Json, small_body};
use crate::problem::Problem;

/// The extended attributes of a resource, with their values, by name.
#[utoipa::path(get, path = "/v1/xattrs", tag = "metadata", params(Target),
    responses((status = 200, body = Xattrs), (status = 304, description = "The client has the current state")))]
pub(crate) async fn list(
    State(app): State<App>,
    Viewer(caller): Viewer,
    at: At,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (stat, graph) = app.blocking(move |store| store.graph(&caller, &at)).await?;
    let items = Xattr::all(&graph).into_iter().map(Into::into).collect();
    answer_description(&headers, &stat, &graph, Json(Xattrs { items }))
}

/// The bytes of one.
#[utoipa::path(get, path = "/v1/xattr", tag = "metadata", params(Target, XattrQuery),
    responses((status = 200, body = Vec<u8>, content_type = "application/octet-stream"),
        (status = 304, description = "The client has the current state")))]
pub(crate) async fn read(
    State(app): State<App>,
    Viewer(caller): Viewer,
    About(at, XattrQuery { name }): About<XattrQuery>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let (stat, part, value) = app.blocking(move |store| store.xattr(&caller, &at, &name)).await?;
    let bytes = ([(header::CONTENT_TYPE, "application/octet-stream")], value);
    answer_description(&headers, &stat, &part, bytes)
}

/// Sets one, replacing all values of the attribute. `If-None-Match: *` sets it only if there is none with this name,
/// `If-Match: *` only if there is one; any other tag is that of the description or of the state.
#[utoipa::path(put, path = "/v1/xattr", tag = "metadata", params(Target, XattrQuery),
    request_body(content = Vec<u8>, content_type = "application/octet-stream"),
    responses((status = 200, body = Resource)))]
pub(crate) async fn put(
    State(app): State<App>,
    Writer(caller): Writer,
    About(at, XattrQuery { name }): About<XattrQuery>,
    headers: HeaderMap,
    request: Request,
) -> Result<Json<Resource>, Problem> {
    let conditions = write_conditions(&headers)?;
    let xattr = Xattr { name, value: small_body(request, &app).await? };
    app.blocking(move |store| {
        let stat = store.set_xattr(&caller, &at, &xattr, &conditions)?;
        Ok(Json(Resource::changed(&stat, store, &caller)?))
    })
    .await
}

/// Removes one; the conditions are those of a PUT.
#[utoipa::path(delete, path = "/v1/xattr", tag = "metadata", params(Target, XattrQuery),
    responses((status = 200, body = Resource)))]
pub(crate) async fn remove(
    State(app): State<App>,
    Changer(caller): Changer,
    About(at, XattrQuery { name }): About<XattrQuery>,
    headers: HeaderMap,
) -> Result<Json<Resource>, Problem> {
    let conditions = write_conditions(&headers)?;
    app.blocking(move |store| {
        let stat = store.remove_xattr(&caller, &at, &name, &conditions)?;
        Ok(Json(Resource::changed(&stat, store, &caller)?))
    })
    .await
}
