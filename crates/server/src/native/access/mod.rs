//! Accounts, and what they may do: access lists, tickets and tokens.

pub(crate) mod explain;
pub(crate) mod lists;
pub(crate) mod people;
pub(crate) mod tickets;
pub(crate) mod tokens;
