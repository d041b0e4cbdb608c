//! `query`: GenQuery, stored queries, and running queries.

pub(crate) mod query;
pub(crate) mod specific;
pub(crate) mod watch;
