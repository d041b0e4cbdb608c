//! `write`. A whole content replaces the existing one in one commit; bytes at an offset, or appended, are
//! written over it.

use bytes::Bytes;
use cenote_store::{
    At, Caller, Conditions, Error, ErrorKind, PlaceId, PutOptions, Received, StorePath, Where,
};
use futures_util::stream;

use super::{lock, parallel};
use crate::irods::call::answer;
use crate::irods::call::answer::Answer;
use crate::irods::call::code::{Code, Refusal};
use crate::irods::call::request::Call;

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
        Mode::At(position, cut) => lay(&call, path, place, (position, cut), bytes).await?,
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

/// Checks that bytes may be put at a path; a caller who may not is told only that, not what exists there.
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
        _ => lay(call, path, None, (Where::Offset(offset), truncate), bytes).await,
    }
}

async fn replace(call: &Call, path: StorePath, bytes: Received) -> Result<(), Refusal> {
    let caller = call.acting();
    let put = call.blocking(move |store| {
        Ok(store.publish(&caller, &path, &bytes, &PutOptions::default()).map(drop))
    });
    put.await?.map_err(refusal)
}

async fn lay(
    call: &Call,
    path: StorePath,
    place: Option<PlaceId>,
    (position, cut): (Where, bool),
    bytes: Received,
) -> Result<(), Refusal> {
    ensure(call, path.clone(), cut, place).await?;
    let (caller, at) = (call.acting(), At::from(path));
    let store = call.app.store();
    let written = store.write_received(&caller, &at, position, bytes, &Conditions::default()).await;
    written.map(drop).map_err(refusal)
}

/// Creates an object if it is missing, and truncates it if requested.
pub(crate) async fn ensure(
    call: &Call,
    path: StorePath,
    cut: bool,
    place: Option<PlaceId>,
) -> Result<(), Refusal> {
    let nothing = stream::empty::<cenote_store::Result<Bytes>>();
    let nothing = call.app.store().receive_at(place, nothing, &Default::default()).await?;
    let caller = call.acting();
    let ready = call.blocking(move |store| {
        let conditions = Conditions { if_absent: true, ..Conditions::default() };
        let options = PutOptions { conditions, place, ..PutOptions::default() };
        Ok(match store.publish(&caller, &path, &nothing, &options) {
            Err(error) if error.kind() == ErrorKind::Precondition && cut => {
                let always = Conditions::default();
                store.truncate_in(&caller, &path.into(), 0, &always, place).map(drop)
            }
            Err(error) if error.kind() == ErrorKind::Precondition => Ok(()),
            made => made.map(drop),
        })
    });
    ready.await?.map_err(refusal)
}

/// Why a write is refused: a caller who may not see the collection may not write there, either.
pub(crate) fn refusal(error: Error) -> Refusal {
    match error.kind() {
        ErrorKind::Denied | ErrorKind::NotFound => {
            Refusal::code(Code::NoAccess).with_message(&error.to_string())
        }
        _ => error.into(),
    }
}
