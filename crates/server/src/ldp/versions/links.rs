//! The headers by which a resource, the list of its versions and each of these lead to each other (RFC 7089, section 2.2).

use axum::http::header::{self, HeaderName};
use cenote_store::Version;

use super::name::shown;
use super::{list_address, own_address};
use crate::layer::conditional::http_date;
use crate::ldp::request::call::Call;
use crate::ldp::request::headers::Headers;
use crate::ldp::request::target::Part;

const MEMENTO: &str = "http://mementoweb.org/ns#";
pub(super) const MEMENTO_DATETIME: HeaderName = HeaderName::from_static("memento-datetime");

/// The links from a resource to its versions, in dialects that have them.
pub(crate) fn original(call: &Call, headers: &mut Headers) {
    let is_original = matches!(call.target.part, Part::Whole | Part::Description);
    if call.dialect.has_mementos && is_original && !call.is_memento {
        of_type(headers, "OriginalResource");
        of_type(headers, "TimeGate");
        relations(call, headers);
        headers.add(header::VARY, "Accept-Datetime");
    }
}

/// The links of the list itself.
pub(super) fn timemap(call: &Call, headers: &mut Headers) {
    of_type(headers, "TimeMap");
    relations(call, headers);
}

/// The links of a version itself.
pub(super) fn memento(call: &Call, version: &Version, headers: &mut Headers) {
    of_type(headers, "Memento");
    relations(call, headers);
    if let Some(date) = http_date(version.time) {
        headers.add(MEMENTO_DATETIME, &date);
    }
}

fn of_type(headers: &mut Headers, class: &str) {
    headers.add(header::LINK, &format!("<{MEMENTO}{class}>;rel=\"type\""));
}

fn relations(call: &Call, headers: &mut Headers) {
    let own = own_address(call);
    headers.add(header::LINK, &format!("<{own}>;rel=\"original\""));
    if call.dialect.has_mementos {
        headers.add(header::LINK, &format!("<{own}>;rel=\"timegate\""));
    }
    headers.add(header::LINK, &format!("<{}>;rel=\"timemap\"", list_address(call)));
}

/// The address of a version.
pub(crate) fn address(call: &Call, version: &Version) -> String {
    format!("{}/{}", list_address(call), shown(version))
}
