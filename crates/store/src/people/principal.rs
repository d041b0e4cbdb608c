//! The principals of access lists: a user, a group, or all users with a role (`role:NAME`).
//!
//! Invariant: a role is no account. It has no record, owns nothing, and is in no group; no account has a name with a colon.

use super::account;
use crate::Result;
use crate::catalog::Reads;
use crate::model::{PersonId, Role};

const PREFIX: &str = "role:";

/// The principal of this name.
///
/// # Errors
/// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) for a role that there is not.
pub(crate) fn named(reads: &impl Reads, name: &str) -> Result<Option<PersonId>> {
    match name.strip_prefix(PREFIX) {
        Some(role) => role.parse().map(|role: Role| Some(role.principal())),
        None => Ok(account::by_name(reads, name)?.map(|(id, _)| id)),
    }
}

/// The name of a principal; `#id` for a removed one.
pub(crate) fn name_of(reads: &impl Reads, id: PersonId) -> Result<String> {
    match Role::of_principal(id) {
        Some(role) => Ok(format!("{PREFIX}{}", role.as_str())),
        None => account::name_of(reads, id),
    }
}
