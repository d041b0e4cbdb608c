//! Bytes in: streams become durable contents that nothing refers to yet, compared with what their sender stated.

pub(crate) mod digest;
pub(crate) mod digesting;
pub(crate) mod expected;
pub(crate) mod intake;
mod outcome;
pub(crate) mod receive;
pub(crate) mod received;
