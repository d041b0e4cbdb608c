//! Accounts, and what they may do.

pub(crate) mod acl;
pub(crate) mod group;
pub(crate) mod login;
pub(crate) mod logout;
pub(crate) mod quota;
pub(crate) mod ticket;
pub(crate) mod token;
pub(crate) mod user;
pub(crate) mod whoami;
