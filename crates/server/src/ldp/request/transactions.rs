//! fcrepo's transactions: change sets of the store, under its addresses and headers.
//!
//! Source: what fcrepo 6 does at `fcr:tx`. What they promise is what change sets promise (ADR 12): the first commit wins, where fcrepo
//! has the second writer refused.
//!
//! Invariant: nothing of a request with `Atomic-ID` happens outside of its transaction. In dialects without transactions it is refused.

use axum::body::Body;
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse, Response};
use cenote_store::{ChangeSet, ChangeSetId, ChangeSetState, ErrorKind};

use crate::layer::conditional::http_date;
use crate::ldp::request::call::{Call, judged};
use crate::ldp::request::fault::Fault;
use crate::ldp::request::headers::Headers;

const ATOMIC_ID: HeaderName = HeaderName::from_static("atomic-id");
const ATOMIC_EXPIRES: HeaderName = HeaderName::from_static("atomic-expires");
const COMMIT: &str = "http://fedora.info/definitions/v4/transaction#commitEndpoint";

/// The transaction that a request is part of, if it names one.
///
/// # Errors
/// 409 for what names none, as fcrepo has it, and where there are no transactions.
pub(crate) fn named(call: &Call) -> Result<Option<ChangeSetId>, Fault> {
    let Some(named) = call.headers.get(&ATOMIC_ID) else { return Ok(None) };
    if !call.dialect.has_transactions {
        return Err(conflict("this address has no transactions"));
    }
    let id = named.to_str().unwrap_or_default().trim().rsplit('/').next().unwrap_or_default();
    match id.parse() {
        Ok(id) => Ok(Some(id)),
        Err(_) => Err(conflict("Atomic-ID names no transaction")),
    }
}

fn conflict(detail: impl Into<String>) -> Fault {
    Fault::new(StatusCode::CONFLICT, detail)
}

/// Runs a request within a transaction: on an app whose store is the change set.
pub(crate) async fn within(mut call: Call, id: ChangeSetId, body: Body) -> Response {
    let store = call.app.store().clone();
    let within = match call.aside(store.within(&call.caller, id)).await {
        Ok(Ok(within)) => within,
        Ok(Err(error)) => return closed(error).into_response(),
        Err(fault) => return fault.into_response(),
    };
    call.app = call.app.on((*within).clone());
    let address = address(&call, id);
    let mut answer = judged(call, |call| call.run(body)).await;
    drop(within);
    if let Ok(address) = address.parse() {
        answer.headers_mut().insert(ATOMIC_ID, address);
    }
    answer
}

/// The refusal of a request in a transaction that is not open.
fn closed(error: cenote_store::Error) -> Fault {
    match error.kind() {
        ErrorKind::NotFound | ErrorKind::Expired | ErrorKind::Invalid => {
            conflict(error.to_string())
        }
        _ => error.into(),
    }
}

/// `fcr:tx`: POST begins one.
pub(crate) async fn begin(call: Call) -> Result<Response, Fault> {
    require_transactions(&call)?;
    match call.method.as_str() {
        "POST" => {}
        "OPTIONS" => return Ok(options("POST,OPTIONS")),
        _ => return Err(Fault::method("POST,OPTIONS")),
    }
    let set = call.blocking(|store, call| Ok(store.begin_change_set(&call.caller, None)?)).await?;
    let address = address(&call, set.id);
    let mut headers = expiring(&set);
    headers.add(header::EXPIRES, &http_date(set.expires).unwrap_or_default());
    headers.add(header::LINK, &format!("<{address}>;rel=\"{COMMIT}\""));
    headers.add(header::LOCATION, &address);
    Ok((StatusCode::CREATED, headers.0).into_response())
}

/// `fcr:tx/ID`: GET shows until when it is kept, POST keeps it longer, PUT commits it, DELETE rolls it back.
pub(crate) async fn answer(call: Call, id: &str) -> Result<Response, Fault> {
    require_transactions(&call)?;
    let id: ChangeSetId = id.parse().map_err(|_| Fault::missing("there is no such transaction"))?;
    let caller = call.caller.clone();
    let headers = match call.method.as_str() {
        "GET" | "HEAD" => {
            let set = call.blocking(move |store, _| Ok(store.change_set(&caller, id)?)).await?;
            expiring(&open(set)?)
        }
        "POST" => {
            let extend = move |store: &cenote_store::Store, _: &Call| {
                Ok(store.extend_change_set(&caller, id)?)
            };
            expiring(&call.blocking(extend).await?)
        }
        "PUT" => {
            call.app.store().commit_change_set(&caller, id).await?;
            Headers::default()
        }
        "DELETE" => {
            call.blocking(move |store, _| Ok(store.drop_change_set(&caller, id)?)).await?;
            Headers::default()
        }
        "OPTIONS" => return Ok(options(METHODS)),
        _ => return Err(Fault::method(METHODS)),
    };
    Ok((StatusCode::NO_CONTENT, headers.0).into_response())
}

const METHODS: &str = "GET,HEAD,POST,PUT,DELETE,OPTIONS";

fn options(methods: &str) -> Response {
    (StatusCode::NO_CONTENT, [(header::ALLOW, methods.to_owned())]).into_response()
}

fn require_transactions(call: &Call) -> Result<(), Fault> {
    match call.dialect.has_transactions {
        true => Ok(()),
        false => Err(Fault::missing("this address has no transactions")),
    }
}

fn open(set: ChangeSet) -> Result<ChangeSet, Fault> {
    match set.state {
        ChangeSetState::Open => Ok(set),
        state => {
            let detail = format!("the transaction has ended: {}", state.as_str());
            Err(Fault::new(StatusCode::GONE, detail))
        }
    }
}

/// Until when it is kept unused.
fn expiring(set: &ChangeSet) -> Headers {
    let mut headers = Headers::default();
    headers.add(ATOMIC_EXPIRES, &http_date(set.expires).unwrap_or_default());
    headers
}

fn address(call: &Call, id: ChangeSetId) -> String {
    format!("{}fcr:tx/{id}", call.web.address(&cenote_store::StorePath::root()))
}
