//! Permissions, and what grants them.

use serde::{Deserialize, Serialize};

/// A restriction of an entry of an access list: to resources of a class, or to one resource.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Only {
    /// The IRI of the class.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<String>,
    /// The path of the resource; none in a response if the caller does not see it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The id of the resource, which has precedence over the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<u64>,
}

/// An entry of an access list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// A user or a group.
    pub name: String,
    /// What they may do.
    pub level: String,
    /// The scope of the entry: `this`, `default` or `subtree`.
    pub scope: String,
    /// Which of the resources in the scope the entry is about, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Only>,
    /// The resource that the entry is on, if not this one.
    pub from: Option<String>,
}

/// The permissions on a resource.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Access {
    /// The effective entries, including inherited ones.
    pub grants: Vec<Grant>,
    /// Defaults of the collections above are not applied.
    pub closed: bool,
    /// New children get a copy of the entries on this collection.
    pub inherit: bool,
}

/// The permissions of a user on a resource, and what grants them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedAccess {
    /// The user.
    pub user: String,
    /// The path of the resource.
    pub path: String,
    /// What they may do: a level, or rights joined by `+`.
    pub level: String,
    /// All rights.
    pub rights: Vec<ExplainedRight>,
    /// Access list entries for the user that grant nothing here.
    pub without_effect: Vec<AccessReason>,
    /// The subset of these rights that the caller's token allows, if they use one.
    pub token: Option<String>,
}

/// Whether a user has a right, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExplainedRight {
    /// The right.
    pub right: String,
    /// Whether the user has it. If something grants it but this is false, the caller's token withholds it.
    pub granted: bool,
    /// What grants it.
    pub by: Vec<AccessReason>,
}

/// Something that affects what a user may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessReason {
    /// Its kind: `role`, `grant` or `ticket`.
    pub kind: String,
    /// The user or group of a grant; the name of a role.
    pub name: Option<String>,
    /// What it grants: a level, or rights joined by `+`.
    pub level: String,
    /// The scope of a grant.
    pub scope: Option<String>,
    /// Which of the resources in its scope a grant is about, if not all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Only>,
    /// The path of the resource that has a grant.
    pub from: Option<String>,
    /// `gives`; or why it grants nothing: `elsewhere` (it only applies to what is below, or to another resource), `closed` (the
    /// resource ignores defaults), `farther` (a nearer collection has defaults) or `other_class` (the resource does not have the class).
    pub effect: String,
}

/// A change of an access list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct AccessOperation {
    /// A user or a group.
    pub name: String,
    /// What they may do from now on.
    pub level: String,
    /// The scope.
    pub scope: String,
    /// Which of the resources in the scope it is about, if not all. The entry for all of them is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<Only>,
}

/// The identity of the caller.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The user's name.
    pub name: String,
    /// The user's role.
    pub role: String,
    /// The groups that the user belongs to.
    pub groups: Vec<String>,
}
