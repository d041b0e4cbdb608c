//! The JSON of this opening, both ways. Field names and forms are the contract of
//! `docs/native-api.md`; unknown fields of a request are refused, not ignored.

mod access;
mod batch;
mod change;
mod changeset;
mod contents;
mod gsd;
mod keys;
mod metadata;
mod nothing;
mod operate;
mod past;
mod time;
mod tree;

pub(super) use access::*;
pub(super) use batch::*;
pub(super) use change::*;
pub(super) use changeset::*;
pub(super) use contents::*;
pub(super) use gsd::*;
pub(super) use keys::*;
pub(super) use metadata::*;
pub(super) use nothing::*;
pub(super) use operate::*;
pub(super) use past::*;
pub(super) use time::Instant;
pub(super) use tree::*;
