//! Descriptions: attributes, graphs, links, and searching by them.

pub(crate) mod graph;
pub(crate) mod links;
pub(crate) mod meta;
pub(crate) mod search;
pub(crate) mod xattrs;
