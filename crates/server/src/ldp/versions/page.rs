//! The versions of a resource for people: all of them in a table, and one with its statements.

use axum::http::header;
use axum::response::IntoResponse;
use axum::response::Response;
use cenote_rdf::Triple;
use cenote_store::Version;

use super::{links, name, own_address};
use crate::ldp::representation::html::way;
use crate::ldp::representation::model::Model;
use crate::ldp::representation::resource::{LoadedResource, rfc3339};
use crate::ldp::request::call::Call;
use crate::ldp::request::headers::Headers;
use crate::page::{Markup, page};

/// All versions, the newest first.
pub(super) fn list(call: &Call, mut headers: Headers, versions: &[Version]) -> Response {
    headers.add(header::CACHE_CONTROL, "no-cache");
    let mut body = Markup::default();
    way(&mut body, call);
    body.raw("<p>").link(&own_address(call), "Its current state").raw("\n");
    match versions.is_empty() {
        true => body.raw("<p>There are no versions.\n"),
        false => table(&mut body, call, versions),
    };
    let title = format!("Versions of {}", call.path());
    (headers.0, page(&title, &body)).into_response()
}

fn table<'a>(body: &'a mut Markup, call: &Call, versions: &[Version]) -> &'a mut Markup {
    body.raw("<table>\n<thead><tr><th scope=\"col\">Version</th><th scope=\"col\">Time</th><th scope=\"col\">Label</th></tr></thead>\n");
    for version in versions.iter().rev() {
        body.raw("<tr><th scope=\"row\">");
        body.link(&links::address(call, version), &version.version.to_string());
        body.raw("</th><td>").text(&rfc3339(version.time)).raw("</td><td>");
        body.text(version.label.as_deref().unwrap_or_default()).raw("</td></tr>\n");
    }
    body.raw("</table>\n")
}

/// One version: its statements, and where its bytes are.
pub(super) fn one(
    call: &Call,
    loaded: &LoadedResource,
    version: &Version,
    statements: &[Triple],
) -> Response {
    let (own, all) = (own_address(call), format!("{}/fcr:versions", own_address(call)));
    let mut body = Markup::default();
    way(&mut body, call);
    body.raw("<p>As of ").text(&rfc3339(version.time));
    if let Some(label) = &version.label {
        body.raw(", with the label ").text(label);
    }
    body.raw(". ").link(&own, "Its current state").raw(", ").link(&all, "all versions").raw("\n");
    if loaded.model == Model::Binary {
        let bytes = format!("{}/fcr:versions/{}", call.address(), name::shown(version));
        body.raw("<p>").link(&bytes, "Its bytes").raw("\n");
    }
    body.raw("<h2>Statements</h2>\n").statements(statements);
    page(&format!("{}, version {}", call.path(), version.version), &body)
}
