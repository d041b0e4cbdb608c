//! `write`. A whole content replaces the existing one in one commit, and so do bytes at an offset that truncate it; bytes
//! at an offset that keep it, or are appended, are written over it, each write visible and durable once it is
//! acknowledged, since the protocol opens and closes the object with each.

use bytes::Bytes;
use cenote_store::{
    At, Caller, Conditions, Error, ErrorKind, PlaceId, PutOptions, ReceiveOptions, Received,
    StageFrom, StorePath, UploadOptions, Where,
};
use futures_util::stream;

use super::{lock, parallel};
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::Refusal;
use crate::irods::call::request::Call;
use crate::irods::call::translation::Doing;

pub(crate) async fn write(mut call: Call) -> Answer {
    if let Some(handle) = call.form.text("parallel-write-handle").map(str::to_owned) {
        return parallel::write(call, &handle).await;
    }
    let path = call.path("lpath")?;
    let mode = Mode::of(&call)?;
    may_write(&call, path.clone()).await?;
    let place = call.place(&path).await?;
    let bytes = call.bytes()?;
    match mode {
        Mode::Replace => replace(&call, path, bytes).await?,
        Mode::At(position, true) => replace_from(&call, path, place, position, bytes).await?,
        Mode::At(position, false) => lay(&call, path, place, position, bytes).await?,
    }
    answer::done()
}

/// What happens to the existing bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// They are replaced.
    Replace,
    /// They are kept except where new ones overwrite them; with `true` they are truncated first.
    At(Where, bool),
}

impl Mode {
    pub(crate) fn of(call: &Call) -> Result<Self, Refusal> {
        let offset = call.count("offset")?.unwrap_or(0);
        let append = call.form.flag("append", false);
        let truncate = call.form.flag("truncate", true) && !append;
        Ok(match (append, truncate, offset) {
            (true, ..) => Self::At(Where::Append, false),
            (_, true, 0) => Self::Replace,
            (_, truncate, offset) => Self::At(Where::Offset(offset), truncate),
        })
    }
}

/// Refuses a caller who may not write, and an object that is locked by a parallel write. In this order: a
/// lock reveals that the object exists.
pub(crate) async fn may_write(call: &Call, path: StorePath) -> Result<(), Refusal> {
    may_put(call, call.acting(), path.clone()).await?;
    check_lock(call, path).await
}

/// Refuses an object that is locked by a parallel write.
pub(crate) async fn check_lock(call: &Call, path: StorePath) -> Result<(), Refusal> {
    call.blocking(move |store| lock::check(store, &path)).await?
}

/// Checks that bytes may be put at a path; a caller who may not learns only that, not what exists there.
pub(crate) async fn may_put(call: &Call, caller: Caller, path: StorePath) -> Result<(), Refusal> {
    let may = call.blocking(move |store| Ok(store.may_put(&caller, &path, &PutOptions::default())));
    may.await?.map_err(refusal)
}

/// Writes bytes at an offset of an object, which is created if missing, and truncated first if requested.
pub(crate) async fn put(
    call: &Call,
    path: StorePath,
    offset: u64,
    truncate: bool,
    bytes: Received,
) -> Result<(), Refusal> {
    match (truncate, offset) {
        (true, 0) => replace(call, path, bytes).await,
        (true, _) => replace_from(call, path, None, Where::Offset(offset), bytes).await,
        (false, _) => lay(call, path, None, Where::Offset(offset), bytes).await,
    }
}

async fn replace(call: &Call, path: StorePath, bytes: Received) -> Result<(), Refusal> {
    let caller = call.acting();
    let put = call.blocking(move |store| {
        Ok(store.publish(&caller, &path, &bytes, &PutOptions::default()).map(drop))
    });
    put.await?.map_err(refusal)
}

/// Replaces the content by zeros up to a position and bytes from there on, as one version.
async fn replace_from(
    call: &Call,
    path: StorePath,
    place: Option<PlaceId>,
    position: Where,
    bytes: Received,
) -> Result<(), Refusal> {
    let put = PutOptions { place, ..PutOptions::default() };
    let stage = Some(StageFrom::Nothing);
    let options = UploadOptions { put, stage, ..UploadOptions::default() };
    let (store, caller) = (call.app.store(), call.acting());
    let uploader = caller.clone();
    let begun = call.blocking(move |store| Ok(store.begin_upload(&uploader, &path, &options)));
    let upload = begun.await?.map_err(refusal)?.id;
    let written = match store.write_stage_received(&caller, upload, position, bytes).await {
        Ok(_) => store.complete_upload(&caller, upload, None).await.map(drop),
        Err(error) => Err(error),
    };
    if let Err(error) = written {
        // One that cannot be cancelled now expires later.
        let _ = call.blocking(move |store| store.abandon_upload(&caller, upload)).await;
        return Err(refusal(error));
    }
    Ok(())
}

/// Writes bytes over the content, and creates the object if it is missing.
async fn lay(
    call: &Call,
    path: StorePath,
    place: Option<PlaceId>,
    position: Where,
    bytes: Received,
) -> Result<(), Refusal> {
    ensure(call, path.clone(), place).await?;
    let (caller, at) = (call.acting(), At::from(path));
    let store = call.app.store();
    let written = store.write_received(&caller, &at, position, bytes, &Conditions::default()).await;
    written.map(drop).map_err(refusal)
}

/// Creates an object if it is missing.
async fn ensure(call: &Call, path: StorePath, place: Option<PlaceId>) -> Result<(), Refusal> {
    let nothing = stream::empty::<cenote_store::Result<Bytes>>();
    let options = ReceiveOptions { place, ..ReceiveOptions::default() };
    let nothing = call.app.store().receive(nothing, options).await?;
    let caller = call.acting();
    let ready = call.blocking(move |store| {
        let conditions = Conditions { if_absent: true, ..Conditions::default() };
        let options = PutOptions { conditions, place, ..PutOptions::default() };
        Ok(match store.publish(&caller, &path, &nothing, &options) {
            Err(error) if error.kind() == ErrorKind::Precondition => Ok(()),
            made => made.map(drop),
        })
    });
    ready.await?.map_err(refusal)
}

/// Why a write is refused.
pub(crate) fn refusal(error: Error) -> Refusal {
    Doing::Write.refusal(error)
}
