//! The refusals of the access check.
//!
//! Invariant: the answer depends only on what the caller may see. Anything below a collection that they do not see is
//! forbidden, whether it exists or not; in a collection that they see, and anywhere below one that they control, what
//! they do not see is missing.

use axum::http::{Method, StatusCode};
use cenote_store::{At, Kind, Rights, Store};

use crate::ldp::request::call::Call;
use crate::ldp::request::fault::Fault;

/// The caller and the request that a refusal is judged for.
pub(crate) struct AccessCheck {
    call: Call,
}

impl AccessCheck {
    pub(crate) fn of(call: &Call) -> Self {
        Self { call: call.clone() }
    }

    #[expect(clippy::disallowed_methods, reason = "whether logging in may help")]
    pub(crate) fn is_anonymous(&self) -> bool {
        self.call.caller.is_anonymous()
    }

    /// A fault, as this caller is answered it.
    pub(crate) async fn judged(&self, fault: Fault) -> Fault {
        if !self.call.dialect.has_acls || !fault.status().is_client_error() {
            return fault;
        }
        let status = fault.status();
        let is_forbidden = self.call.blocking(move |store, call| {
            Ok(match status {
                StatusCode::NOT_FOUND => is_out_of_sight(store, call),
                StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED => false,
                _ => lacks(store, call),
            })
        });
        match is_forbidden.await {
            Ok(true) => Fault::new(StatusCode::FORBIDDEN, "this is not allowed"),
            _ => fault,
        }
    }
}

/// Refuses an update that could remove something, whatever it really removes, to those who may only add, in dialects that have modes for
/// that.
pub(crate) fn require_removing(store: &Store, call: &Call, at: &At) -> Result<(), Fault> {
    if !call.dialect.has_acls {
        return Ok(());
    }
    let rights = store.rights(&call.caller, at)?;
    let removing = [Rights::CHANGE_DESCRIPTION, Rights::REMOVE_DESCRIPTION];
    match removing.into_iter().any(|right| rights.contains(right)) {
        true => Ok(()),
        false => Err(Fault::new(StatusCode::FORBIDDEN, "you may only append to it")),
    }
}

/// Whether this is a PUT of something new, in a collection that the caller sees and may not create in.
fn lacks_creation(store: &Store, call: &Call) -> bool {
    let above = call.path().split_last().map(|(above, _)| At::from(&above));
    let rights = above.and_then(|above| store.rights(&call.caller, &above).ok());
    call.method == Method::PUT && rights.is_some_and(|rights| !rights.contains(Rights::CREATE))
}

/// Whether the caller sees neither what the request names nor the collection that it would be in, unless they control the nearest one
/// that they see.
fn is_out_of_sight(store: &Store, call: &Call) -> bool {
    let mut path = call.path().clone();
    for distance in 0.. {
        if let Ok(rights) = store.rights(&call.caller, &At::from(&path)) {
            return distance > 1 && !rights.contains(Rights::CONTROL);
        }
        match path.split_last() {
            Some((above, _)) => path = above,
            None => break,
        }
    }
    true
}

/// Whether the caller may not change the resource with this method, whatever they send. Clients that log in only when they are prompted
/// send a whole request before, with its conditions, which cannot be met by what is not seen.
fn lacks(store: &Store, call: &Call) -> bool {
    let Ok(rights) = store.rights(&call.caller, &call.at()) else {
        return is_out_of_sight(store, call) || lacks_creation(store, call);
    };
    let Ok(stat) = store.stat(&call.caller, &call.at()) else { return false };
    let enough: &[Rights] = match call.method {
        Method::DELETE => &[Rights::REMOVE],
        Method::PATCH => {
            &[Rights::ADD_DESCRIPTION, Rights::CHANGE_DESCRIPTION, Rights::REMOVE_DESCRIPTION]
        }
        Method::POST if stat.resource.kind == Kind::Collection => &[Rights::CREATE],
        Method::PUT | Method::POST => &[Rights::WRITE_CONTENT, Rights::CHANGE_DESCRIPTION],
        _ => return false,
    };
    !enough.iter().any(|right| rights.contains(*right))
}
