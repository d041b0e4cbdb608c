//! From a secret to a [`Caller`].

use argon2::Argon2;
use argon2::password_hash::PasswordVerifier;
use argon2::password_hash::phc::PasswordHash;

use super::account::{by_name, person};
use super::group::groups_of;
use super::token;
use crate::catalog::Reads;
use crate::model::{Level, Person, PersonId, PersonKind, ResourceId};
use crate::{Caller, Error, ErrorKind, Result, Store};

impl Store {
    /// Who logs in with a name and a password. A wrong one costs as much as any; a
    /// right one only the first time.
    pub fn authenticate_password(&self, name: &str, password: &str) -> Result<Caller> {
        let view = self.view()?;
        let found = by_name(&view, name)?.filter(|(_, person)| person.kind == PersonKind::User);
        let hash = found.as_ref().and_then(|(_, person)| person.password.as_deref());
        if !self.is_right(hash, password) {
            return Err(unauthenticated("the name or the password is wrong"));
        }
        let (id, person) =
            found.ok_or_else(|| unauthenticated("the name or the password is wrong"))?;
        caller(&view, id, &person, (Level::Own, None))
    }

    /// Who shows a token.
    pub fn authenticate_token(&self, token: &str) -> Result<Caller> {
        let view = self.view()?;
        let record = token::find(&view, token)?
            .filter(|record| record.expires.is_none_or(|expires| expires > self.now()))
            .ok_or_else(|| unauthenticated("the token is unknown, revoked or has expired"))?;
        let person = person(&view, record.user)?
            .ok_or_else(|| unauthenticated("the token's user is gone"))?;
        caller(&view, record.user, &person, (record.level, record.within))
    }

    /// Who shows nothing.
    pub fn anonymous(&self) -> Result<Caller> {
        self.caller_for(PersonId::ANONYMOUS)
    }

    /// The caller for a user whom the opening has authenticated in a way of its own.
    pub fn caller_for(&self, user: PersonId) -> Result<Caller> {
        let view = self.view()?;
        let person = person(&view, user)?.ok_or_else(|| unauthenticated("no such user"))?;
        caller(&view, user, &person, (Level::Own, None))
    }

    /// Whether a password fits a hash; without a hash as much work is done, in vain.
    fn is_right(&self, hash: Option<&str>, password: &str) -> bool {
        let Some(hash) = hash else {
            let _ = self.hash_password(password);
            return false;
        };
        let (cache, now) = (&self.inner.credentials, self.now());
        if cache.knows(hash, password, now) {
            return true;
        }
        let right = PasswordHash::new(hash).is_ok_and(|hash| {
            Argon2::default().verify_password(password.as_bytes(), &hash).is_ok()
        });
        if right {
            cache.remember(hash, password, now);
        }
        right
    }
}

fn caller(
    reads: &impl Reads,
    user: PersonId,
    person: &Person,
    (ceiling, within): (Level, Option<ResourceId>),
) -> Result<Caller> {
    Ok(Caller {
        user,
        name: person.name.as_str().into(),
        groups: groups_of(reads, user)?.into(),
        role: person.role,
        elevated: true,
        ceiling,
        within,
        ticket: None,
    })
}

fn unauthenticated(message: &str) -> Error {
    Error::new(ErrorKind::Unauthenticated, message)
        .with_hint("log in again, or ask an administrator")
}
