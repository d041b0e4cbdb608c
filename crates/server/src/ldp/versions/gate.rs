//! The TimeGate, which is the resource itself: `Accept-Datetime` leads to the version of that time (RFC 7089, section 4.1).

use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_store::Version;
use jiff::fmt::rfc2822;

use super::{links, versions};
use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::Headers;
use crate::ldp::request::target::Part;

const ACCEPT_DATETIME: HeaderName = HeaderName::from_static("accept-datetime");

/// The way to the version that a request wants, if it wants one.
///
/// # Errors
/// 400 for an invalid date, 406 if there is no version.
pub(crate) async fn gate(call: &Call) -> Result<Option<Response>, Fault> {
    let is_gate = matches!(call.target.part, Part::Whole | Part::Description);
    if !is_gate || !call.dialect.has_mementos || !call.headers.contains_key(&ACCEPT_DATETIME) {
        return Ok(None);
    }
    let wanted = date(call, ACCEPT_DATETIME)?;
    let found = call.blocking(move |store, call| {
        let (_, versions) = versions(store, call)?;
        let chosen = chosen(&versions, wanted)
            .ok_or_else(|| Fault::new(StatusCode::NOT_ACCEPTABLE, "it has no versions"))?;
        let mut headers = Headers::default();
        links::original(call, &mut headers);
        headers.add(header::LOCATION, &links::address(call, chosen));
        Ok((StatusCode::FOUND, headers.0).into_response())
    });
    found.await.map(Some)
}

/// A header that is a date, in seconds.
pub(super) fn date(call: &Call, name: HeaderName) -> Result<i64, Fault> {
    let text = call.header(&name).unwrap_or_default().trim();
    let known = crate::layer::conditional::date(&call.headers, name.clone());
    // A day of one digit, which RFC 1123 allows and Java clients send, is invalid in HTTP.
    let date = known.or_else(|| Some(rfc2822::parse(text).ok()?.timestamp().as_second()));
    date.ok_or_else(|| Fault::bad(format!("{name} is not an HTTP date")))
}

/// The last version that is not later, or else the first one, of versions in the order of their times.
fn chosen(versions: &[Version], wanted: i64) -> Option<&Version> {
    let earlier = versions.iter().rfind(|version| version.time.secs() <= wanted);
    earlier.or(versions.first())
}
