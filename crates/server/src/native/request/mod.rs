//! What handlers take from a request: address, query, conditions, digests and body, each refused in this
//! opening's own error form if it is malformed.

pub(crate) mod accept;
pub(crate) mod address;
pub(crate) mod conditional;
pub(crate) mod cursor;
pub(crate) mod digest;
pub(crate) mod extract;
pub(crate) mod query;
