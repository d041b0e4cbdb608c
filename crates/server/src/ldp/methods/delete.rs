//! DELETE: a removed resource leaves a tombstone for as long as the store keeps it.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use cenote_store::RemoveOptions;

use super::put::state;
use crate::ldp::request::call::Call;
use crate::ldp::request::conditions;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::allow;
use crate::ldp::request::target::Part;

pub(crate) async fn delete(call: Call) -> Result<Response, Fault> {
    call.blocking(|store, call| {
        let loaded = call.headings(store)?;
        if call.target.part != Part::Whole || call.path().names().is_empty() {
            return Err(Fault::method(allow(call, &loaded)));
        }
        conditions::of_change(call, Some(&state(call, &loaded)))?;
        let options = RemoveOptions {
            recursive: true,
            versions: true,
            permanent: call.preferences.no_tombstone,
            // The state on which the conditions were evaluated.
            if_match: call.headers.contains_key("if-match").then(|| loaded.stat.state_tag()),
            ..RemoveOptions::default()
        };
        store
            .remove(&call.caller, &call.at(), &options)
            .map_err(|error| call.missing(store, error))?;
        Ok(StatusCode::NO_CONTENT.into_response())
    })
    .await
}
