//! Backups of the whole store, for administrators.

use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use cenote_store::{Act, BlobId};

use crate::app::App;
use crate::layer::Viewer;
use crate::native::json::BackupQuery;
use crate::native::request::query::Params;
use crate::problem::Problem;

/// The rows of the catalog at one moment, in the form of a file of a backup (`docs/format.md`).
#[utoipa::path(get, path = "/v1/backup", tag = "status", params(BackupQuery),
    responses((status = 200, content_type = "application/octet-stream")))]
pub(crate) async fn rows(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Params(query): Params<BackupQuery>,
) -> Result<Response, Problem> {
    let backup = app.blocking(move |store| store.back_up(&caller)).await?;
    Ok((BYTES, Body::from_stream(backup.stream(query.hold))).into_response())
}

/// All bytes of a blob that a backup names.
#[utoipa::path(get, path = "/v1/backup/blobs/{blob}", tag = "status",
    params(("blob" = String, Path, description = "32 hexadecimal digits")),
    responses((status = 200, content_type = "application/octet-stream")))]
pub(crate) async fn blob(
    State(app): State<App>,
    Viewer(caller): Viewer,
    Path(blob): Path<String>,
) -> Result<Response, Problem> {
    caller.require(Act::BackUp)?;
    let id: BlobId =
        blob.parse().map_err(|_| Problem::invalid("a blob has 32 hexadecimal digits"))?;
    let (size, bytes) = app.store().in_place(|store| store.blob_of_backup(&caller, id))?;
    let length = [(header::CONTENT_LENGTH, size.to_string())];
    Ok((BYTES, length, Body::from_stream(bytes)).into_response())
}

const BYTES: [(header::HeaderName, &str); 1] = [(header::CONTENT_TYPE, "application/octet-stream")];
