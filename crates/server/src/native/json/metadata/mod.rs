//! Descriptions: statements, links, extended attributes.

mod description;
mod links;
mod xattr;

pub(in crate::native) use description::*;
pub(in crate::native) use links::*;
pub(in crate::native) use xattr::*;
