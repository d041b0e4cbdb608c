//! Copies of a whole store: to another engine, and backups.

pub(crate) mod backup;
pub(crate) mod migrate;
mod report;
