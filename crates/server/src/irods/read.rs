//! `read`: bytes out, all or a part.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use cenote_store::{ErrorKind, ReadOptions};

use super::answer::Answer;
use super::call::Call;
use super::code::Refusal;

pub(super) async fn read(call: Call) -> Answer {
    part(&call, "lpath").await
}

/// The bytes that a call asks for of the object that a parameter names. A stream that fails under way breaks
/// off before the length it announced.
pub(super) async fn part(call: &Call, parameter: &str) -> Answer {
    call.need(parameter)?;
    let (offset, count) = (call.count("offset")?.unwrap_or(0), call.count("count")?);
    if call.count("replica-number")?.unwrap_or(0) != 0
        || super::data_objects::check_resource(call, "resource").is_err()
    {
        return Err(Refusal::BAD);
    }
    let missing = || Refusal::Plain(StatusCode::NOT_FOUND);
    let path = call.path(parameter).map_err(|_| missing())?;
    let caller = call.acting();
    let opened =
        call.ask(move |store| Ok(store.open(&caller, &path.into(), &ReadOptions::default())));
    let opened = opened.await?.map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::Denied | ErrorKind::WrongKind => missing(),
        _ => error.into(),
    })?;
    let start = offset.min(opened.size());
    let end = count.map_or(opened.size(), |count| start.saturating_add(count).min(opened.size()));
    let octets = HeaderValue::from_static("application/octet-stream");
    let headers = [(header::CONTENT_TYPE, octets), (header::CONTENT_LENGTH, (end - start).into())];
    Ok((headers, Body::from_stream(opened.bytes(start..end)?)).into_response())
}
