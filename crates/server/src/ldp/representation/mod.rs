//! What a resource is shown as: its model, the triples that the server manages, its members, and the syntaxes.

pub(in crate::ldp) mod filename;
pub(in crate::ldp) mod graph;
pub(in crate::ldp) mod html;
pub(in crate::ldp) mod managed;
pub(in crate::ldp) mod members;
pub(in crate::ldp) mod membership;
pub(in crate::ldp) mod model;
pub(in crate::ldp) mod paging;
pub(in crate::ldp) mod resource;
pub(in crate::ldp) mod vocabulary;
pub(in crate::ldp) mod web;
