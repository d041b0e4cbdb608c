//! From a request to the method that it calls.
//!
//! The order of the checks: route, media type, caller, body, method. A caller without a valid token learns only that.

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, header};
use axum::response::{IntoResponse, Response};
use cenote_store::{Caller, Store};
use serde_json::Value;

use super::fault::{ErrorType, Fault};
use super::input;
use super::question::Call;
use super::whole;
use crate::app::App;
use crate::dnanexus::id::is_class;
use crate::dnanexus::{data, login, methods};
use crate::layer::{Admission, NotGathered, gather, identified, is_cross_site, peer};
use crate::router::no_route;

/// The header that forbids a browser to guess what an answer is.
const NOSNIFF: (HeaderName, HeaderValue) =
    (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));

/// The header by which clients of the protocol identify themselves.
const VERSION: HeaderName = HeaderName::from_static("dnanexus-api");

/// Answers every call: `POST /RESOURCE/METHOD`.
pub(crate) async fn answer(
    State(app): State<App>,
    Path((resource, method)): Path<(String, String)>,
    request: Request,
) -> Response {
    let class = resource.split_once('-').map_or(resource.as_str(), |(class, _)| class);
    let is_of_api = class == "system" || is_class(class);
    if !is_of_api && !request.headers().contains_key(VERSION) {
        return no_route(request.uri().clone()).await.into_response();
    }
    let answer = match *request.method() {
        Method::POST => call(app, &resource, &method, request).await,
        _ => Err(Fault::missing("methods are called with POST")),
    };
    let mut response = match answer {
        Ok(value) => Json(value).into_response(),
        Err(fault) => fault.into_response(),
    };
    response.headers_mut().insert(NOSNIFF.0, NOSNIFF.1);
    response
}

async fn call(app: App, resource: &str, method: &str, request: Request) -> Result<Value, Fault> {
    if is_cross_site(&request) {
        return Err(Fault::denied(crate::layer::CROSS_SITE));
    }
    let (parts, body) = request.into_parts();
    require_json(&parts.headers)?;
    let admission = Admission::of(&parts.extensions)?;
    if (resource, method) == ("system", "newAuthToken") {
        let nobody = app.quick(Store::anonymous)?;
        admission.enter(&nobody)?;
        let input = read(&app, &admission, body).await?;
        return login::begin(&app, &input, peer(&parts.extensions)).await;
    }
    let caller = caller(&app, &parts).await?;
    admission.enter(&caller)?;
    let input = read(&app, &admission, body).await?;
    let call = Call::new(app, caller, &parts, input);
    if method == "close" && resource.starts_with("file-") {
        let file = resource.to_owned();
        let id = call.clone().blocking(move |call| call.object_id(&file)).await?;
        return data::close::close(call, id).await;
    }
    let (resource, method) = (resource.to_owned(), method.to_owned());
    match whole::is_whole(&call, &method) {
        true => whole::run(call, resource, method).await,
        false => run(&call, resource, method).await,
    }
}

/// Runs a method; once more if it showed files whose MD5 had to be computed. Only methods that change nothing show any.
async fn run(call: &Call, resource: String, method: String) -> Result<Value, Fault> {
    let named = std::sync::Arc::new((resource, method));
    let once = || {
        let named = std::sync::Arc::clone(&named);
        call.blocking(move |call| methods::run(call, &named.0, &named.1))
    };
    let answer = once().await?;
    match data::unhashed::compute(call).await {
        true => once().await,
        false => Ok(answer),
    }
}

/// Reads the input of a call.
async fn read(app: &App, admission: &Admission, body: Body) -> Result<Value, Fault> {
    let body = gather(admission, body, app.limits().json_bytes).await.map_err(|why| match why {
        NotGathered::TooLarge(most) => {
            Fault::input(format!("the input is larger than {most} bytes"))
        }
        NotGathered::Early(error) => {
            Fault::new(ErrorType::MalformedJson, format!("the input ended early: {error}"))
        }
        NotGathered::Refused(problem) => problem.into(),
    })?;
    input::parse(&body)
}

/// Refuses a body with another media type than JSON.
fn require_json(headers: &HeaderMap) -> Result<(), Fault> {
    let Some(media_type) = headers.get(header::CONTENT_TYPE) else { return Ok(()) };
    let essence = media_type.to_str().unwrap_or_default().split(';').next().unwrap_or_default();
    match essence.trim().eq_ignore_ascii_case("application/json") {
        true => Ok(()),
        false => Err(Fault::new(ErrorType::MalformedJson, "the input must be application/json")),
    }
}

/// The caller, by the token that is shown; programs of the store may show a password.
pub(crate) async fn caller(app: &App, parts: &Parts) -> Result<Caller, Fault> {
    let local = parts.extensions.get().cloned();
    let shown = (&parts.headers, peer(&parts.extensions));
    identified(app, local, shown).await?.ok_or_else(unknown)
}

fn unknown() -> Fault {
    Fault::new(ErrorType::InvalidAuthentication, "the token could not be found")
}

/// The token that is shown.
pub(crate) fn token(headers: &HeaderMap) -> Result<&str, Fault> {
    let shown = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let (scheme, token) = shown.and_then(|text| text.split_once(' ')).ok_or_else(unknown)?;
    match scheme.eq_ignore_ascii_case("bearer") {
        true => Ok(token.trim()),
        false => Err(unknown()),
    }
}
