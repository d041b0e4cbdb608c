//! From a request to a call, and from its outcome to a response: endpoints, parameters, bodies, logical
//! paths, error codes.

pub(crate) mod answer;
pub(crate) mod body;
pub(crate) mod code;
pub(crate) mod endpoint;
pub(crate) mod form;
pub(crate) mod identity;
pub(crate) mod lpath;
pub(crate) mod request;
pub(crate) mod target;
pub(crate) mod translation;
