//! The principals of access lists: a user, a group, all users with a role (`role:NAME`), or all callers (`everyone`).
//!
//! Invariants: a role is no account. It has no record, owns nothing, and is in no group; no account has a name with a colon. `everyone`
//! is never in an access list: it stands for `public` and `anonymous` together, unless an older store has an account of this name.

use super::account;
use crate::Result;
use crate::catalog::Reads;
use crate::model::{PersonId, Role};

const PREFIX: &str = "role:";

/// All callers, with and without a login, in changes of access lists.
pub const EVERYONE: &str = "everyone";

/// The principals of this name; none for an unknown one.
///
/// # Errors
/// [`ErrorKind::Invalid`](crate::ErrorKind::Invalid) for a role that there is not.
pub(crate) fn named(reads: &impl Reads, name: &str) -> Result<Vec<PersonId>> {
    if let Some(role) = name.strip_prefix(PREFIX) {
        return role.parse().map(|role: Role| vec![role.principal()]);
    }
    Ok(match account::by_name(reads, name)? {
        Some((id, _)) => vec![id],
        None if name == EVERYONE => vec![PersonId::PUBLIC, PersonId::ANONYMOUS],
        None => Vec::new(),
    })
}

/// The name of a principal; `#id` for a removed one.
pub(crate) fn name_of(reads: &impl Reads, id: PersonId) -> Result<String> {
    match Role::of_principal(id) {
        Some(role) => Ok(format!("{PREFIX}{}", role.as_str())),
        None => account::name_of(reads, id),
    }
}
