//! The decision about what no access list says: accounts, tokens, and administration.
//!
//! Like [`super::decide`] it is a pure function of the caller, and the only place where this is decided. An opening
//! authenticates; what the credential lets the caller do is said here, and held by `truth_table` and by the table of all
//! operations in `tests/it/credentials.rs`.

use super::{Caller, Credential};
use crate::model::{Role, TokenScope};
use crate::{Error, ErrorKind, Result};

/// Something that no access list decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// Make what an account has by custom: its home.
    Home,
    /// Log in for a time: exchange the password for a token.
    LogIn,
    /// Make, list and revoke the account's tokens.
    Tokens,
    /// Change the account's password.
    Account,
    /// What needs this role.
    Administer(Role),
    /// Have contents kept at any address, whatever the store's configuration allows.
    AnyAddress,
}

/// Whether `caller` may do this.
pub(crate) fn permits(caller: &Caller, act: Act) -> bool {
    let credential = caller.credential();
    match act {
        Act::Administer(Role::User) => true,
        _ if caller.is_anonymous() => false,
        Act::Home => caller.is_unlimited(),
        Act::LogIn => matches!(credential, Credential::Password | Credential::Directory),
        Act::Tokens => credential.has(TokenScope::Tokens),
        Act::Account => credential.has(TokenScope::Account),
        Act::Administer(role) => has_role(caller, role) && credential.has(TokenScope::Admin),
        Act::AnyAddress => *credential == Credential::Directory,
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

/// Refuses unless `caller` may do this.
pub(crate) fn require(caller: &Caller, act: Act) -> Result<()> {
    match permits(caller, act) {
        true => Ok(()),
        false => Err(refused(caller, act)),
    }
}

fn refused(caller: &Caller, act: Act) -> Error {
    let (message, hint) = match act {
        Act::Administer(role) if !has_role(caller, role) || caller.is_anonymous() => (
            format!("{} lacks the role {}", caller.name(), role.as_str()),
            "log in as an administrator",
        ),
        _ if caller.is_anonymous() => {
            ("anonymous callers have no account".to_owned(), "log in with a name and a password")
        }
        Act::Administer(_) => (
            "this token does not administer the store".to_owned(),
            "log in with the password, or with a token of the scope `admin`",
        ),
        Act::Tokens => (
            "this token makes, lists and revokes no tokens".to_owned(),
            "log in with the password, or with a token of the scope `tokens`",
        ),
        Act::Account => (
            "this token does not change its account".to_owned(),
            "log in with the password, or with a token of the scope `account`",
        ),
        Act::Home | Act::LogIn => {
            ("this needs more than a token".to_owned(), "log in with the password")
        }
        Act::AnyAddress => (
            "the store's configuration does not allow this address".to_owned(),
            "name a directory above it as `vaults` in the `store.toml` of the store",
        ),
    };
    Error::new(ErrorKind::Denied, message).with_hint(hint)
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

    /// The acts in the order of the columns.
    const ACTS: [Act; 7] = [
        Act::Home,
        Act::LogIn,
        Act::Tokens,
        Act::Account,
        Act::Administer(Role::GroupAdmin),
        Act::Administer(Role::Admin),
        Act::AnyAddress,
    ];

    #[test]
    fn each_credential_permits_what_its_row_says() {
        use TokenScope::{Account, Admin, Tokens};
        let (user, groupadmin, admin) = (Role::User, Role::GroupAdmin, Role::Admin);
        let whole = |scopes: &[TokenScope]| token(Rights::OWN, None, scopes);
        // The columns: home, log in, tokens, account, groupadmin, admin, any address.
        for (row, role, credential, expected) in [
            ("password", user, Credential::Password, "hlta..."),
            ("password", groupadmin, Credential::Password, "hltag.."),
            ("password", admin, Credential::Password, "hltagA."),
            ("directory", user, Credential::Directory, "hlta..d"),
            ("directory", admin, Credential::Directory, "hltagAd"),
            ("token", admin, whole(&[]), "h......"),
            ("tokens", admin, whole(&[Tokens]), "h.t...."),
            ("account", admin, whole(&[Account]), "h..a..."),
            ("admin", admin, whole(&[Admin]), "h...gA."),
            ("admin", groupadmin, whole(&[Admin]), "h...g.."),
            ("admin", user, whole(&[Admin]), "h......"),
            ("read", admin, token(Rights::READ_OBJECT, None, &[]), "......."),
            ("read, tokens", admin, token(Rights::READ_OBJECT, None, &[Tokens]), "..t...."),
            ("within", admin, token(Rights::OWN, Some(20), &[]), "......."),
        ] {
            let caller = caller(role, credential);
            let permitted: String = ACTS
                .into_iter()
                .zip("hltagAd".chars())
                .map(|(act, letter)| if permits(&caller, act) { letter } else { '.' })
                .collect();
            assert_eq!(permitted, expected, "{row} of {}", role.as_str());
            for act in ACTS {
                assert_eq!(require(&caller, act).is_ok(), permits(&caller, act));
            }
        }
    }

    #[test]
    fn the_anonymous_caller_has_no_account_whatever_role_is_recorded() {
        let user = PersonId::ANONYMOUS;
        for credential in [Credential::Anonymous, Credential::Password, Credential::Directory] {
            let anonymous = Caller { user, ..caller(Role::Admin, credential) };
            assert!(!ACTS.into_iter().any(|act| permits(&anonymous, act)));
        }
    }

    #[test]
    fn a_role_that_was_put_aside_is_not_in_force() {
        let plain = caller(Role::Admin, Credential::Password).elevated(false);
        assert!(!permits(&plain, Act::Administer(Role::Admin)));
        assert!(permits(&plain, Act::Account));
    }
}
