//! Users and groups. Some types have passwords, and therefore no `Debug`.

use cenote_store::Role;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::Instant;

/// What a user may do in addition to the access lists.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Role)]
pub(crate) enum RoleWord {
    /// Nothing.
    #[default]
    User,
    /// Create plain users, and manage groups.
    GroupAdmin,
    /// Everything.
    Admin,
}

impl From<Role> for RoleWord {
    fn from(role: Role) -> Self {
        match role {
            Role::User => Self::User,
            Role::GroupAdmin => Self::GroupAdmin,
            Role::Admin => Self::Admin,
        }
    }
}

impl From<RoleWord> for Role {
    fn from(word: RoleWord) -> Self {
        match word {
            RoleWord::User => Self::User,
            RoleWord::GroupAdmin => Self::GroupAdmin,
            RoleWord::Admin => Self::Admin,
        }
    }
}

/// The identity of the caller.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Identity {
    pub(crate) name: String,
    pub(crate) role: RoleWord,
    pub(crate) groups: Vec<String>,
}

/// All users.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Users {
    pub(crate) items: Vec<User>,
}

/// A user.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct User {
    pub(crate) name: String,
    pub(crate) role: RoleWord,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created: Instant,
}

/// A new user.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewUser {
    #[schema(example = "grace")]
    pub(crate) name: String,
    /// Without one the user cannot log in.
    pub(crate) password: Option<String>,
    #[serde(default)]
    pub(crate) role: RoleWord,
}

/// Changes of a user.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeUser {
    pub(crate) name: String,
    pub(crate) password: Option<String>,
    pub(crate) role: Option<RoleWord>,
}

/// A user, a group or a place, by its name.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct Named {
    pub(crate) name: String,
}

/// All groups.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Groups {
    pub(crate) items: Vec<Group>,
}

/// A group.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct Group {
    pub(crate) name: String,
    /// The names of its members.
    pub(crate) members: Vec<String>,
    #[schema(value_type = String, format = DateTime)]
    pub(crate) created: Instant,
}

/// A new group.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewGroup {
    #[schema(example = "lab")]
    pub(crate) name: String,
}

/// Users to add to a group, and to remove from it.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeGroup {
    pub(crate) name: String,
    #[serde(default)]
    pub(crate) add: Vec<String>,
    #[serde(default)]
    pub(crate) remove: Vec<String>,
}
