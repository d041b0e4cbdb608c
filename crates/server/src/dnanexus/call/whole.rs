//! Calls that change many resources: all of it happens, or nothing.
//!
//! They run in a change set of the store, which is committed before the answer. Nobody sees a part of their changes, and what was refused
//! in the middle has changed nothing.

use std::sync::Arc;

use cenote_store::{Caller, ChangeSetId, Error, ErrorKind, Store};
use serde_json::Value;

use super::fault::Fault;
use super::question::Call;
use crate::dnanexus::methods;

/// How often a call is run again whose commit others were faster than.
const ATTEMPTS: usize = 8;

/// Whether a call may change more than one resource.
pub(crate) fn is_whole(call: &Call, method: &str) -> bool {
    let named = |key: &str| call.input[key].as_array().map_or(0, Vec::len);
    match method {
        "clone" | "archive" | "unarchive" => true,
        "move" | "removeObjects" => named("objects") + named("folders") > 1,
        _ => false,
    }
}

/// Runs a method as one change.
pub(crate) async fn run(call: Call, resource: String, method: String) -> Result<Value, Fault> {
    let named = Arc::new((resource, method));
    for _ in 1..ATTEMPTS {
        match once(&call, &named).await {
            Err(Failed::Overtaken(_)) => {}
            Err(Failed::Refused(fault)) => return Err(fault),
            Ok(answer) => return Ok(answer),
        }
    }
    once(&call, &named).await.map_err(|failed| match failed {
        Failed::Overtaken(error) => error.into(),
        Failed::Refused(fault) => fault,
    })
}

/// Why a run failed.
enum Failed {
    /// Others have changed what it depends on before its commit.
    Overtaken(Error),
    Refused(Fault),
}

impl<T: Into<Fault>> From<T> for Failed {
    fn from(error: T) -> Self {
        Self::Refused(error.into())
    }
}

async fn once(call: &Call, named: &Arc<(String, String)>) -> Result<Value, Failed> {
    let (store, caller) = (call.store().clone(), call.caller.clone());
    let begun = store.begin_change_set(&caller, None).map_err(begin_later)?;
    let set = Open { store, caller, id: begun.id };
    let within = set.store.within(&set.caller, set.id).await?;
    let inside = Call { app: call.app.on((*within).clone()), ..call.clone() };
    let named = Arc::clone(named);
    let answer = inside.blocking(move |call| methods::run(call, &named.0, &named.1)).await;
    drop(within);
    let answer = answer?;
    match set.store.commit_change_set(&set.caller, set.id).await {
        Err(error) if error.kind() == ErrorKind::Conflict => Err(Failed::Overtaken(error)),
        committed => Ok(committed.map(|_| answer)?),
    }
}

/// Too many change sets are open: clients try again.
fn begin_later(error: Error) -> Fault {
    match error.kind() {
        ErrorKind::TooLarge => Fault::later("too many calls like this at once", Some(1)),
        _ => error.into(),
    }
}

/// A change set that is dropped unless it was committed, even if the client has disconnected.
struct Open {
    store: Store,
    caller: Caller,
    id: ChangeSetId,
}

impl Drop for Open {
    fn drop(&mut self) {
        // A committed one has ended already.
        let _ended = self.store.drop_change_set(&self.caller, self.id);
    }
}
