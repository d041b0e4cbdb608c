//! Publishing over a connection that may break: if the response is lost, the state of the store shows whether it was done.

use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;
use cenote_client::{PutOptions, Resource, Sha256Digest};

use super::attempts::Attempts;
use super::target::Target;
use crate::error::{Fault, Result};
use crate::source::Source;

/// Whether an answer was lost before, by this operation or an earlier one that failed.
#[derive(Debug, Default)]
pub(super) struct Lost(AtomicBool);

impl Lost {
    fn note<T>(&self, outcome: &Result<T>) {
        self.0.fetch_or(outcome.as_ref().is_err_and(Fault::may_be_done), Ordering::Relaxed);
    }

    pub(super) fn is_noted(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// Publishes a stage. If it is gone after a response was lost, it was published.
pub(super) async fn publish_stage(
    source: &Source,
    attempts: &Attempts,
    to: &Target,
    lost: &Lost,
) -> Result<Resource> {
    let publish = || async move {
        let stage = attempts.next();
        let complete = source.client.publish_stage(stage.attempt(), None, false);
        let outcome = source.patiently(complete).await;
        attempts.note(&outcome);
        let done = outcome.as_ref().is_err_and(|fault| fault.errno == libc::ENOENT);
        if done && lost.is_noted() {
            return present(source, to).await;
        }
        lost.note(&outcome);
        outcome
    };
    source.insist(publish).await
}

/// Puts a whole content. If a condition does not hold after a response was lost, and the object has that content, it was put.
pub(super) async fn put(
    source: &Source,
    to: &Target,
    (bytes, options): (&Bytes, &PutOptions),
    lost: &Lost,
) -> Result<Resource> {
    let put = || async move {
        let put = source.client.put_bytes(to.address(), bytes.clone(), options);
        let outcome = source.patiently(put).await;
        let refused = outcome.as_ref().is_err_and(|fault| fault.errno == libc::ESTALE);
        if refused && lost.is_noted() {
            let digest = Sha256Digest::of(bytes).to_string();
            let found = present(source, to).await?;
            return if found.sha256 == Some(digest) { Ok(found) } else { outcome };
        }
        lost.note(&outcome);
        outcome
    };
    source.insist(put).await
}

/// The current resource at a target.
pub(super) async fn present(source: &Source, to: &Target) -> Result<Resource> {
    match to {
        Target::Object(id) => source.stat_of(*id).await,
        Target::New { parent, name, .. } => {
            source.child_of(*parent, name).await?.ok_or_else(|| Fault::missing(name))
        }
    }
}
