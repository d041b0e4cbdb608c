//! Users and groups.

use minicbor::{Decode, Encode};

use crate::model::{PersonId, Time};

/// What a user may do beyond what access lists say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum Role {
    /// Nothing.
    #[n(0)]
    User,
    /// Create users and groups, and manage the groups they made (iRODS: groupadmin).
    #[n(1)]
    GroupAdmin,
    /// Everything.
    #[n(2)]
    Admin,
}

impl Role {
    /// All of them.
    const ALL: [Self; 3] = [Self::User, Self::GroupAdmin, Self::Admin];

    /// The principal for all users with this role in access lists.
    pub const fn principal(self) -> PersonId {
        match self {
            Self::User => PersonId(12),
            Self::GroupAdmin => PersonId(13),
            Self::Admin => PersonId(14),
        }
    }

    /// The role that a principal stands for, if it stands for one.
    pub fn of_principal(id: PersonId) -> Option<Self> {
        Self::ALL.into_iter().find(|role| role.principal() == id)
    }

    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::GroupAdmin => "groupadmin",
            Self::Admin => "admin",
        }
    }
}

impl std::str::FromStr for Role {
    type Err = crate::Error;

    fn from_str(word: &str) -> crate::Result<Self> {
        let role = Self::ALL.into_iter().find(|role| role.as_str() == word);
        role.ok_or_else(|| {
            crate::Error::invalid(format!("no such role: {word:.64?}"))
                .with_hint("the roles are user, groupadmin and admin")
        })
    }
}

/// Whether it is one or many.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Encode, Decode)]
#[cbor(index_only)]
pub enum PersonKind {
    /// One who may log in.
    #[n(0)]
    User,
    /// A set of users.
    #[n(1)]
    Group,
}

/// The record of a user or a group.
#[derive(Clone, PartialEq, Eq, Encode, Decode)]
pub struct Person {
    /// The name, unique among users and groups.
    #[n(0)]
    pub name: String,
    /// One or many.
    #[n(1)]
    pub kind: PersonKind,
    /// What they may do beyond access lists.
    #[n(2)]
    pub role: Role,
    /// When it was created.
    #[n(3)]
    pub created: Time,
    /// The password as an argon2 PHC string; without one the account cannot log in.
    #[n(4)]
    pub(crate) password: Option<String>,
    /// The groups of a user, by id: a login reads them with the rest. Each group has its members in a table.
    #[cbor(n(5), default)]
    pub(crate) groups: Vec<PersonId>,
}

/// Leaves the password out.
impl std::fmt::Debug for Person {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { name, kind, role, created, password: _, groups: _ } = self;
        f.debug_struct("Person")
            .field("name", name)
            .field("kind", kind)
            .field("role", role)
            .field("created", created)
            .finish_non_exhaustive()
    }
}
