//! Finding: data objects, projects, names.

pub(crate) mod by_name;
pub(crate) mod by_path;
pub(crate) mod describe_many;
pub(crate) mod filter;
pub(crate) mod objects;
pub(crate) mod order;
pub(crate) mod pattern;
pub(crate) mod projects;
pub(crate) mod scan;
