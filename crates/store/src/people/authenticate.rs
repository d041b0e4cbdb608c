//! From a secret to a [`Caller`].

use std::net::IpAddr;

use argon2::Argon2;
use argon2::password_hash::PasswordVerifier;
use argon2::password_hash::phc::PasswordHash;

use super::account::{MAX_PASSWORD, by_name, person};
use super::credentials::Shown;
use super::token;
use crate::access::{Credential, TokenLimits};
use crate::catalog::{Reads, TokenRecord, keys};
use crate::model::{Person, PersonId, PersonKind, ResourceId, Rights, Role};
use crate::{Caller, Error, ErrorKind, Result, Store};

impl Store {
    /// Who logs in with a name and a password. A wrong one costs as much as any; a right one only the first time. Attempts
    /// are not counted: requests over a network use [`Store::log_in`].
    pub fn authenticate_password(&self, name: &str, password: &str) -> Result<Caller> {
        match self.remembered(name, password, None)? {
            Some(caller) => Ok(caller),
            None => self.verified(name, password, None),
        }
    }

    /// The caller, if the password was right from this address lately.
    pub(super) fn remembered(
        &self,
        name: &str,
        password: &str,
        from: Option<IpAddr>,
    ) -> Result<Option<Caller>> {
        let row = keys::person_name(name);
        let view = self.view_of_login(&row)?;
        let Some((id, person)) = account(&view, name)? else { return Ok(None) };
        self.met_user(row, id);
        let Some(hash) = &person.password else { return Ok(None) };
        match self.inner.credentials.knows(&Shown { hash, password, from }, self.now()) {
            true => Ok(Some(caller(id, &person, Credential::Password))),
            false => Ok(None),
        }
    }

    /// The caller, after one argon2, whether the name exists or not.
    pub(super) fn verified(
        &self,
        name: &str,
        password: &str,
        from: Option<IpAddr>,
    ) -> Result<Caller> {
        if password.is_empty() || password.len() > MAX_PASSWORD {
            return Err(wrong());
        }
        let view = self.view()?;
        let found = account(&view, name)?;
        let hash = found.as_ref().and_then(|(_, person)| person.password.as_deref());
        let Some(hash) = hash else {
            let _ = self.in_place(|store| store.hash_password(password));
            return Err(wrong());
        };
        if !self.in_place(|_| verify(hash, password)) {
            return Err(wrong());
        }
        self.inner.credentials.remember(&Shown { hash, password, from }, self.now());
        let (id, person) = found.as_ref().ok_or_else(wrong)?;
        Ok(caller(*id, person, Credential::Password))
    }

    /// Who shows a token. A login is extended by that.
    pub fn authenticate_token(&self, token: &str) -> Result<Caller> {
        let row = token::row(token).ok_or_else(token::ended)?;
        let view = self.view_of_login(&row)?;
        let record = view.get::<TokenRecord>(&row)?;
        let record = record.filter(|record| record.holds(self.now())).ok_or_else(token::ended)?;
        self.met_user(row, record.user);
        let person = person(&view, record.user)?
            .ok_or_else(|| unauthenticated("the token's user was removed"))?;
        self.extend_session(token, &record);
        Ok(caller(record.user, &person, Credential::Token(record.limits())))
    }

    /// Who shows nothing.
    pub fn anonymous(&self) -> Result<Caller> {
        self.caller_for(PersonId::ANONYMOUS)
    }

    /// The caller for a user whom the opening has authenticated in a way of its own, which counts as much as a password.
    pub fn caller_for(&self, user: PersonId) -> Result<Caller> {
        self.caller_by(user, Credential::Password)
    }

    /// The caller for a process that has the store's directory open on this machine: it owns everything in it. Without a name it acts as
    /// the first administrator; if there is none left, the first user counts as one, and may appoint one again.
    pub fn directory_caller(&self, name: Option<&str>) -> Result<Caller> {
        match name {
            Some(name) => {
                let (id, person) = self.person_named(name)?;
                match person.kind {
                    PersonKind::User => self.caller_by(id, Credential::Directory),
                    PersonKind::Group => Err(unauthenticated("a group does not log in")),
                }
            }
            None => self.directory_administrator(),
        }
    }

    fn directory_administrator(&self) -> Result<Caller> {
        let mut users = self.persons()?;
        users.retain(|(id, person)| is_account(*id, person));
        let admin = users.iter().find(|(_, person)| person.role == Role::Admin);
        let (id, _) =
            admin.or(users.first()).ok_or_else(|| unauthenticated("the store has no user"))?;
        Ok(Caller { role: Role::Admin, ..self.caller_by(*id, Credential::Directory)? })
    }

    /// The caller for a user who is not present, with the rights that they had when they made a request.
    pub(crate) fn caller_within(
        &self,
        user: PersonId,
        rights: Option<Rights>,
        within: Option<ResourceId>,
    ) -> Result<Caller> {
        let token = |rights| {
            let (id, expires, scopes) = (None, None, Vec::new());
            Credential::Token(TokenLimits { id, rights, within, expires, scopes })
        };
        self.caller_by(user, rights.map_or(Credential::Password, token))
    }

    fn caller_by(&self, user: PersonId, credential: Credential) -> Result<Caller> {
        let view = self.view_ahead(|| vec![keys::person(user)].into())?;
        let person = person(&view, user)?.ok_or_else(|| unauthenticated("no such user"))?;
        Ok(caller(user, &person, credential))
    }
}

/// The user of this name, if this account can log in.
fn account(reads: &impl Reads, name: &str) -> Result<Option<(PersonId, Person)>> {
    Ok(by_name(reads, name)?.filter(|(id, person)| is_account(*id, person)))
}

pub(super) fn caller(user: PersonId, person: &Person, credential: Credential) -> Caller {
    let anonymous = user == PersonId::ANONYMOUS;
    Caller {
        user,
        name: person.name.as_str().into(),
        groups: person.groups.as_slice().into(),
        role: if anonymous { Role::User } else { person.role },
        elevated: true,
        credential: if anonymous { Credential::Anonymous } else { credential },
        ticket: None,
    }
}

/// The caller that a user is who has logged in with a password.
pub(crate) fn caller_by_password(user: PersonId, person: &Person) -> Caller {
    caller(user, person, Credential::Password)
}

/// Whether this account can log in. `anonymous` cannot, whatever an earlier program recorded.
pub(super) fn is_account(id: PersonId, person: &Person) -> bool {
    person.kind == PersonKind::User && id != PersonId::ANONYMOUS
}

/// What costs: one argon2.
fn verify(hash: &str, password: &str) -> bool {
    #[cfg(test)]
    tests::VERIFIED.with(|count| count.set(count.get() + 1));
    PasswordHash::new(hash)
        .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
}

fn wrong() -> Error {
    unauthenticated("the name or the password is wrong")
}

pub(super) fn unauthenticated(message: &str) -> Error {
    Error::new(ErrorKind::Unauthenticated, message)
        .with_hint("log in again, or ask an administrator")
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use cenote_blob::Place;
    use cenote_kv::MemoryEngine;

    use super::*;
    use crate::Parts;

    thread_local! {
        pub(super) static VERIFIED: Cell<u32> = const { Cell::new(0) };
    }

    #[test]
    fn a_wrong_password_is_hashed_each_time_and_a_right_one_only_once() {
        let parts = Parts::new(MemoryEngine::new(), Place::memory("main"));
        let store = Store::create_new(parts, "root", "right").unwrap();
        let cost = |password: &str| {
            VERIFIED.set(0);
            let right = store.authenticate_password("root", password).is_ok();
            (right, VERIFIED.get())
        };
        assert_eq!(cost("right"), (true, 1));
        assert_eq!(cost("right"), (true, 0));
        assert_eq!((cost("wrong"), cost("wrong")), ((false, 1), (false, 1)));
        assert_eq!(cost("right"), (true, 0));
        let admin = store.authenticate_password("root", "right").unwrap();
        store.add_group(&admin, "lab").unwrap();
        store.set_password(&admin, "root", "new").unwrap();
        assert_eq!((cost("right"), cost("new")), ((false, 1), (true, 1)));
    }
}
