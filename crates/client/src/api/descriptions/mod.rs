//! Descriptions: attributes, graphs and extended attributes, and finding resources by them.

mod meta;
mod search;
mod sparql;
mod xattrs;

pub use xattrs::{Xattr, XattrMode};
