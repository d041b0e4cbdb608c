//! Changes of a stage that are sent again, since nobody knows whether they arrived.
//!
//! Invariant: once an attempt has changed a stage, no earlier one does: what was given up and arrives late changes nothing. Changes of the same
//! attempt may arrive in any order.

use crate::catalog::UploadRecord;
use crate::contents::UploadId;
use crate::{Error, ErrorKind, Result};

/// A stage that is changed, and by which attempt.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    pub(super) upload: UploadId,
    pub(super) number: u64,
}

impl From<UploadId> for Attempt {
    fn from(upload: UploadId) -> Self {
        upload.attempt(0)
    }
}

impl UploadId {
    /// The stage, for a change by this attempt. Whoever gives a change up without knowing whether it was made counts up, and sends it and all that
    /// follow with the next number. The first one is 0.
    pub fn attempt(self, number: u64) -> Attempt {
        Attempt { upload: self, number }
    }
}

/// Refuses a change of an attempt if a later one has changed the stage.
pub(super) fn require_latest(record: &UploadRecord, attempt: u64) -> Result<()> {
    match record.attempt.is_some_and(|latest| attempt < latest) {
        true => Err(Error::new(ErrorKind::Conflict, "a later attempt has changed the stage")
            .with_hint("this request was given up, and sent again")),
        false => Ok(()),
    }
}

/// The record after a change by an attempt, which must not be an earlier one.
pub(super) fn attempted(record: UploadRecord, attempt: u64) -> Result<UploadRecord> {
    require_latest(&record, attempt)?;
    Ok(UploadRecord { attempt: Some(attempt).filter(|number| *number > 0), ..record })
}
