//! Callers of requests that last: what they may do can end meanwhile.
//!
//! Invariant: whatever changes what an account may do is recorded in the change feed, in the same commit; the end of a token or ticket is not,
//! since who shows it is refused from then on, but it wakes those who wait.

use std::time::Duration;

use super::authenticate::unauthenticated;
use super::{account, ticket, token};
use crate::access::{Credential, TokenLimits};
use crate::catalog::{ChangeRecord, Reads, Transaction, keys};
use crate::model::{PersonId, Role, Time};
use crate::{Caller, Result, Store};

impl Store {
    /// The same caller with the role and groups that they have now.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`](crate::ErrorKind::Unauthenticated) once the account, the token or the ticket has ended.
    pub fn renewed(&self, caller: &Caller) -> Result<Caller> {
        let view = self.view()?;
        let credential = credential(&view, caller, self.now())?;
        let person = account::person(&view, caller.user())?;
        let person = person.ok_or_else(|| unauthenticated("the user was removed"))?;
        let ticket = caller.ticket.as_ref();
        let ticket = ticket.map(|shown| ticket::renewed(&view, caller, shown, self.now()));
        let role = match caller.credential() {
            // The role is that of who owns the directory.
            Credential::Directory => caller.role(),
            _ if caller.is_anonymous() => Role::User,
            _ => person.role,
        };
        let groups = person.groups.into();
        let ticket = ticket.transpose()?;
        Ok(Caller { groups, role, credential, ticket, ..caller.clone() })
    }

    /// How long the token or ticket of a caller still holds, if it ends; zero once it has.
    pub fn time_left(&self, caller: &Caller) -> Option<Duration> {
        let left = caller.expires()?.nanos().saturating_sub(self.now().nanos());
        Some(Duration::from_nanos(left.max(0).unsigned_abs()))
    }

    /// Wakes those who wait for changes: a credential of theirs may have ended.
    pub(super) fn wake_followers(&self) {
        self.inner.changed.notify_waiters();
    }
}

/// The credential, if it is still one.
fn credential(reads: &impl Reads, caller: &Caller, now: Time) -> Result<Credential> {
    match caller.credential() {
        Credential::Token(TokenLimits { id: Some(id), .. }) => {
            token::renewed(reads, caller.user(), *id, now).map(Credential::Token)
        }
        other => Ok(other.clone()),
    }
}

/// Records that a person may do other things from now on.
pub(super) fn announce(tx: &mut Transaction, person: PersonId, by: PersonId) {
    let change = ChangeRecord::of_person(person, by, tx.now());
    tx.append(keys::feed(), &change);
}
