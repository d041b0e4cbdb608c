//! The named graphs of LAKEsuperior: three of each resource (`part`), one about these (`meta`), and those of what was (`past`): of each `version`, by
//! its name (`memento`).

pub(crate) mod memento;
pub(crate) mod meta;
pub(crate) mod part;
mod past;
mod version;

pub(super) use past::Past;
pub(super) use version::PastTriple;
