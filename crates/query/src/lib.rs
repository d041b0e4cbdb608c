//! Queries over one state of a store, as one caller may see it.
//!
//! * [`genquery`] is the query language of iRODS.
//! * [`sparql`] is that of linked data.

#![forbid(unsafe_code)]

pub mod genquery;
pub mod sparql;

pub use genquery::Stop;

/// Why a query failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The text is not a valid query; has the fault and its position.
    #[error("{0}")]
    Syntax(String),
    /// The format of the answer cannot express a term of it; says which. Others can.
    #[error(transparent)]
    Inexpressible(#[from] cenote_rdf::Inexpressible),
    /// The query exceeds a limit; says which.
    #[error("{0}")]
    Limit(String),
    /// Nobody is waiting for the result any more.
    #[error("the caller has gone")]
    Stopped,
    /// The store could not be read.
    #[error(transparent)]
    Store(#[from] cenote_store::Error),
}

/// A result of a query.
pub type Result<T, E = Error> = std::result::Result<T, E>;
