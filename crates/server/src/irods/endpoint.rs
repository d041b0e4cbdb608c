//! From a request to the operation that it calls.
//!
//! The order of the checks is that of the C++ server: endpoint, method, operation, who asks,
//! parameters.

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::{Bytes, BytesMut};
use cenote_store::{Caller, Expected, PlaceId, PutOptions, Received, StorePath};
use futures_util::TryStreamExt;
use http_body_util::{BodyExt, Limited};
use multer::{Field, Multipart};
use serde_json::{Value, json};

use super::answer::{self, Answer};
use super::call::{Call, host};
use super::code::Refusal;
use super::form::Form;
use super::target::Target;
use super::{
    collections, data_objects, identity, lpath, parallel, query, resources, rules, tickets, users,
    zones,
};
use crate::app::App;

/// The families of operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Endpoint {
    Collections,
    DataObjects,
    Query,
    Resources,
    Rules,
    Tickets,
    UsersGroups,
    Zones,
}

/// Answers every call.
pub(super) async fn answer(
    State(app): State<App>,
    Path((_, endpoint)): Path<(String, String)>,
    request: Request,
) -> Response {
    let endpoint = match endpoint.as_str() {
        "authenticate" if request.method() == Method::POST => {
            return respond(identity::log_in(&app, request.headers()).await);
        }
        "info" if request.method() == Method::GET => {
            return respond(info(&app, request.headers()).await);
        }
        "authenticate" | "info" => return StatusCode::METHOD_NOT_ALLOWED.into_response(),
        "collections" => Endpoint::Collections,
        "data-objects" => Endpoint::DataObjects,
        "query" => Endpoint::Query,
        "resources" => Endpoint::Resources,
        "rules" => Endpoint::Rules,
        "tickets" => Endpoint::Tickets,
        "users-groups" => Endpoint::UsersGroups,
        "zones" => Endpoint::Zones,
        _ => return StatusCode::NOT_FOUND.into_response(),
    };
    let changes = request.method() == Method::POST;
    let response = respond(call(&app, endpoint, request).await);
    if changes {
        app.changed().notify_waiters();
    }
    response
}

fn respond(answer: Answer) -> Response {
    answer.unwrap_or_else(IntoResponse::into_response)
}

async fn call(app: &App, endpoint: Endpoint, request: Request) -> Answer {
    if !matches!(*request.method(), Method::GET | Method::POST) {
        return Err(Refusal::Plain(StatusCode::METHOD_NOT_ALLOWED));
    }
    let post = request.method() == Method::POST;
    let host = host(&request);
    let headers = request.headers().clone();
    let (form, received, caller) = match (post, body_kind(endpoint, &headers)) {
        (false, _) => {
            let form = Form::decode(request.uri().query().unwrap_or_default().as_bytes());
            known(endpoint, post, &form)?;
            (form, None, identity::caller(app, &headers).await?)
        }
        (true, BodyKind::Form) => {
            let form = Form::decode(&small_body(app, request.into_body()).await?);
            known(endpoint, post, &form)?;
            (form, None, identity::caller(app, &headers).await?)
        }
        (true, BodyKind::Raw) => {
            let caller = identity::caller(app, &headers).await?;
            let form = form_of_headers(&headers);
            let received = receive(app, &caller, &form, request.into_body().into_data_stream());
            (form.clone(), Some(received.await?), caller)
        }
        (true, BodyKind::Parts(boundary)) => {
            let caller = identity::caller(app, &headers).await?;
            let parts = Multipart::new(request.into_body().into_data_stream(), boundary);
            let (form, received) = parts_of(app, &caller, parts).await?;
            (form, received, caller)
        }
        (true, BodyKind::Unknown) => return Err(Refusal::BAD),
    };
    let operation = known(endpoint, post, &form)?;
    let mut call = Call { app: app.clone(), caller, form, received };
    call.use_ticket(host, operation == "write").await?;
    dispatch(endpoint, &operation, call).await
}

async fn dispatch(endpoint: Endpoint, operation: &str, call: Call) -> Answer {
    match endpoint {
        Endpoint::Collections => collections::answer(operation, call).await,
        Endpoint::DataObjects => data_objects::answer(operation, call).await,
        Endpoint::Query => query::answer(operation, call).await,
        Endpoint::Resources => resources::answer(operation, call).await,
        Endpoint::Rules => rules::answer(operation, call).await,
        Endpoint::Tickets => tickets::answer(operation, call).await,
        Endpoint::UsersGroups => users::answer(operation, call).await,
        Endpoint::Zones => zones::answer(operation, call).await,
    }
}

/// The operation that a form names, if it exists; one that is not offered is status 501.
fn known(endpoint: Endpoint, post: bool, form: &Form) -> Result<String, Refusal> {
    let operation = form.text("op").ok_or(Refusal::BAD)?;
    let (offered, missing) = operations(endpoint, post);
    match (offered.contains(&operation), missing.contains(&operation)) {
        (true, _) => Ok(operation.to_owned()),
        (_, true) => Err(Refusal::Plain(StatusCode::NOT_IMPLEMENTED)),
        _ => Err(Refusal::BAD),
    }
}

/// The operations of an endpoint: those that are offered, and others that the API knows.
fn operations(
    endpoint: Endpoint,
    post: bool,
) -> (&'static [&'static str], &'static [&'static str]) {
    match (endpoint, post) {
        (Endpoint::Collections, false) => (&["list", "stat"], &[]),
        (Endpoint::Collections, true) => (collections::CHANGES, &[]),
        (Endpoint::DataObjects, false) => (&["read", "stat", "verify_checksum"], &[]),
        (Endpoint::DataObjects, true) => (data_objects::CHANGES, &[]),
        (Endpoint::Query, false) => (query::QUESTIONS, &["list_genquery_columns"]),
        (Endpoint::Query, true) => (query::CHANGES, &[]),
        (Endpoint::Resources, false) => (&["stat"], &[]),
        (Endpoint::Resources, true) => (resources::CHANGES, &[]),
        (Endpoint::Rules, false) => (&["list_rule_engines"], &[]),
        (Endpoint::Rules, true) => (rules::CHANGES, &[]),
        (Endpoint::Tickets, false) => (&[], &["list", "stat"]),
        (Endpoint::Tickets, true) => (&["create", "remove"], &[]),
        (Endpoint::UsersGroups, false) => (users::QUESTIONS, &["members"]),
        (Endpoint::UsersGroups, true) => (users::CHANGES, &["add_user_auth", "remove_user_auth"]),
        (Endpoint::Zones, false) => (&["report", "stat"], &[]),
        (Endpoint::Zones, true) => (zones::CHANGES, &[]),
    }
}

/// How a POST carries its parameters.
enum BodyKind {
    Form,
    /// In headers, and the body is the content.
    Raw,
    Parts(String),
    Unknown,
}

const OPERATION_HEADER: &str = "irods-api-request-op";

fn body_kind(endpoint: Endpoint, headers: &HeaderMap) -> BodyKind {
    let raw = headers.get(OPERATION_HEADER).is_some_and(|operation| operation == "write");
    if endpoint == Endpoint::DataObjects && raw {
        return BodyKind::Raw;
    }
    let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    let media_type = media_type.unwrap_or_default();
    if let Ok(boundary) = multer::parse_boundary(media_type) {
        return BodyKind::Parts(boundary);
    }
    match media_type.starts_with("application/x-www-form-urlencoded") {
        true => BodyKind::Form,
        false => BodyKind::Unknown,
    }
}

fn form_of_headers(headers: &HeaderMap) -> Form {
    let mut form = Form::default();
    for (name, value) in headers {
        if let Some(name) = name.as_str().strip_prefix("irods-api-request-") {
            form.insert(name.to_owned(), Bytes::copy_from_slice(value.as_bytes()));
        }
    }
    form
}

async fn small_body(app: &App, body: Body) -> Result<Bytes, Refusal> {
    let body = Limited::new(body, app.limits().json_bytes).collect().await;
    Ok(body.map_err(|_| Refusal::Plain(StatusCode::PAYLOAD_TOO_LARGE))?.to_bytes())
}

/// Whether a parameter names another place for bytes than where new contents go: then it has to come before
/// them.
fn says_where(name: &str, value: &[u8]) -> bool {
    match name {
        "replica-number" | "resource" => !value.is_empty(),
        "parallel-write-handle" => {
            std::str::from_utf8(value).is_ok_and(|handle| parallel::place(handle).is_some())
        }
        _ => false,
    }
}

/// The parts of a body, in whatever order they come; the bytes go to the store at once.
async fn parts_of(
    app: &App,
    caller: &Caller,
    mut parts: Multipart<'_>,
) -> Result<(Form, Option<Received>), Refusal> {
    let (mut form, mut received) = (Form::default(), None);
    while let Some(part) = parts.next_field().await.map_err(|_| Refusal::BAD)? {
        match part.name().map(str::to_owned).ok_or(Refusal::BAD)? {
            name if name == "bytes" => received = Some(receive(app, caller, &form, part).await?),
            name => {
                let value = small_part(app, part).await?;
                if received.is_some() && says_where(&name, &value) {
                    return Err(Refusal::BAD);
                }
                form.insert(name, value);
            }
        }
    }
    Ok((form, received))
}

async fn small_part(app: &App, mut part: Field<'_>) -> Result<Bytes, Refusal> {
    let mut value = BytesMut::new();
    while let Some(chunk) = part.chunk().await.map_err(|_| Refusal::BAD)? {
        value.extend_from_slice(&chunk);
        if value.len() > app.limits().json_bytes {
            return Err(Refusal::Plain(StatusCode::PAYLOAD_TOO_LARGE));
        }
    }
    Ok(value.freeze())
}

/// Takes bytes in; not, if it is clear already that they may not be written where they go.
async fn receive<E: std::fmt::Display>(
    app: &App,
    caller: &Caller,
    form: &Form,
    bytes: impl futures_util::Stream<Item = Result<Bytes, E>>,
) -> Result<Received, Refusal> {
    let zone = &app.irods().zone;
    let path = form.text("lpath").and_then(|path| lpath::parse(zone, path));
    let handle = form.text("parallel-write-handle");
    let ticket = form.text("ticket").is_some();
    if let Some(path) = path.clone().filter(|_| !ticket && handle.is_none()) {
        let caller = caller.clone().elevated(false);
        let may = app.ask(move |store| Ok(store.may_put(&caller, &path, &PutOptions::default())));
        may.await?.map_err(super::write::refusal)?;
    }
    let place = match (handle, path) {
        (Some(handle), _) => parallel::place(handle),
        (None, Some(path)) => place(app, caller, form, path).await?,
        (None, None) => None,
    };
    let bytes = bytes.map_err(|fault| fault.to_string());
    Ok(app.store().receive_at(place, bytes, &Expected::default()).await?)
}

/// Where the bytes of a write go.
async fn place(
    app: &App,
    caller: &Caller,
    form: &Form,
    path: StorePath,
) -> Result<Option<PlaceId>, Refusal> {
    let (target, caller) = (Target::of(form)?, caller.clone());
    let own = app.irods().resource.clone();
    app.ask(move |store| target.place(store, &caller, &path, &own)).await?
}

/// `GET info`: what the server is and allows.
async fn info(app: &App, headers: &HeaderMap) -> Answer {
    let settings = app.irods();
    let mut info = json!({
        "api_version": "0.7.0",
        "build": env!("CARGO_PKG_VERSION"),
        "genquery2_enabled": true,
        "irods_zone": settings.zone,
        "max_number_of_parallel_write_streams": settings.streams,
        "max_number_of_rows_per_catalog_query": settings.rows,
        "max_number_of_streams_per_parallel_write_handle": settings.streams,
        "max_size_of_request_body_in_bytes": settings.body_bytes,
        "openid_connect_enabled": false,
    });
    if identity::caller(app, headers).await.is_ok() {
        info["irods_server_version"] = Value::from(concat!("cenote ", env!("CARGO_PKG_VERSION")));
    }
    Ok(answer::json(StatusCode::OK, info))
}
