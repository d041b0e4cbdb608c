//! Access lists.

use cenote_store::Scope;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::native::json::OnlyLine;

/// The entries that apply to a resource.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct AccessList {
    pub(crate) grants: Vec<GrantLine>,
    /// Defaults of the collections above do not apply here.
    pub(crate) closed: bool,
    /// Resources created here get a copy of the entries of this collection.
    pub(crate) inherit: bool,
}

/// One entry.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct GrantLine {
    /// A user, a group, a role (`role:admin`), or `everyone` where `public` and `anonymous` have the same rights.
    pub(crate) name: String,
    /// What they may do: one of the ten levels, or rights joined by `+`.
    #[schema(example = "read_object")]
    pub(crate) level: String,
    pub(crate) scope: ScopeWord,
    /// Which of the resources in the scope it is about, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) only: Option<OnlyLine>,
    /// The path of the resource that has the entry.
    pub(crate) from: String,
}

/// Changes of an access list: all of them or none.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ChangeAccess {
    pub(crate) path: Option<String>,
    pub(crate) id: Option<u64>,
    #[serde(default)]
    pub(crate) operations: Vec<GrantChange>,
    /// Whether defaults of the collections above no longer apply here.
    pub(crate) closed: Option<bool>,
    /// Whether resources created here get a copy of the entries.
    pub(crate) inherit: Option<bool>,
}

/// The new rights of a user, group or role.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GrantChange {
    /// A user, a group, a role (`role:admin`), or `everyone`: `public` and `anonymous` together.
    pub(crate) name: String,
    /// `none`, `read`, `write`, `own`, or one of the ten levels; or levels and rights joined by `+`, such as
    /// `read+append`. `none` removes the entry.
    #[schema(example = "read")]
    pub(crate) level: String,
    #[serde(default)]
    pub(crate) scope: ScopeWord,
    /// Which of the resources in the scope it is about, if not all. The entry for all of them is another one.
    pub(crate) only: Option<OnlyLine>,
}

/// The scope of an entry.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Scope)]
pub(crate) enum ScopeWord {
    /// This resource only.
    #[default]
    This,
    /// Everything below, unless a nearer resource has defaults.
    Default,
    /// This resource and everything below.
    Subtree,
}

impl From<Scope> for ScopeWord {
    fn from(scope: Scope) -> Self {
        match scope {
            Scope::This => Self::This,
            Scope::Default => Self::Default,
            Scope::Subtree => Self::Subtree,
        }
    }
}

impl From<ScopeWord> for Scope {
    fn from(word: ScopeWord) -> Self {
        match word {
            ScopeWord::This => Self::This,
            ScopeWord::Default => Self::Default,
            ScopeWord::Subtree => Self::Subtree,
        }
    }
}
