//! Several things are tried, whatever becomes of the others; the first fault is kept.

use crate::{Error, Result};

/// What failed of several things.
#[derive(Debug, Default)]
pub(crate) struct Faults(Option<Error>);

impl Faults {
    /// Logs a fault, and returns the value otherwise.
    pub(crate) fn add<T>(&mut self, outcome: Result<T>) -> Option<T> {
        match outcome {
            Ok(done) => Some(done),
            Err(error) => {
                tracing::warn!(%error, "maintenance failed and will be retried");
                self.0.get_or_insert(error);
                None
            }
        }
    }

    /// The first fault, if there was one.
    pub(crate) fn first(self) -> Result<()> {
        self.0.map_or(Ok(()), Err)
    }
}
