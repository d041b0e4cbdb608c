//! `upload`, and the parts that are sent to the address that it answers.
//!
//! Parts have numbers, and no offsets: a part may be sent before it is known how long those before it are. In the store's upload
//! each has an offset that is far enough from the next, and the whole is put together in their order ([`Completion::in_order`]).
//!
//! [`Completion::in_order`]: cenote_store::Completion

use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use cenote_store::{Algorithm, Caller, Error, ErrorKind, Expected, Notes, UploadId, UploadOptions};
use http_body::Body as _;
use serde_json::{Value, json};

use crate::app::App;
use crate::dnanexus::call::endpoint::caller;
use crate::dnanexus::call::fault::Fault;
use crate::dnanexus::call::question::{Call, millis};
use crate::dnanexus::id::ObjectId;
use crate::dnanexus::note::{self, OPENING, State as FileState};
use crate::dnanexus::object::Place;
use crate::dnanexus::object::change::current;
use crate::layer::Admission;

/// The most parts, and the largest.
const NUMBERS: std::ops::RangeInclusive<u64> = 1..=10_000;
const LARGEST: u64 = 5 << 30;

/// How far the offsets of two parts are from each other: more than a part is long.
const SPACING_BITS: u32 = 33;

/// How long a client may wait with a part, in seconds: as long as the upload is kept.
const LIFETIME: u64 = 24 * 3_600;

fn offset(number: u64) -> u64 {
    (number - 1) << SPACING_BITS
}

/// The number of the part that has this offset.
pub(crate) fn number(offset: u64) -> u64 {
    (offset >> SPACING_BITS) + 1
}

/// `upload`: where to send a part.
pub(crate) fn begin(call: &Call, id: ObjectId) -> Result<Value, Fault> {
    let input = call.input()?;
    let number = input.count("index")?.unwrap_or(1);
    if !NUMBERS.contains(&number) {
        return Err(Fault::input("\"index\" is from 1 to 10000"));
    }
    let size = input.count("size")?;
    if size.is_some_and(|size| size > LARGEST) {
        return Err(Fault::input("a part has at most 5 GiB"));
    }
    let md5 = input.text("md5")?.map(digest).transpose()?;
    let place = call.object(id, None)?;
    place.require_open()?;
    let upload = upload_of(call, &place)?;
    call.store().may_keep_part(&call.caller, upload, offset(number))?;
    let mut headers = json!({ "Authorization": call.authorization() });
    if let Some(md5) = md5 {
        headers["Content-MD5"] = BASE64_STANDARD.encode(md5).into();
    }
    let size = size.map(|size| format!("?size={size}")).unwrap_or_default();
    let expires = call.store().now().plus(std::time::Duration::from_secs(LIFETIME));
    Ok(json!({
        "url": format!("{}/dnanexus/parts/{id}/{number}{size}", call.origin),
        "expires": millis(expires),
        "headers": headers,
    }))
}

fn digest(hexadecimal: &str) -> Result<Vec<u8>, Fault> {
    let bytes = hex::decode(hexadecimal).ok().filter(|bytes| bytes.len() == 16);
    bytes.ok_or_else(|| Fault::input("\"md5\" has 32 hexadecimal digits"))
}

/// The upload of an open file, which begins with the first part that is announced.
fn upload_of(call: &Call, place: &Place) -> Result<UploadId, Fault> {
    if let Some(known) = &place.note.upload {
        return Ok(known.parse()?);
    }
    let (store, caller) = (call.store(), &call.caller);
    let begun = store.begin_upload(caller, place.at(), &UploadOptions::default())?.id;
    let kept = store
        .change_notes_about(caller, &place.at(), OPENING, |notes| keep_upload(notes, place, begun));
    let kept = kept.and_then(|kept| kept.parse::<UploadId>());
    if kept.as_ref().is_ok_and(|kept| *kept == begun) {
        return Ok(begun);
    }
    // Another call was faster, or the file is closed.
    store.abandon_upload(caller, begun)?;
    Ok(kept?)
}

/// Records an upload, unless there is one; returns the recorded one.
fn keep_upload(
    notes: &mut Notes<'_>,
    place: &Place,
    begun: UploadId,
) -> cenote_store::Result<String> {
    let mut note = current(notes, place)?;
    if note.state != FileState::Open {
        let message = format!("\"{}\" is not in the open state", place.id);
        return Err(Error::new(ErrorKind::Precondition, message));
    }
    let upload = note.upload.get_or_insert_with(|| begun.to_string()).clone();
    note::keep_object(notes, place.id, place.stat.id, &note)?;
    Ok(upload)
}

/// `PUT` of a part.
pub(crate) async fn put(
    State(app): State<App>,
    Path((id, number)): Path<(String, String)>,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let taken = async {
        let caller = caller(&app, &parts).await?;
        Admission::of(&parts.extensions)?.enter(&caller)?;
        let call = Call::new(app, caller, &parts, Value::Null);
        let expected = expected(&parts.headers, parts.uri.query(), &body)?;
        take(call, (id, number), body, expected).await
    };
    match taken.await {
        Ok(()) => StatusCode::OK.into_response(),
        Err(fault) => fault.into_response(),
    }
}

async fn take(
    call: Call,
    (id, number): (String, String),
    body: Body,
    expected: Expected,
) -> Result<(), Fault> {
    let number = number.parse().ok().filter(|number| NUMBERS.contains(number));
    let number: u64 = number.ok_or_else(|| Fault::input("not the number of a part"))?;
    let upload = call.blocking(move |call| open_upload(call, &id)).await?;
    let (store, caller): (_, &Caller) = (call.store(), &call.caller);
    let bytes = body.into_data_stream();
    store.put_part(caller, upload, offset(number), bytes, &expected).await?;
    Ok(())
}

/// The upload of a file that is open.
fn open_upload(call: &Call, id: &str) -> Result<UploadId, Fault> {
    let place = call.object(call.object_id(id)?, None)?;
    place.require_open()?;
    let upload = place.note.upload.as_ref().map(|upload| upload.parse());
    Ok(upload.ok_or_else(|| Fault::state("no part of the file was announced"))??)
}

/// The announced properties of a part: its size in the address, its MD5 in a header (RFC 1864).
fn expected(headers: &HeaderMap, query: Option<&str>, body: &Body) -> Result<Expected, Fault> {
    let size = query.and_then(|query| query.strip_prefix("size=")?.parse().ok());
    let length = size.or(body.size_hint().exact()).filter(|length| *length <= LARGEST);
    let length = length.ok_or_else(|| Fault::input("a part needs a length of at most 5 GiB"))?;
    let md5 = match headers.get("content-md5") {
        None => None,
        Some(value) => {
            let bytes = BASE64_STANDARD.decode(value).ok().filter(|bytes| bytes.len() == 16);
            Some(bytes.ok_or_else(|| Fault::input("the header Content-MD5 is invalid"))?)
        }
    };
    let also = if md5.is_none() { vec![Algorithm::Md5] } else { Vec::new() };
    let others = md5.into_iter().map(|md5| (Algorithm::Md5, md5)).collect();
    Ok(Expected { length: Some(length), others, also, ..Expected::default() })
}
