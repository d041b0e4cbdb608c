//! Access explained.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::native::json::{OnlyLine, ScopeWord};

/// The user whose access is explained.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct ExplainQuery {
    /// A user; by default the caller.
    pub(crate) user: Option<String>,
}

/// The rights of a user on a resource, and what decides them.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ExplainedAccess {
    pub(crate) user: String,
    pub(crate) path: String,
    /// What they may do: one of the ten levels, or rights joined by `+`.
    #[schema(example = "read_object")]
    pub(crate) level: String,
    /// All rights.
    pub(crate) rights: Vec<RightLine>,
    /// Entries for the user, one of their groups, or everyone, that have no effect here.
    pub(crate) without_effect: Vec<ReasonLine>,
    /// The maximum that the caller's token allows, if they use one.
    pub(crate) token: Option<String>,
}

/// One right.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct RightLine {
    #[schema(example = "read_content")]
    pub(crate) right: &'static str,
    /// Whether the user has it. A right that is given but not granted is withheld by the caller's token.
    pub(crate) granted: bool,
    /// What gives it.
    pub(crate) by: Vec<ReasonLine>,
}

/// Something that affects the rights of a user.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct ReasonLine {
    pub(crate) kind: SourceWord,
    /// The user or group of a grant; the name of a role.
    pub(crate) name: Option<String>,
    /// What it gives: one of the ten levels, or rights joined by `+`.
    pub(crate) level: String,
    /// How far a grant reaches.
    pub(crate) scope: Option<ScopeWord>,
    /// Which of the resources in its scope a grant is about, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) only: Option<OnlyLine>,
    /// The path of the resource that has a grant.
    pub(crate) from: Option<String>,
    pub(crate) effect: EffectWord,
}

/// Where rights come from.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = AccessSource)]
pub(crate) enum SourceWord {
    /// The role of the user.
    Role,
    /// A line of an access list.
    Grant,
    /// The ticket that the caller presents.
    Ticket,
}

/// Whether it is effective.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = AccessEffect)]
pub(crate) enum EffectWord {
    /// It is effective.
    Gives,
    /// It applies only to what is below, or to another resource.
    Elsewhere,
    /// It is a default, and the resource is closed.
    Closed,
    /// It is a default, and a nearer collection has others.
    Farther,
    /// It is only about resources of a class that this one does not have.
    #[serde(rename = "other_class")]
    OtherClass,
}
