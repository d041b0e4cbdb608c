//! Writing with several streams at a time.
//!
//! A handle that replaces the content is an upload of the store's: its parts are seen when it is
//! shut down, all of them or none, and an abandoned one is swept. A handle that keeps the content names its
//! object, and each write through it is laid over the content at once. No handle is kept in
//! this process, so any server over the same catalog knows it.

use axum::http::StatusCode;
use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use cenote_store::{At, Conditions, ErrorKind, PutOptions, StorePath, UploadOptions, Where};

use super::answer::{self, Answer};
use super::call::Call;
use super::code::{Code, Refusal};
use super::write::{Mode, check_replica, ensure, refusal};

/// What a handle stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Handle {
    Upload(u64),
    Object(StorePath),
}

impl Handle {
    fn encode(&self) -> String {
        match self {
            Self::Upload(id) => format!("u{id}"),
            Self::Object(path) => format!("o{}", BASE64_URL_SAFE_NO_PAD.encode(path.to_string())),
        }
    }

    fn decode(handle: &str) -> Option<Self> {
        match handle.split_at_checked(1)? {
            ("u", id) => Some(Self::Upload(id.parse().ok()?)),
            ("o", path) => {
                let path = String::from_utf8(BASE64_URL_SAFE_NO_PAD.decode(path).ok()?).ok()?;
                Some(Self::Object(path.parse().ok()?))
            }
            _ => None,
        }
    }
}

/// `parallel_write_init`.
pub(super) async fn init(call: Call) -> Answer {
    let streams = call.count("stream-count")?.ok_or(Refusal::BAD)?;
    if streams == 0 || streams > call.settings().streams {
        return Err(Refusal::BAD);
    }
    let path = call.path("lpath")?;
    let mode = Mode::of(&call)?;
    check_replica(&call)?;
    let handle = match mode {
        Mode::Replace | Mode::At(_, true) => Handle::Upload(begin(&call, path).await?),
        Mode::At(_, false) => {
            ensure(&call, path.clone(), false).await?;
            Handle::Object(path)
        }
    };
    answer::member("parallel_write_handle", handle.encode())
}

async fn begin(call: &Call, path: StorePath) -> Result<u64, Refusal> {
    let caller = call.acting();
    let options = UploadOptions { put: PutOptions::default(), size: None };
    let begun = call.ask(move |store| Ok(store.begin_upload(&caller, &path, &options)));
    begun.await?.map(|upload| upload.id).map_err(refusal)
}

/// `write` through a handle: the offset counts, the index of the stream does not.
pub(super) async fn write(mut call: Call, handle: &str) -> Answer {
    let handle = Handle::decode(handle).ok_or(Refusal::BAD)?;
    let offset = call.count("offset")?.unwrap_or(0);
    if call.count("stream-index")?.is_some_and(|index| index > call.settings().streams) {
        return Err(Refusal::BAD);
    }
    let bytes = call.bytes().await?;
    let caller = call.acting();
    match handle {
        Handle::Upload(id) => {
            let kept = call.ask(move |store| Ok(store.keep_part(&caller, id, offset, &bytes)));
            kept.await?.map_err(|error| match error.kind() {
                ErrorKind::NotFound => Refusal::BAD,
                _ => error.into(),
            })?;
        }
        Handle::Object(path) => {
            let (at, position, always) =
                (At::from(path), Where::Offset(offset), Conditions::default());
            let store = call.app.store();
            let written = store.write_received(&caller, &at, position, bytes, &always);
            written.await.map_err(refusal)?;
        }
    }
    answer::done()
}

/// `parallel_write_shutdown`: what was written is seen from now on.
pub(super) async fn shutdown(call: Call) -> Answer {
    let handle = call.need("parallel-write-handle")?;
    let Some(Handle::Upload(id)) = Handle::decode(handle) else { return answer::done() };
    let completed = call.app.store().complete_upload(&call.acting(), id, None).await;
    match completed {
        Ok(_) => answer::done(),
        Err(error) if error.kind() == ErrorKind::NotFound => answer::done(),
        Err(error) if error.kind() == ErrorKind::Conflict => Err(Refusal::Coded {
            status: StatusCode::OK,
            code: Code::InvalidHandle,
            message: Some(error.to_string()),
        }),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_handle_comes_back(id: u64, path in "(/[a-z ü]{1,5}){1,3}") {
            for handle in [Handle::Upload(id), Handle::Object(path.parse().unwrap())] {
                prop_assert_eq!(Handle::decode(&handle.encode()), Some(handle));
            }
        }

        #[test]
        fn noise_is_no_handle_that_would_panic(noise in "\\PC{0,20}") {
            let _ = Handle::decode(&noise);
        }
    }
}
