//! The decision about what no access list says: accounts, tokens, and administration.
//!
//! Like [`super::decide`] it is a pure function of the caller, and the only place where this is decided. An opening
//! authenticates; what the credential lets the caller do is said here, and held by `truth_table` and by the table of all
//! operations in `tests/it/credentials.rs`.

use super::{Caller, Credential, TokenLimits};
use crate::model::{Role, TokenScope};
use crate::{Error, ErrorKind, Result};

/// Something that no access list decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Act {
    /// See which users, groups and places there are.
    Names,
    /// See, restore and empty what was removed, as far as its access lists allow that.
    Trash,
    /// Make what an account has by custom: its home.
    Home,
    /// Leave work for the server to do later in the account's name.
    Defer,
    /// Log in for a time: exchange the password for a token.
    LogIn,
    /// Make, list and revoke the account's tokens.
    Tokens,
    /// Change the account's password.
    Account,
    /// Make plain users, their homes, and groups; say who is in a group.
    Groups,
    /// Make other users; change, describe and remove users and groups.
    People,
    /// See, change and end what other users have in progress: uploads, jobs, tokens, tickets, deferred work.
    OthersWork,
    /// See each change of each resource, including deleted ones.
    AllChanges,
    /// Add, change, describe, drain and remove places.
    Places,
    /// See the locations of places and files on the machine, and other records about them.
    Addresses,
    /// Register files in place; change the records of replicas.
    Replicas,
    /// Count, check, scrub and upgrade the whole store.
    Inspect,
    /// Read all of the store: all contents, and all records about them and about accounts.
    BackUp,
    /// Change what an opening keeps for all its callers: zones, stored queries.
    Configure,
    /// Have contents kept at any address, whatever the store's configuration allows.
    AnyAddress,
}

impl Act {
    /// The role that is required.
    fn role(self) -> Role {
        match self {
            Self::Groups => Role::GroupAdmin,
            Self::People
            | Self::OthersWork
            | Self::AllChanges
            | Self::Places
            | Self::Addresses
            | Self::Replicas
            | Self::Inspect
            | Self::BackUp
            | Self::Configure => Role::Admin,
            Self::Names
            | Self::Trash
            | Self::Home
            | Self::Defer
            | Self::LogIn
            | Self::Tokens
            | Self::Account
            | Self::AnyAddress => Role::User,
        }
    }
}

impl Caller {
    /// Whether the caller may do this.
    pub fn may(&self, act: Act) -> bool {
        !self.is_anonymous() && has_role(self, act.role()) && self.credential().permits(act)
    }

    /// Refuses unless the caller may do this.
    ///
    /// # Errors
    /// [`ErrorKind::Unauthenticated`] for what everyone with a login may do; [`ErrorKind::Denied`] for all else.
    pub fn require(&self, act: Act) -> Result<()> {
        match self.may(act) {
            true => Ok(()),
            false => Err(refused(self, act)),
        }
    }
}

impl Credential {
    /// Whether its bearer may do this, if their role allows it.
    fn permits(&self, act: Act) -> bool {
        match act {
            Act::Names | Act::Trash => true,
            Act::Home | Act::Defer => self.limits().is_none_or(TokenLimits::is_whole),
            Act::LogIn => matches!(self, Self::Password | Self::Directory),
            Act::Tokens => self.has(TokenScope::Tokens),
            Act::Account => self.has(TokenScope::Account),
            Act::BackUp => {
                self.has(TokenScope::Admin) && self.limits().is_none_or(TokenLimits::is_whole)
            }
            Act::AnyAddress => *self == Self::Directory,
            Act::Groups
            | Act::People
            | Act::OthersWork
            | Act::AllChanges
            | Act::Places
            | Act::Addresses
            | Act::Replicas
            | Act::Inspect
            | Act::Configure => self.has(TokenScope::Admin),
        }
    }
}

/// Whether the account has a role, and has not put it aside.
fn has_role(caller: &Caller, role: Role) -> bool {
    match role {
        Role::User => true,
        Role::GroupAdmin => caller.role() != Role::User,
        Role::Admin => caller.role() == Role::Admin && caller.elevated,
    }
}

fn refused(caller: &Caller, act: Act) -> Error {
    let role = act.role();
    let (message, hint) = match act {
        Act::Names => {
            return unknown("only logged-in users may list users, groups and places");
        }
        Act::Trash => return unknown("only logged-in users may list the trash"),
        _ if role != Role::User && (caller.is_anonymous() || !has_role(caller, role)) => (
            format!("{} lacks the role {}", caller.name(), role.as_str()),
            "log in as an administrator",
        ),
        _ if role != Role::User => (
            "this token cannot administer the store".to_owned(),
            "log in with the password, or with a token of the scope `admin`",
        ),
        _ if caller.is_anonymous() => {
            ("anonymous callers have no account".to_owned(), "log in with a name and a password")
        }
        Act::Tokens => (
            "this token cannot create, list or revoke tokens".to_owned(),
            "log in with the password, or with a token of the scope `tokens`",
        ),
        Act::Account => (
            "this token cannot change its account".to_owned(),
            "log in with the password, or with a token of the scope `account`",
        ),
        Act::AnyAddress => (
            "the store's configuration does not allow this address".to_owned(),
            "name a directory above it as `vaults` in the `store.toml` of the store",
        ),
        _ => ("a token is not sufficient for this".to_owned(), "log in with the password"),
    };
    Error::new(ErrorKind::Denied, message).with_hint(hint)
}

fn unknown(message: &str) -> Error {
    Error::new(ErrorKind::Unauthenticated, message).with_hint("log in")
}

#[cfg(test)]
mod truth_table {
    use super::super::credential::TokenLimits;
    use super::*;
    use crate::model::{PersonId, ResourceId, Rights};

    fn caller(role: Role, credential: Credential) -> Caller {
        Caller {
            user: PersonId(100),
            name: "ada".into(),
            groups: [].into(),
            role,
            elevated: true,
            credential,
            ticket: None,
        }
    }

    fn token(rights: Rights, within: Option<u64>, scopes: &[TokenScope]) -> Credential {
        let (within, scopes) = (within.map(ResourceId), scopes.to_vec());
        Credential::Token(TokenLimits { id: Some(1), rights, within, expires: None, scopes })
    }

    /// The acts in the order of the columns, each with its letter.
    const ACTS: [(char, Act); 18] = [
        ('n', Act::Names),
        ('r', Act::Trash),
        ('h', Act::Home),
        ('f', Act::Defer),
        ('l', Act::LogIn),
        ('t', Act::Tokens),
        ('a', Act::Account),
        ('g', Act::Groups),
        ('p', Act::People),
        ('o', Act::OthersWork),
        ('c', Act::AllChanges),
        ('P', Act::Places),
        ('A', Act::Addresses),
        ('R', Act::Replicas),
        ('I', Act::Inspect),
        ('B', Act::BackUp),
        ('C', Act::Configure),
        ('d', Act::AnyAddress),
    ];

    #[test]
    fn each_credential_permits_the_operations_in_its_row() {
        use TokenScope::{Account, Admin, Tokens};
        let (user, groupadmin, admin) = (Role::User, Role::GroupAdmin, Role::Admin);
        let whole = |scopes: &[TokenScope]| token(Rights::OWN, None, scopes);
        for (row, role, credential, expected) in [
            ("password", user, Credential::Password, "nrhflta..........."),
            ("password", groupadmin, Credential::Password, "nrhfltag.........."),
            ("password", admin, Credential::Password, "nrhfltagpocPARIBC."),
            ("directory", user, Credential::Directory, "nrhflta..........d"),
            ("directory", admin, Credential::Directory, "nrhfltagpocPARIBCd"),
            ("token", admin, whole(&[]), "nrhf.............."),
            ("tokens", admin, whole(&[Tokens]), "nrhf.t............"),
            ("account", admin, whole(&[Account]), "nrhf..a..........."),
            ("admin", admin, whole(&[Admin]), "nrhf...gpocPARIBC."),
            ("admin", groupadmin, whole(&[Admin]), "nrhf...g.........."),
            ("admin", user, whole(&[Admin]), "nrhf.............."),
            ("read", admin, token(Rights::READ_OBJECT, None, &[]), "nr................"),
            (
                "read, tokens",
                admin,
                token(Rights::READ_OBJECT, None, &[Tokens]),
                "nr...t............",
            ),
            ("within", admin, token(Rights::OWN, Some(20), &[]), "nr................"),
        ] {
            let caller = caller(role, credential);
            let permitted: String = ACTS
                .into_iter()
                .map(|(letter, act)| if caller.may(act) { letter } else { '.' })
                .collect();
            assert_eq!(permitted, expected, "{row} of {}", role.as_str());
            for (_, act) in ACTS {
                assert_eq!(caller.require(act).is_ok(), caller.may(act));
            }
        }
    }

    #[test]
    fn the_anonymous_caller_has_no_account_whatever_role_is_recorded() {
        let user = PersonId::ANONYMOUS;
        for credential in [Credential::Anonymous, Credential::Password, Credential::Directory] {
            let anonymous = Caller { user, ..caller(Role::Admin, credential) };
            assert!(!ACTS.into_iter().any(|(_, act)| anonymous.may(act)));
        }
    }

    #[test]
    fn a_suspended_role_has_no_effect() {
        let plain = caller(Role::Admin, Credential::Password).elevated(false);
        for (_, act) in ACTS {
            let expected = act.role() != Role::Admin && act != Act::AnyAddress;
            assert_eq!(plain.may(act), expected, "{act:?}");
        }
    }
}
