//! `GET` of a content, or a range of it.

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_store::{Opened, ReadOptions, Store, TicketUse};
use futures_util::StreamExt;
use serde_json::Value;

use super::download::readable;
use crate::app::App;
use crate::dnanexus::call::endpoint::caller;
use crate::dnanexus::call::fault::{ErrorType, Fault};
use crate::dnanexus::call::question::Call;
use crate::layer::range::{Selection, select};
use crate::layer::{Admission, peer};

/// With the credential in a header.
pub(crate) async fn read(
    State(app): State<App>,
    Path((id, _)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let answer = async {
        let caller = caller(&app, &parts).await?;
        send(Call::new(app, caller, &parts, Value::Null), id, &parts).await
    };
    answer.await.unwrap_or_else(IntoResponse::into_response)
}

/// With a ticket in the address.
pub(crate) async fn read_shared(
    State(app): State<App>,
    Path((ticket, id, _)): Path<(String, String, String)>,
    request: Request,
) -> Response {
    let (parts, _) = request.into_parts();
    let answer = async {
        let anonymous = app.quick(Store::anonymous)?;
        let (host, guest) = (peer(&parts.extensions).to_string(), anonymous.clone());
        let grant =
            app.blocking(move |store| store.use_ticket(&guest, &ticket, &host, TicketUse::Read));
        let grant = grant.await.map_err(|_| Fault::denied("the address is not valid any more"))?;
        send(Call::new(app, anonymous.with_ticket(grant), &parts, Value::Null), id, &parts).await
    };
    answer.await.unwrap_or_else(IntoResponse::into_response)
}

async fn send(call: Call, id: String, parts: &Parts) -> Result<Response, Fault> {
    Admission::of(&parts.extensions)?.enter(&call.caller)?;
    let opened = call.blocking(move |call| {
        let place = call.object(call.object_id(&id)?, None)?;
        readable(call, &place)?;
        Ok(call.store().open(&call.caller, &place.at(), &ReadOptions::default())?)
    });
    answer(opened.await?, parts.headers.get(header::RANGE))
}

fn answer(opened: Opened, range: Option<&HeaderValue>) -> Result<Response, Fault> {
    let size = opened.size();
    let selection = select(range.and_then(|range| range.to_str().ok()), size);
    let (range, status) = match selection {
        Selection::Whole => (0..size, StatusCode::OK),
        Selection::Part(range) => (range, StatusCode::PARTIAL_CONTENT),
        Selection::Outside => return Ok(outside(size)),
    };
    let part = format!("bytes {}-{}/{size}", range.start, range.end.saturating_sub(1));
    let part = (status == StatusCode::PARTIAL_CONTENT).then_some([(header::CONTENT_RANGE, part)]);
    let media =
        opened.head.media_type.as_deref().and_then(|media| HeaderValue::from_str(media).ok());
    let headers = [
        (
            header::CONTENT_TYPE,
            media.unwrap_or(HeaderValue::from_static("application/octet-stream")),
        ),
        (header::ACCEPT_RANGES, HeaderValue::from_static("bytes")),
        // Stored contents never run as pages of this server.
        (header::CONTENT_DISPOSITION, HeaderValue::from_static("attachment")),
        (header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff")),
        (header::CONTENT_SECURITY_POLICY, HeaderValue::from_static("sandbox")),
        (header::CONTENT_LENGTH, (range.end - range.start).into()),
    ];
    let id = opened.stat.id;
    let bytes = opened.bytes(range)?.inspect(move |chunk| {
        if let Err(error) = chunk {
            tracing::error!(%id, %error, "reading failed");
        }
    });
    Ok((status, headers, part, Body::from_stream(bytes)).into_response())
}

fn outside(size: u64) -> Response {
    let message = format!("the range is outside the {size} bytes of the file");
    let mut response = Fault::new(ErrorType::InvalidInput, message).into_response();
    *response.status_mut() = StatusCode::RANGE_NOT_SATISFIABLE;
    if let Ok(range) = HeaderValue::try_from(format!("bytes */{size}")) {
        response.headers_mut().insert(header::CONTENT_RANGE, range);
    }
    response
}
