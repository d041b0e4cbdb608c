//! Streaming bytes, in as many requests as the client likes: old clients send a thousand bytes at a time.

use axum::body::Body;
use axum::http::StatusCode;
use cenote_store::{PutOptions, Received, StorePath, TicketUse};
use serde_json::json;

use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::data_objects::{intake, read as whole, write as bytes_in};

/// `GET stream`: `count` bytes starting at `offset`.
pub(super) async fn read(call: Call) -> Answer {
    let path = call.form.text("logical-path").unwrap_or_default().to_owned();
    call.count("count")?.ok_or(Refusal::BAD)?;
    let opened = whole::part(&call, "logical-path").await;
    opened.map_err(|refusal| match refusal {
        Refusal::Plain(StatusCode::NOT_FOUND) => Refusal::code(Code::InvalidInput)
            .with_message(&format!("Failed to open data object [{path}]")),
        other => other,
    })
}

/// `PUT stream`: bytes at an offset; the existing content is truncated, unless `truncate=false`.
pub(super) async fn write(call: Call, body: Body) -> Answer {
    let path = call.path("logical-path")?;
    let offset = call.count("offset")?.unwrap_or(0);
    let truncate = call.form.text("truncate") != Some("false");
    let (store, caller) = (call.app.store(), call.acting());
    let options = PutOptions::default();
    store.precheck_put(&caller, &path, &options).map_err(bytes_in::refusal)?;
    let received = store.receive(body.into_data_stream(), &options).await;
    let received = received.map_err(bytes_in::refusal)?;
    let blob = received.blob();
    let put = put(&call, path, (offset, truncate), received).await;
    let answer =
        put.map(|()| answer::json(StatusCode::OK, json!({ "code": 0, "message": "Success" })));
    intake::settled(store, blob, answer).await
}

/// Counts the bytes against the ticket, if there is one, and writes them.
async fn put(
    call: &Call,
    path: StorePath,
    (offset, truncate): (u64, bool),
    received: Received,
) -> Result<(), Refusal> {
    call.count_use(TicketUse::Write(received.size()))?;
    bytes_in::may_write(call, path.clone()).await?;
    bytes_in::put(call, path, offset, truncate, received).await
}
