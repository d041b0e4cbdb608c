//! A request: which resource it is about, what it prefers and requires, and how it is refused.

pub(in crate::ldp) mod call;
pub(in crate::ldp) mod conditions;
pub(in crate::ldp) mod digest;
pub(in crate::ldp) mod fault;
pub(in crate::ldp) mod headers;
pub(in crate::ldp) mod prefer;
pub(in crate::ldp) mod target;
pub(in crate::ldp) mod transactions;
