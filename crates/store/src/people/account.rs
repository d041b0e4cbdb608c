//! The accounts: making, changing and removing users.

use argon2::Argon2;
use argon2::password_hash::PasswordHasher;

use super::authenticate::is_account;
use super::principal::EVERYONE;
use super::renew::announce;
use super::{ticket, token};
use crate::access::Act;
use crate::catalog::{Reads, Record, Transaction, keys};
use crate::model::{Name, Person, PersonId, PersonKind, Role};
use crate::{Caller, Error, ErrorKind, Result, Store, metadata, quotas};

/// The longest password, in bytes.
pub(super) const MAX_PASSWORD: usize = 1_024;

/// A user to create.
#[derive(Clone)]
pub struct NewUser {
    /// The name; a valid name for a resource, too.
    pub name: String,
    /// The password; without one this user cannot log in.
    pub password: Option<String>,
    /// The role.
    pub role: Role,
}

/// Leaves the password out.
impl std::fmt::Debug for NewUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewUser")
            .field("name", &self.name)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// Changes of a user; `None` leaves a field unchanged.
#[derive(Clone, Default)]
pub struct UserChange {
    /// Another password.
    pub password: Option<String>,
    /// Another role.
    pub role: Option<Role>,
}

/// Leaves the password out.
impl std::fmt::Debug for UserChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UserChange").field("role", &self.role).finish_non_exhaustive()
    }
}

impl Store {
    /// Creates a user. Needs [`Act::People`], or [`Act::Groups`] for a plain user.
    pub fn add_user(&self, caller: &Caller, user: &NewUser) -> Result<PersonId> {
        self.add_user_and(caller, user, |_, _| Ok(()))
    }

    /// Creates a user who has a home, as [`Store::make_home`] makes it: both or neither. Needs what [`Store::add_user`]
    /// needs.
    pub fn add_user_with_home(&self, caller: &Caller, user: &NewUser) -> Result<PersonId> {
        self.add_user_and(caller, user, |tx, id| self.make_home_of(tx, id, &user.name))
    }

    fn add_user_and(
        &self,
        caller: &Caller,
        user: &NewUser,
        then: impl Fn(&mut Transaction, PersonId) -> Result<()>,
    ) -> Result<PersonId> {
        caller.require(if user.role == Role::User { Act::Groups } else { Act::People })?;
        let password =
            user.password.as_deref().map(|password| self.hash_password(password)).transpose()?;
        let id = PersonId(self.new_id()?);
        self.transact(|tx| {
            add(tx, id, &user.name, PersonKind::User, user.role, password.clone())?;
            then(tx, id)
        })?;
        Ok(id)
    }

    /// Sets a user's password, which ends their logins; tokens stay. One's own needs the old password, or a token of the
    /// scope `account`; that of others [`Act::People`].
    pub fn set_password(&self, caller: &Caller, name: &str, password: &str) -> Result<()> {
        let password = Some(password.to_owned());
        self.change_user(caller, name, &UserChange { password, role: None })
    }

    /// Sets a user's role. Needs [`Act::People`].
    pub fn set_role(&self, caller: &Caller, name: &str, role: Role) -> Result<()> {
        self.change_user(caller, name, &UserChange { password: None, role: Some(role) })
    }

    /// Changes a user: all of it or nothing. Needs what [`Store::set_password`] and [`Store::set_role`] need.
    ///
    /// # Errors
    /// [`ErrorKind::Invalid`] for a group, for `anonymous`, and if no administrator who can log in would be left.
    pub fn change_user(&self, caller: &Caller, name: &str, change: &UserChange) -> Result<()> {
        let own = caller.name() == name && change.role.is_none() && !caller.may(Act::People);
        caller.require(if own { Act::Account } else { Act::People })?;
        let password =
            change.password.as_deref().map(|text| self.hash_password(text)).transpose()?;
        self.transact(|tx| {
            let (id, mut person) = by_name(tx, name)?.ok_or_else(|| nobody(name))?;
            if !is_account(id, &person) {
                return Err(Error::invalid(format!("this account cannot log in: {name}"))
                    .with_hint("users have passwords and roles; groups and anonymous do not"));
            }
            if change.role.is_some_and(|role| role != Role::Admin) {
                require_another_administrator(tx, id, &person)?;
            }
            if password.is_some() {
                person.password.clone_from(&password);
                token::end_sessions(tx, id)?;
            }
            person.role = change.role.unwrap_or(person.role);
            tx.put(keys::person(id), &person);
            announce(tx, id, caller.user());
            Ok(())
        })?;
        self.inner.credentials.forget_all();
        Ok(())
    }

    /// Removes a user or a group; what they own stays, and grants to them mean nothing any more. Needs
    /// [`Act::People`].
    pub fn remove_person(&self, caller: &Caller, name: &str) -> Result<()> {
        caller.require(Act::People)?;
        let recounted = self.transact(|tx| {
            let mut recounted = Vec::new();
            let (id, person) = by_name(tx, name)?.ok_or_else(|| nobody(name))?;
            if id == PersonId::PUBLIC || id == PersonId::ANONYMOUS || id == caller.user() {
                return Err(Error::invalid(format!("this account cannot be removed: {name}")));
            }
            require_another_administrator(tx, id, &person)?;
            tx.delete(keys::person(id));
            tx.delete(keys::person_name(&person.name));
            for group in &person.groups {
                let counted = quotas::change_members(tx, *group, (&[], &[id]), || self.new_id())?;
                recounted.extend(counted.then_some(*group));
            }
            quotas::erase_person(tx, id, person.kind)?;
            super::group::leave_all(tx, (id, &person), caller.user())?;
            if person.kind == PersonKind::User {
                announce(tx, id, caller.user());
            }
            token::revoke_all(tx, id)?;
            ticket::revoke_all(tx, id)?;
            metadata::erase(tx, id.0)?;
            Ok(recounted)
        })?;
        self.inner.credentials.forget_all();
        recounted.into_iter().try_for_each(|group| self.count_quota(group.0))
    }

    /// All users and groups, by id.
    pub fn persons(&self) -> Result<Vec<(PersonId, Person)>> {
        all(&self.view()?)
    }

    /// The user or group of this name.
    pub fn person_named(&self, name: &str) -> Result<(PersonId, Person)> {
        by_name(&self.view()?, name)?.ok_or_else(|| nobody(name))
    }

    /// The name of a user or group; `#id` for a removed one.
    pub fn person_name(&self, id: PersonId) -> Result<String> {
        name_of(&self.view()?, id)
    }

    pub(crate) fn hash_password(&self, password: &str) -> Result<String> {
        if password.is_empty() || password.len() > MAX_PASSWORD {
            return Err(Error::invalid("a password has 1 to 1,024 bytes"));
        }
        let salt: [u8; 16] = self.random();
        let hash = Argon2::default().hash_password_with_salt(password.as_bytes(), &salt);
        hash.map(|hash| hash.to_string())
            .map_err(|fault| Error::invalid(format!("the password cannot be hashed: {fault}")))
    }
}

/// All users and groups, by id.
pub(crate) fn all(reads: &impl Reads) -> Result<Vec<(PersonId, Person)>> {
    let rows = reads.rows(&keys::persons(), usize::MAX)?;
    let person = |(key, value): &(bytes::Bytes, bytes::Bytes)| {
        Ok((PersonId(keys::last_id(key).unwrap_or_default()), Person::from_value(value)?))
    };
    rows.iter().map(person).collect()
}

/// Writes a new user or group.
pub(crate) fn add(
    tx: &mut Transaction,
    id: PersonId,
    name: &str,
    kind: PersonKind,
    role: Role,
    password: Option<String>,
) -> Result<()> {
    let name = Name::new(name)?;
    if name.as_str().contains(['#', ':']) {
        return Err(Error::invalid(format!("a user's name cannot contain `#` or `:`: {name}")));
    }
    if name.as_str() == EVERYONE {
        return Err(Error::invalid("`everyone` stands for all callers in access lists")
            .with_hint("choose another name for the user or group"));
    }
    if tx.has(&keys::person_name(name.as_str()))? {
        return Err(Error::exists(format!("user or group {name}")));
    }
    let (name, created, groups) = (name.as_str().to_owned(), tx.now(), Vec::new());
    let person = Person { name, kind, role, created, password, groups };
    tx.put(keys::person(id), &person);
    tx.put(keys::person_name(&person.name), &id);
    Ok(())
}

/// Writes those whom every store has, and its first administrator.
pub(crate) fn found(
    tx: &mut Transaction,
    id: PersonId,
    admin: &str,
    password: String,
) -> Result<()> {
    add(tx, PersonId::PUBLIC, "public", PersonKind::Group, Role::User, None)?;
    add(tx, PersonId::ANONYMOUS, "anonymous", PersonKind::User, Role::User, None)?;
    add(tx, id, admin, PersonKind::User, Role::Admin, Some(password))
}

/// The record of a user or group.
pub(crate) fn person(reads: &impl Reads, id: PersonId) -> Result<Option<Person>> {
    reads.get(&keys::person(id))
}

/// The user or group of this name.
pub(crate) fn by_name(reads: &impl Reads, name: &str) -> Result<Option<(PersonId, Person)>> {
    let Some(id) = reads.get::<PersonId>(&keys::person_name(name))? else { return Ok(None) };
    Ok(person(reads, id)?.map(|person| (id, person)))
}

/// The name of a user or group; `#id` for a removed one.
pub(crate) fn name_of(reads: &impl Reads, id: PersonId) -> Result<String> {
    Ok(person(reads, id)?.map_or_else(|| format!("#{id}"), |person| person.name))
}

pub(crate) fn nobody(name: &str) -> Error {
    Error::new(ErrorKind::NotFound, format!("no such user or group: {name:.64}"))
        .with_hint("`cenote user ls` and `cenote group ls` list them")
}

/// Refuses to leave a store without an administrator who can log in.
fn require_another_administrator(tx: &Transaction, id: PersonId, person: &Person) -> Result<()> {
    let administers = |person: &Person| person.role == Role::Admin && person.password.is_some();
    let is_another = |(other, person): &(PersonId, Person)| *other != id && administers(person);
    match !administers(person) || all(tx)?.iter().any(is_another) {
        true => Ok(()),
        false => Err(Error::invalid(format!("the only administrator: {}", person.name))
            .with_hint("make another user an administrator first")),
    }
}
