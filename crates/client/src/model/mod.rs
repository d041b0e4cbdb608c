//! The types of the native opening as plain data: what `docs/native-api.md` shows in JSON.

mod access;
mod address;
mod metadata;
mod resource;
mod time;
mod version;

pub use access::{
    Access, AccessOperation, AccessReason, ExplainedAccess, ExplainedRight, Grant, Identity, Only,
};
pub use address::{Address, At};
pub use metadata::{Avu, Condition, Link, LinksFrom, MetaOperation, Search};
pub use resource::{Brief, Listing, Record, Resource, ResourceKind, TrashTotal, Usage};
pub use version::{ComparedContent, ComparedStatement, Version, VersionDifference};
