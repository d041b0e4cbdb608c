//! Why a call of the database has no result.

use std::time::Duration;

use tokio_postgres::error::SqlState;

use crate::Error;

/// A call failed. Whether what it asked for was done is known only if there is a code.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    /// The database refused it, or the connection ended.
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
    /// The answer did not come in the time that this setting gives it.
    #[error("the database did not answer within {} s ({setting})", within.as_secs())]
    Late { setting: &'static str, within: Duration },
}

impl Failed {
    /// What the database says.
    pub(super) fn code(&self) -> Option<&SqlState> {
        match self {
            Self::Database(failed) => failed.code(),
            Self::Late { .. } => None,
        }
    }
}

pub(super) fn error(failed: impl Into<Failed>) -> Error {
    let failed = failed.into();
    match failed.code() {
        Some(&SqlState::DATA_CORRUPTED | &SqlState::INDEX_CORRUPTED) => {
            Error::Corrupt(failed.to_string())
        }
        _ => Error::Io(Box::new(failed)),
    }
}
