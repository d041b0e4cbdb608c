//! The latch: after the first failed write to a disk the store takes no more changes until it
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
pub(crate) struct Latch(OnceLock<String>);

impl Latch {
    /// Refuses changes once closed.
    pub(crate) fn check(&self) -> Result<()> {
        self.0.get().map_or(Ok(()), |cause| {
            Err(Error::new(ErrorKind::ReadOnly, format!("read-only since a write failed: {cause}"))
                .with_hint("restart the server once the disk works again"))
        })
    }

    /// Closes because of an error, which is returned. The first cause is kept.
    pub(crate) fn close(&self, error: Error) -> Error {
        if self.0.set(error.to_string()).is_ok() {
            tracing::error!(%error, "a write failed: the store is read-only until it is restarted");
        }
        error
    }

    pub(crate) fn health(&self) -> Health {
        self.0.get().map_or(Health::Ready, |cause| Health::ReadOnly(cause.clone()))
    }
}
