//! From a request to a call of a method, and from its outcome to a response.

pub(crate) mod endpoint;
pub(crate) mod fault;
pub(crate) mod folder;
pub(crate) mod input;
pub(crate) mod question;
pub(crate) mod whole;
