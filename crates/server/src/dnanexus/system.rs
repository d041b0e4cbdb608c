//! Methods of `system` that are about the caller and the server.

use axum::http::HeaderMap;
use serde_json::{Map, Value, json};

use super::call::fault::Fault;
use super::call::question::{Call, millis};

/// `whoami`.
pub(crate) fn whoami(call: &Call) -> Value {
    json!({ "id": format!("user-{}", call.caller.name()) })
}

/// `getUserInfo`, which a login requests.
pub(crate) fn user_info(call: &Call) -> Value {
    let name = call.caller.name();
    json!({ "username": name, "uid": name })
}

/// `user-NAME/describe`.
pub(crate) fn describe_user(call: &Call, name: &str) -> Result<Value, Fault> {
    let missing = || Fault::no_object(format!("user-{name}"));
    if name != call.caller.name() {
        call.caller.require(cenote_store::Act::Names)?;
        call.store().person_named(name).map_err(|_| missing())?;
    }
    let id = format!("user-{name}");
    Ok(json!({
        "id": id, "class": "user", "handle": name, "first": name, "middle": "", "last": "",
        "billTo": id, "appsInstalled": [],
    }))
}

/// `user-NAME/update`: what a profile has there, such as a key for SSH, is of no use here.
pub(crate) fn no_profile(name: &str) -> Fault {
    Fault::denied(format!(
        "user-{name:.64} has no profile or SSH key to change: nothing runs here to log in to"
    ))
}

/// `headers`: those of the request. A credential is shown as clients expect it to be: not at all.
pub(crate) fn headers(headers: &HeaderMap) -> Value {
    let shown = headers.iter().filter(|(name, _)| *name != axum::http::header::AUTHORIZATION);
    let text =
        |value: &axum::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let shown = shown.map(|(name, value)| (name.as_str().to_owned(), text(value).into()));
    Value::Object(shown.collect::<Map<_, _>>())
}

/// `comeBackLater`: refuses until a time, for clients that test how they repeat calls.
pub(crate) fn come_back_later(call: &Call) -> Result<Value, Fault> {
    let input = call.input()?;
    let now = millis(call.store().now());
    let until = input.integer("waitUntil")?.unwrap_or(0);
    if now >= until {
        return Ok(json!({ "currentTime": now }));
    }
    let wait = u64::try_from((until - now).div_euclid(1_000) + 1).unwrap_or(1);
    let wait = input.is("setRetryAfter")?.then_some(wait);
    Err(Fault::later("try again later", wait))
}
