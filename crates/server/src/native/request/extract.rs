//! What handlers take from a request, refused in this opening's own words if it is wrong.

use axum::extract::{FromRequest, FromRequestParts, Path, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use cenote_store::ErrorKind;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::app::App;
use crate::layer::{Admission, NotGathered, gather};
use crate::problem::{Problem, ProblemKind};

/// A JSON body, of a request or of an answer.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        if !is_json(request.headers()) {
            return Err(Problem::new(ProblemKind::MediaType, "the body must be JSON")
                .with_hint("send it with `Content-Type: application/json`"));
        }
        let bytes = small_body(request, app).await?;
        let value = serde_json::from_slice(&bytes);
        value.map(Self).map_err(|error| Problem::invalid(format!("invalid body: {error}")))
    }
}

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        axum::Json(self.0).into_response()
    }
}

fn is_json(headers: &HeaderMap) -> bool {
    let essence = essence(headers);
    essence.eq_ignore_ascii_case("application/json") || essence.ends_with("+json")
}

/// Refuses a body without the media type of a tar archive. A page of another site can send only other types
/// without being asked for permission first.
pub(crate) fn require_tar(headers: &HeaderMap) -> Result<(), Problem> {
    match essence(headers).eq_ignore_ascii_case("application/x-tar") {
        true => Ok(()),
        false => Err(Problem::new(ProblemKind::MediaType, "the body must be a tar archive")
            .with_hint("send it with `Content-Type: application/x-tar`")),
    }
}

/// The media type of a body, without its parameters.
fn essence(headers: &HeaderMap) -> &str {
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    media_type.and_then(|text| text.split(';').next()).unwrap_or_default().trim()
}

/// A body that is kept in memory, up to the limit of the configuration.
pub(crate) async fn small_body(request: Request, app: &App) -> Result<Bytes, Problem> {
    let admission = Admission::of(request.extensions())?;
    let gathered = gather(&admission, request.into_body(), app.limits().json_bytes).await;
    gathered.map_err(|why| match why {
        NotGathered::TooLarge(most) => {
            let kind = ProblemKind::Store(ErrorKind::TooLarge);
            Problem::new(kind, format!("the body is larger than {most} bytes"))
                .with_hint("split the request into smaller ones")
        }
        NotGathered::Early(error) => Problem::invalid(format!("the body ended early: {error}")),
        NotGathered::Refused(problem) => problem,
    })
}

/// A part of the route.
#[derive(Debug)]
pub(crate) struct Segment<T>(pub(crate) T);

impl<T: DeserializeOwned + Send> FromRequestParts<App> for Segment<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let segment = Path::<T>::from_request_parts(parts, app).await;
        let rejected = |error: axum::extract::rejection::PathRejection| error.body_text();
        segment.map(|Path(value)| Self(value)).map_err(|error| Problem::invalid(rejected(error)))
    }
}
