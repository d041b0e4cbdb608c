//! OPTIONS: what can be done with a resource.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};

use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::Headers;

pub(crate) async fn options(call: Call) -> Result<Response, Fault> {
    let loaded = call.blocking(|store, call| call.headings(store)).await?;
    Ok((StatusCode::NO_CONTENT, Headers::about(&call, &loaded).0).into_response())
}
