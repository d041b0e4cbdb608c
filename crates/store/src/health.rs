//! The latch: after the first failed write to a disk, or when asked to, the store takes no more changes until it
//! is opened again, and reports this. Reads continue.

use std::sync::OnceLock;

use crate::{Error, ErrorKind, Result};

/// Whether a store takes changes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    /// It does.
    Ready,
    /// It only reads, since this went wrong; it has to be opened again.
    ReadOnly(String),
}

/// Closed once, permanently.
#[derive(Debug, Default)]
pub(crate) struct Latch(OnceLock<Cause>);

/// Why it was closed.
#[derive(Debug)]
enum Cause {
    Failed(String),
    Requested(String),
}

impl Latch {
    /// Refuses changes once closed.
    pub(crate) fn check(&self) -> Result<()> {
        let (message, hint) = match self.0.get() {
            None => return Ok(()),
            Some(Cause::Failed(cause)) => (
                format!("read-only since a write failed: {cause}"),
                "restart the server once the disk works again",
            ),
            Some(Cause::Requested(reason)) => {
                (format!("read-only for now: {reason}"), "try again later")
            }
        };
        Err(Error::new(ErrorKind::ReadOnly, message).with_hint(hint))
    }

    /// Closes on request.
    pub(crate) fn freeze(&self, reason: &str) {
        let _ = self.0.set(Cause::Requested(reason.to_owned()));
    }

    /// Closes because of an error, which is returned. The first cause is kept.
    pub(crate) fn close(&self, error: Error) -> Error {
        if self.0.set(Cause::Failed(error.to_string())).is_ok() {
            tracing::error!(%error, "a write failed: the store is read-only until it is restarted");
        }
        error
    }

    pub(crate) fn health(&self) -> Health {
        match self.0.get() {
            None => Health::Ready,
            Some(Cause::Failed(cause) | Cause::Requested(cause)) => Health::ReadOnly(cause.clone()),
        }
    }
}
