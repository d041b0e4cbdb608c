//! `query`: GenQuery, stored queries, and queries under way.

pub(crate) mod query;
pub(crate) mod specific;
pub(crate) mod watch;
