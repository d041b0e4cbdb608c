//! Writing with several concurrent streams.
//!
//! A handle that replaces the content is an upload of the store in parts; one that keeps it is a stage that begins from
//! it. Either becomes visible at shutdown as one version, all of it or nothing, and an abandoned one is swept. Where a
//! handle keeps the content and names a storage resource, each write is applied to the replica there as it arrives.
//! Each holds the lock of its object, which is a note of the store; so any server over the same catalog knows
//! every handle, also after a restart.
//!
//! Invariants: a handle without its lock neither writes nor publishes anything any more: the commit that publishes
//! releases the lock. A stage is published only while the object has the content that it began from.

mod handle;

use cenote_store::{
    Conditions, Error, ErrorKind, PlaceId, PutOptions, StageFrom, StorePath, UploadId,
    UploadOptions, Where,
};

use self::handle::{Handle, Kept};
pub(crate) use self::handle::{place, ticket};
use super::lock;
use super::write::{Mode, may_put, refusal};
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::Refusal;
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;
use crate::irods::zone::notes;
use crate::irods::zone::notes::Changing;

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
        true => begin(&call, path.clone(), place).await.map(Kept::Parts),
        false => begin_stage(&call, path.clone(), place).await.map(Kept::Stage),
    };
    match begun {
        Ok(until_then) => {
            let ticket = call.form.text("ticket").map(str::to_owned);
            let handle = Handle { lock, until_then, place, ticket, path };
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

/// Begins with the content of the object, or of its replica in the place; or empty if there is no object.
async fn begin_stage(
    call: &Call,
    path: StorePath,
    place: Option<PlaceId>,
) -> Result<UploadId, Refusal> {
    let caller = call.acting();
    let begun = call.blocking(move |store| {
        let begin = |from, if_absent| {
            let conditions = Conditions { if_absent, ..Conditions::default() };
            let put = PutOptions { conditions, place, ..PutOptions::default() };
            let options = UploadOptions { put, stage: Some(from), ..UploadOptions::default() };
            store.begin_upload(&caller, &path, &options)
        };
        Ok(match begin(StageFrom::Nothing, true) {
            Err(error) if error.kind() == ErrorKind::Precondition => {
                begin(StageFrom::Object, false)
            }
            begun => begun,
        })
    });
    begun.await?.map(|upload| upload.id).map_err(refusal)
}

/// The place for bytes that are about to arrive through a handle; refused unless the caller may write.
pub(crate) async fn destination(call: &Call, handle: &str) -> Result<Option<PlaceId>, Refusal> {
    let handle = Handle::open(call, handle).await?;
    let (caller, path, offset) = (call.acting(), handle.path, call.count("offset")?.unwrap_or(0));
    may_put(call, caller.clone(), path).await?;
    if let Kept::Parts(id) = handle.until_then {
        let may = call.blocking(move |store| Ok(store.may_keep_part(&caller, id, offset)));
        may.await?.map_err(no_upload)?;
    }
    Ok(handle.place)
}

fn no_upload(error: Error) -> Refusal {
    Doing::WritePart.refusal(error)
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
    let store = call.app.store();
    match handle.until_then {
        Kept::Parts(id) => {
            store.keep_part(&caller, id, offset, bytes).await.map_err(no_upload)?;
        }
        Kept::Stage(id) => {
            let position = Where::Offset(offset);
            let written = store.write_stage_received(&caller, id, position, bytes).await;
            written.map_err(no_upload)?;
        }
    }
    answer::done()
}

/// `parallel_write_shutdown`: what was written becomes visible. An unknown handle is not an error; one that
/// has lost its lock is, if it has unpublished bytes.
pub(crate) async fn shutdown(call: Call) -> Answer {
    let handle = call.need("parallel-write-handle")?;
    let Some(handle) = Handle::decode(handle) else { return answer::done() };
    let id = handle.until_then.upload();
    match publish(&call, id, &handle).await {
        Ok(()) => return answer::done(),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => {
            abandon(&call, id).await?;
            release(&call, handle.path, handle.lock).await?;
            return Err(Doing::Publish.refusal(error));
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

/// Cancels an upload that can no longer be published: without its lock, nothing can be written to it.
async fn abandon(call: &Call, id: UploadId) -> Result<(), Refusal> {
    let caller = call.acting();
    call.blocking(move |store| match store.abandon_upload(&caller, id) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        given_up => given_up,
    })
    .await
}
