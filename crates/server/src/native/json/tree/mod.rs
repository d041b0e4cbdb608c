//! The tree: resources, listings, removals.

mod brief;
mod listing;
mod names;
mod resource;
mod trash;

pub(in crate::native) use brief::Brief;
pub(in crate::native) use listing::*;
pub(in crate::native) use names::Names;
pub(in crate::native) use resource::{IntegrityWord, KindWord, Resource, VersioningWord};
pub(in crate::native) use trash::*;
