//! Writing with several concurrent streams.
//!
//! A handle that replaces the content is an upload of the store: its parts become visible at shutdown, all of
//! them or none, and an abandoned one is swept. A handle that keeps the content has none, and each write
//! through it is applied to the content at once. Either holds the lock of its object, which is a note of the
//! store; so any server over the same catalog knows every handle.
//!
//! Invariant: a handle without its lock neither writes nor publishes anything any more: the commit that
//! publishes releases the lock.

use axum::http::StatusCode;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use cenote_store::{
    At, Conditions, Error, ErrorKind, PlaceId, PutOptions, StorePath, UploadId, UploadOptions,
    Where,
};

use super::lock;
use super::write::{Mode, ensure, may_put, refusal};
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;
use crate::irods::zone::notes;
use crate::irods::zone::notes::Changing;

/// A parallel write. Not `Debug`, since it can contain a ticket.
#[derive(Clone, PartialEq, Eq)]
struct Handle {
    /// The number of its lock.
    lock: u64,
    /// The upload that receives its bytes, if they replace the content.
    upload: Option<UploadId>,
    /// The place that they go to, if one was specified.
    place: Option<PlaceId>,
    /// The ticket with which it was begun, which clients do not send again.
    ticket: Option<String>,
    path: StorePath,
}

/// The place that bytes written through a handle go to.
pub(crate) fn place(handle: &str) -> Option<PlaceId> {
    Handle::decode(handle)?.place
}

impl Handle {
    /// A handle whose lock still holds, which is renewed. It is invalid for a token of the same account
    /// restricted to another subtree.
    async fn open(call: &Call, handle: &str) -> Result<Self, Refusal> {
        let handle = Self::decode(handle).ok_or(Refusal::BAD)?;
        let (caller, path, number) = (call.caller.clone(), handle.path.clone(), handle.lock);
        let renewed = call.blocking(move |store| {
            let is_open = store.is_open_to(&caller, &path)?;
            Ok(is_open && lock::renew(store, &caller, &path, number)?)
        });
        match renewed.await? {
            true => Ok(handle),
            false => Err(Refusal::BAD),
        }
    }

    fn encode(&self) -> String {
        let upload = self.upload.map(|id| id.to_string()).unwrap_or_default();
        let path = BASE64_URL_SAFE_NO_PAD.encode(self.path.to_string());
        let place = self.place.map(|id| id.to_string()).unwrap_or_default();
        let ticket = self.ticket.as_deref().unwrap_or_default();
        let ticket = BASE64_URL_SAFE_NO_PAD.encode(ticket);
        format!("{}.{upload}.{place}.{ticket}.{path}", self.lock)
    }

    fn decode(handle: &str) -> Option<Self> {
        let parts: Vec<&str> = handle.split('.').collect();
        let [lock, upload, place, ticket, path] = parts[..] else { return None };
        Some(Self {
            lock: lock.parse().ok()?,
            upload: some(upload)?,
            place: some(place)?.map(PlaceId),
            ticket: Some(decoded(ticket)?).filter(|ticket| !ticket.is_empty()),
            path: decoded(path)?.parse().ok()?,
        })
    }
}

/// The value of an optional part of a handle.
fn some<T: std::str::FromStr>(part: &str) -> Option<Option<T>> {
    if part.is_empty() { Some(None) } else { part.parse().ok().map(Some) }
}

fn decoded(part: &str) -> Option<String> {
    String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(part).ok()?).ok()
}

/// The ticket with which a handle was made.
pub(crate) fn ticket(handle: &str) -> Option<String> {
    Handle::decode(handle)?.ticket
}

/// `parallel_write_init`.
pub(crate) async fn init(call: Call) -> Answer {
    let streams = call.count("stream-count")?.ok_or(Refusal::BAD)?;
    if streams == 0 || streams > call.settings().streams {
        return Err(Refusal::BAD);
    }
    let path = call.path("lpath")?;
    let replaces = matches!(Mode::of(&call)?, Mode::Replace | Mode::At(_, true));
    let place = place_for(&call, &path).await?;
    let lock = acquire(&call, path.clone(), streams).await?;
    let begun = match replaces {
        true => begin(&call, path.clone(), place).await.map(Some),
        false => ensure(&call, path.clone(), false, place).await.map(|()| None),
    };
    match begun {
        Ok(upload) => {
            let ticket = call.form.text("ticket").map(str::to_owned);
            let handle = Handle { lock, upload, place, ticket, path };
            answer::member("parallel_write_handle", handle.encode())
        }
        Err(refusal) => {
            release(&call, path, lock).await?;
            Err(refusal)
        }
    }
}

async fn acquire(call: &Call, path: StorePath, streams: u64) -> Result<u64, Refusal> {
    let (caller, most) = (call.acting(), call.settings().all_streams);
    call.blocking(move |store| lock::acquire(store, &caller, &path, streams, most)).await?
}

async fn release(call: &Call, path: StorePath, number: u64) -> Result<(), Refusal> {
    let caller = call.caller.clone();
    call.blocking(move |store| lock::release(store, &caller, &path, number)).await
}

/// Where the bytes go.
async fn place_for(call: &Call, path: &StorePath) -> Result<Option<PlaceId>, Refusal> {
    may_put(call, call.acting(), path.clone()).await?;
    call.place(path).await
}

async fn begin(call: &Call, path: StorePath, place: Option<PlaceId>) -> Result<UploadId, Refusal> {
    let caller = call.acting();
    let put = PutOptions { place, ..PutOptions::default() };
    let options = UploadOptions { put, ..UploadOptions::default() };
    let begun = call.blocking(move |store| Ok(store.begin_upload(&caller, &path, &options)));
    begun.await?.map(|upload| upload.id).map_err(refusal)
}

/// The place for bytes that are about to arrive through a handle; refused unless the caller may write.
pub(crate) async fn destination(call: &Call, handle: &str) -> Result<Option<PlaceId>, Refusal> {
    let handle = Handle::open(call, handle).await?;
    let (caller, path, offset) = (call.acting(), handle.path, call.count("offset")?.unwrap_or(0));
    may_put(call, caller.clone(), path).await?;
    if let Some(id) = handle.upload {
        let may = call.blocking(move |store| Ok(store.may_keep_part(&caller, id, offset)));
        may.await?.map_err(no_upload)?;
    }
    Ok(handle.place)
}

fn no_upload(error: Error) -> Refusal {
    match error.kind() {
        ErrorKind::NotFound => Refusal::BAD,
        _ => error.into(),
    }
}

/// `write` through a handle: the offset is used, the index of the stream is not.
pub(crate) async fn write(mut call: Call, handle: &str) -> Answer {
    let handle = Handle::open(&call, handle).await?;
    let offset = call.count("offset")?.unwrap_or(0);
    if call.count("stream-index")?.is_some_and(|index| index > call.settings().streams) {
        return Err(Refusal::BAD);
    }
    let bytes = call.bytes()?;
    let caller = call.acting();
    may_put(&call, caller.clone(), handle.path.clone()).await?;
    match handle.upload {
        Some(id) => {
            let kept = call.app.store().keep_part(&caller, id, offset, bytes).await;
            kept.map_err(no_upload)?;
        }
        None => {
            let (at, always) = (At::from(handle.path), Conditions::default());
            let store = call.app.store();
            let written = store.write_received(&caller, &at, Where::Offset(offset), bytes, &always);
            written.await.map_err(refusal)?;
        }
    }
    answer::done()
}

/// `parallel_write_shutdown`: what was written becomes visible. An unknown handle is not an error; one that
/// has lost its lock is, if it has unpublished bytes.
pub(crate) async fn shutdown(call: Call) -> Answer {
    let handle = call.need("parallel-write-handle")?;
    let Some(handle) = Handle::decode(handle) else { return answer::done() };
    let Some(id) = handle.upload else {
        release(&call, handle.path, handle.lock).await?;
        return answer::done();
    };
    match publish(&call, id, &handle).await {
        Ok(()) => return answer::done(),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            release(&call, handle.path, handle.lock).await?;
            return Err(not_published(error));
        }
    }
    release(&call, handle.path, handle.lock).await?;
    answer::done()
}

/// Publishes the upload of a handle in the commit that releases its lock, which it must still hold.
async fn publish(call: &Call, id: UploadId, handle: &Handle) -> cenote_store::Result<()> {
    let (caller, path, number) = (call.caller.clone(), handle.path.clone(), handle.lock);
    let unlock = move |notes: &mut Changing<'_, '_>| lock::give_back(notes, &caller, &path, number);
    let store = call.app.store();
    notes::complete_upload(store, &call.acting(), id, unlock).await.map(drop)
}

fn not_published(error: Error) -> Refusal {
    match error.kind() {
        ErrorKind::Conflict => Refusal::Coded {
            status: StatusCode::OK,
            code: Code::InvalidHandle,
            message: Some(error.to_string()),
        },
        _ => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_handle_round_trips(
            lock: u64, upload: Option<(u64, Option<u64>)>, place: Option<u64>,
            ticket in proptest::option::of("\\PC{1,5}"), path in "(/[a-z ü]{1,5}){1,3}",
        ) {
            let upload = upload.map(|(number, secret)| UploadId { number, secret });
            let (place, path) = (place.map(PlaceId), path.parse().unwrap());
            let handle = Handle { lock, upload, place, ticket, path };
            prop_assert!(Handle::decode(&handle.encode()) == Some(handle));
        }

        #[test]
        fn decoding_noise_as_a_handle_does_not_panic(noise in "\\PC{0,20}") {
            let _ = Handle::decode(&noise);
        }
    }
}
