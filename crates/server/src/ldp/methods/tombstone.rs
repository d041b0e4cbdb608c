//! `fcr:tombstone`: the remains of a removed resource. Removing the tombstone purges it; POST restores it, in dialects that know that.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_store::{ErrorKind, RestoreOptions, Store};

use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;

pub(crate) async fn answer(call: Call) -> Result<Response, Fault> {
    call.blocking(|store, call| match (call.method.as_str(), call.dialect.restores) {
        ("DELETE", _) => forget(store, call),
        ("POST", true) => restore(store, call),
        (_, true) => left(store, call).and_then(|_| Err(Fault::method("POST,DELETE"))),
        (_, false) => left(store, call).and_then(|_| Err(Fault::method("DELETE"))),
    })
    .await
}

/// What was removed by itself at the path of the request.
fn left(store: &Store, call: &Call) -> Result<cenote_store::ResourceId, Fault> {
    let left = store.tombstone(&call.caller, call.path())?;
    let left = left.and_then(|left| Some((left.id?, left.removed)));
    let (id, removed) = left.ok_or_else(|| Fault::missing("it has no tombstone"))?;
    match id == removed.id {
        true => Ok(id),
        false => Err(Fault::new(
            StatusCode::GONE,
            format!("it was removed with {}, which has the tombstone", removed.path),
        )),
    }
}

fn forget(store: &Store, call: &Call) -> Result<Response, Fault> {
    store.empty_trash_of(&call.caller, left(store, call)?).map_err(denied)?;
    Ok(StatusCode::NO_CONTENT.into_response())
}

fn restore(store: &Store, call: &Call) -> Result<Response, Fault> {
    let id = left(store, call)?;
    let options = RestoreOptions { to: Some(call.path().clone()), parents: false };
    store.restore_removed(&call.caller, id, &options).map_err(denied)?;
    let address = call.address();
    Ok((StatusCode::CREATED, [(header::LOCATION, address.clone())], address).into_response())
}

/// A tombstone that the caller sees, of what they may not restore, is no secret.
fn denied(error: cenote_store::Error) -> Fault {
    match error.kind() {
        ErrorKind::NotFound => Fault::new(StatusCode::FORBIDDEN, error.to_string()),
        _ => error.into(),
    }
}
