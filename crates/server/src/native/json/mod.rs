//! The JSON of this opening, both ways. Field names and forms are the contract of
//! `docs/native-api.md`; what a request may not have is refused, not passed over.

mod access;
mod batch;
mod bytes;
mod change;
mod check;
mod gsd;
mod keys;
mod links;
mod metadata;
mod names;
mod person;
mod place;
mod replica;
mod resource;
mod scrub;
mod secret;
mod time;
mod trash;
mod tree;
mod upload;
mod usage;
mod version;

pub(super) use access::*;
pub(super) use batch::*;
pub(super) use bytes::*;
pub(super) use change::*;
pub(super) use check::*;
pub(super) use gsd::*;
pub(super) use keys::*;
pub(super) use links::*;
pub(super) use metadata::*;
pub(super) use names::Names;
pub(super) use person::*;
pub(super) use place::*;
pub(super) use replica::*;
pub(super) use resource::{KindWord, Resource, VersioningWord, quoted};
pub(super) use scrub::*;
pub(super) use secret::*;
pub(super) use time::Instant;
pub(super) use trash::*;
pub(super) use tree::*;
pub(super) use upload::*;
pub(super) use usage::*;
pub(super) use version::*;
