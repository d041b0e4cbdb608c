//! irods-rest 0.9.3, the older HTTP interface, for clients that were never migrated from it (rirods up to
//! 0.1.2). Parameters are in the query string, whatever the method; every error is status 400 with a code and
//! a text, except for server errors (500 and above) and too many requests (429), which keep their own status.

mod admin;
mod change;
mod list;
mod replicas;
mod stream;

use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_store::TicketUse;
use serde_json::json;

use super::call::answer;
use super::call::answer::Answer;
use super::call::code::{Code, Refusal, failed};
use super::call::form::Form;
use super::call::identity;
use super::call::request::{Call, host};
use crate::app::App;
use crate::layer::{Admission, is_cross_site, may_change, peer};

/// Answers every call.
pub(super) async fn answer(
    State(app): State<App>,
    Path((_, operation)): Path<(String, String)>,
    request: Request,
) -> Response {
    let changes = may_change(request.method()) || matches!(operation.as_str(), "auth" | "ticket");
    if changes && is_cross_site(&request) {
        return refused(Refusal::cross_site());
    }
    dispatch(&app, &operation, request).await.unwrap_or_else(refused)
}

async fn dispatch(app: &App, operation: &str, request: Request) -> Answer {
    let host = host(&request);
    let (parts, body) = request.into_parts();
    if operation == "auth" {
        return identity::log_in(app, &parts.headers, peer(&parts.extensions)).await;
    }
    let mut call = call(app, &parts).await?;
    call.show_ticket(host, ticket_use(&parts.method, operation)).await?;
    match (parts.method, operation) {
        (Method::GET, "list") => list::list(call).await,
        (Method::GET, "query") => list::query(call).await,
        (Method::GET, "stream") => stream::read(call).await,
        (Method::GET, "zonereport") => list::zone_report(call).await,
        (Method::GET, "ticket") => change::ticket(call).await,
        (Method::PUT, "stream") => stream::write(call, body).await,
        (Method::POST, "admin") => admin::admin(call).await,
        (Method::POST, "logicalpath") => change::make(call).await,
        (Method::DELETE, "logicalpath") => change::remove(call).await,
        (Method::POST, "logicalpath/rename") => change::rename(call).await,
        (Method::POST, "logicalpath/replicate") => replicas::replicate(call).await,
        (Method::POST, "logicalpath/trim") => replicas::trim(call).await,
        (Method::POST, "metadata") => {
            change::metadata(call, &Admission::of(&parts.extensions)?, body).await
        }
        _ => Err(Refusal::Plain(StatusCode::NOT_FOUND)),
    }
}

/// What an operation uses a ticket for. Written bytes are counted once all of them have arrived.
fn ticket_use(method: &Method, operation: &str) -> TicketUse {
    match (method, operation) {
        (&Method::GET, "stream") => TicketUse::Read,
        (&Method::GET, _) | (_, "stream") => TicketUse::Look,
        _ => TicketUse::Write(0),
    }
}

/// Authenticates a request: the header has either the token alone, or `Bearer` and the token.
async fn call(app: &App, parts: &Parts) -> Result<Call, Refusal> {
    let mut headers = HeaderMap::new();
    let shown = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token = shown.map(|text| text.strip_prefix("Bearer ").unwrap_or(text).trim());
    if let Some(value) =
        token.and_then(|token| HeaderValue::from_str(&format!("Bearer {token}")).ok())
    {
        headers.insert(header::AUTHORIZATION, value);
    }
    let caller = identity::caller(app, &headers, &parts.extensions).await?;
    let mut form = Form::decode(parts.uri.query().unwrap_or_default().as_bytes());
    if let Some(ticket) = parts.headers.get("irods-ticket") {
        form.insert("ticket".to_owned(), ticket.as_bytes().to_vec().into());
    }
    Ok(Call::new(app, caller, form))
}

fn refused(refusal: Refusal) -> Response {
    let (code, message) = match refusal {
        Refusal::Coded { status: StatusCode::FORBIDDEN, code, message } => {
            return error_response(StatusCode::FORBIDDEN, code, message);
        }
        Refusal::TooSoon(seconds) => {
            let message = Some(format!("too many wrong passwords: wait {seconds} s"));
            let code = Code::InvalidAuthentication;
            let mut response = error_response(StatusCode::TOO_MANY_REQUESTS, code, message);
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
            return response;
        }
        Refusal::Coded { code, message, .. } => (code, message),
        Refusal::Plain(StatusCode::NOT_FOUND) => return StatusCode::NOT_FOUND.into_response(),
        Refusal::Plain(StatusCode::UNAUTHORIZED) => (Code::InvalidAuthentication, None),
        Refusal::Plain(_) => (Code::InvalidInput, None),
        Refusal::Failed(problem) => return failed(&problem, error_response),
    };
    error_response(StatusCode::BAD_REQUEST, code, message)
}

fn error_response(status: StatusCode, code: Code, message: Option<String>) -> Response {
    let message = message.unwrap_or_else(|| format!("{code:?}"));
    let body = json!({ "error_code": code as i32, "error_message": message });
    answer::json(status, body)
}

/// Success, with an empty response.
fn done() -> Answer {
    Ok(StatusCode::OK.into_response())
}

/// The refusal for a path that does not exist or is hidden from the caller.
fn inaccessible(call: &Call) -> Refusal {
    let path = call.form.text("logical-path").unwrap_or_default();
    Refusal::code(Code::InvalidInput)
        .with_message(&format!("Logical path [{path}] is not accessible."))
}
