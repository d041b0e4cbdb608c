//! Queries over one state of a store, as one caller may see it.
//!
//! * [`genquery`] is the query language of iRODS.

#![forbid(unsafe_code)]

pub mod genquery;

/// Why a query has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not a query; says what is wrong with it, and where.
    #[error("{0}")]
    Syntax(String),
    /// The query takes more than it may; says of what.
    #[error("{0}")]
    Limit(String),
    /// Nobody waits for the answer any more.
    #[error("nobody waits for the answer")]
    Stopped,
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] cenote_store::Error),
}

/// A result of a query.
pub type Result<T, E = Error> = std::result::Result<T, E>;
