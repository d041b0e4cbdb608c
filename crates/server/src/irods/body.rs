//! The parameters of a call, and the bytes that come with them, which go to the store at once.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use bytes::{Bytes, BytesMut};
use cenote_store::{Caller, Expected, PlaceId, PutOptions, Received, StorePath};
use futures_util::{Stream, TryStreamExt};
use http_body_util::{BodyExt, Limited};
use multer::{Field, Multipart};

use super::code::Refusal;
use super::form::Form;
use super::target::Target;
use super::{lpath, parallel};
use crate::app::App;

/// How a call carries its parameters.
pub(super) enum Carrier {
    /// In the query of a GET, or a form.
    Form,
    /// Beside bytes.
    Bytes(BytesCarrier),
}

/// How a call carries its parameters beside bytes.
pub(super) enum BytesCarrier {
    /// In headers, and the body is the content.
    Headers,
    /// In the parts of a body, of which one is the content.
    Parts(String),
}

const OPERATION_HEADER: &str = "irods-api-request-op";

impl Carrier {
    /// Only an operation on data objects may have its parameters in headers.
    pub(super) fn of(request: &Request, on_data_objects: bool) -> Result<Self, Refusal> {
        let headers = request.headers();
        if request.method() != Method::POST {
            return Ok(Self::Form);
        }
        if on_data_objects && headers.get(OPERATION_HEADER).is_some_and(|name| name == "write") {
            return Ok(Self::Bytes(BytesCarrier::Headers));
        }
        let media_type = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        let media_type = media_type.unwrap_or_default();
        if let Ok(boundary) = multer::parse_boundary(media_type) {
            return Ok(Self::Bytes(BytesCarrier::Parts(boundary)));
        }
        match media_type.starts_with("application/x-www-form-urlencoded") {
            true => Ok(Self::Form),
            false => Err(Refusal::BAD),
        }
    }
}

/// The parameters of a call without bytes.
pub(super) async fn form(app: &App, request: Request) -> Result<Form, Refusal> {
    match *request.method() {
        Method::POST => Ok(Form::decode(&small_body(app, request.into_body()).await?)),
        _ => Ok(Form::decode(request.uri().query().unwrap_or_default().as_bytes())),
    }
}

impl BytesCarrier {
    /// The parameters, and the bytes in the store.
    pub(super) async fn receive(
        self,
        app: &App,
        caller: &Caller,
        request: Request,
    ) -> Result<(Form, Option<Received>), Refusal> {
        let (parts, body) = request.into_parts();
        let bytes = body.into_data_stream();
        match self {
            Self::Headers => {
                let form = form_of_headers(&parts.headers);
                let received = receive(app, caller, &form, bytes).await?;
                Ok((form, Some(received)))
            }
            Self::Parts(boundary) => parts_of(app, caller, Multipart::new(bytes, boundary)).await,
        }
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
    bytes: impl Stream<Item = Result<Bytes, E>>,
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
