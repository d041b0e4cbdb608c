//! Descriptions: showing and changing them, and finding resources by them.

pub(crate) mod find;
pub(crate) mod meta;
pub(crate) mod sparql;
