//! `read`: returns all bytes or a range.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::IntoResponse;
use cenote_query::genquery::is_in_trash;
use cenote_store::{At, ErrorKind, ReadOptions};

use crate::irods::call::answer::Answer;
use crate::irods::call::code::Refusal;
use crate::irods::call::request::Call;
use crate::irods::call::target::{Target, replicas};
use crate::irods::call::translation::Doing;
use crate::irods::tree::trash;
use crate::irods::zone::hierarchy::Hierarchy;

pub(crate) async fn read(call: Call) -> Answer {
    part(&call, "lpath").await
}

/// The requested bytes of the object that a parameter names. A stream that fails midway ends before the
/// announced length.
pub(crate) async fn part(call: &Call, parameter: &str) -> Answer {
    call.need(parameter)?;
    let (offset, count) = (call.count("offset")?.unwrap_or(0), call.count("count")?);
    let target = Target::of(&call.form)?;
    let missing = || Refusal::Plain(StatusCode::NOT_FOUND);
    let path = call.path(parameter).map_err(|_| missing())?;
    let (caller, at, own) = (call.acting(), At::from(&path), call.settings().resource.clone());
    let opened = call.blocking(move |store| {
        let mut options = ReadOptions::default();
        if target != Target::Any {
            let known = Hierarchy::read(store, own)?;
            let replicas = replicas(store, &caller, &at)?;
            let Some(replica) = target.replica(&known, &replicas) else { return Ok(None) };
            options.replica = Some(replica.number);
        }
        let opened = store.open(&caller, &at, &options);
        Ok(Some(match &opened {
            Err(error) if error.kind() == ErrorKind::NotFound && is_in_trash(&path) => {
                trash::open(store, &caller, &path)
            }
            _ => opened,
        }))
    });
    let opened = opened.await?.ok_or(Refusal::BAD)?;
    let opened = opened.map_err(|error| Doing::Read.refusal(error))?;
    let start = offset.min(opened.size());
    let end = count.map_or(opened.size(), |count| start.saturating_add(count).min(opened.size()));
    let octets = HeaderValue::from_static("application/octet-stream");
    let headers = [(header::CONTENT_TYPE, octets), (header::CONTENT_LENGTH, (end - start).into())];
    Ok((headers, Body::from_stream(opened.bytes(start..end)?)).into_response())
}
