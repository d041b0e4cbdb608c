//! How a call carries its parameters, and the bytes that come with them.

use axum::body::Body;
use axum::extract::Request;
use axum::http::{HeaderMap, Method, StatusCode, header};
use bytes::Bytes;
use multer::Multipart;

use super::code::{Code, Refusal};
use super::form::Form;
use super::request::Call;
use crate::app::App;
use crate::layer::{Admission, NotGathered, gather};

/// Where a call carries its parameters.
pub(crate) enum Carrier {
    /// In the query of a GET, or a form.
    Form,
    /// Together with bytes.
    Bytes(BytesCarrier),
}

/// Where a call carries its parameters when bytes come with them.
pub(crate) enum BytesCarrier {
    /// In headers; the body is the content.
    Headers,
    /// In the parts of a multipart body, one of which is the content.
    Parts(String),
}

const OPERATION_HEADER: &str = "irods-api-request-op";

impl Carrier {
    /// Only operations on data objects may have their parameters in headers.
    pub(crate) fn of(request: &Request, on_data_objects: bool) -> Result<Self, Refusal> {
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
pub(crate) async fn form(app: &App, request: Request) -> Result<Form, Refusal> {
    match *request.method() {
        Method::POST => {
            let admission = Admission::of(request.extensions())?;
            Ok(Form::decode(&small_body(app, &admission, request.into_body()).await?))
        }
        _ => Ok(Form::decode(request.uri().query().unwrap_or_default().as_bytes())),
    }
}

impl BytesCarrier {
    /// Reads the parameters, and the bytes into the store.
    pub(crate) async fn take(
        self,
        call: &mut Call,
        host: &str,
        request: Request,
    ) -> Result<(), Refusal> {
        let (parts, body) = request.into_parts();
        let bytes = body.into_data_stream();
        match self {
            Self::Headers => {
                call.form = form_of_headers(&parts.headers);
                call.take_body(host, bytes).await
            }
            Self::Parts(boundary) => {
                let admission = Admission::of(&parts.extensions)?;
                call.take_parts(host, &admission, Multipart::new(bytes, boundary)).await
            }
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

/// Reads a body into memory, up to the configured limit.
pub(crate) async fn small_body(
    app: &App,
    admission: &Admission,
    body: Body,
) -> Result<Bytes, Refusal> {
    Ok(gather(admission, body, app.limits().json_bytes).await?)
}

impl From<NotGathered> for Refusal {
    fn from(why: NotGathered) -> Self {
        match why {
            NotGathered::TooLarge(_) => Self::Plain(StatusCode::PAYLOAD_TOO_LARGE),
            NotGathered::Early(error) => cut_short(&error),
            NotGathered::Refused(problem) => problem.into(),
        }
    }
}

/// A body that ended early.
pub(crate) fn cut_short(error: &dyn std::fmt::Display) -> Refusal {
    let message = format!("the body ended early: {error}");
    Refusal::code(Code::InvalidInput).with_message(&message).into_bad_request()
}
