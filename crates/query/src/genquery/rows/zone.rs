//! Data of iRODS other than the tree: zones, storage resources and delayed rules, as plain data that the
//! opening passes to a query.

use cenote_store::{Avu, Time};

/// The zone of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Zone {
    /// The first component of every logical path.
    pub name: String,
    /// The storage resources; objects without another replica are on the first.
    pub resources: Vec<Resource>,
    /// Other zones that this one knows.
    pub remote: Vec<RemoteZone>,
    /// Delayed rules, the oldest first.
    pub delayed: Vec<DelayedRule>,
}

/// A storage resource, in the words of `iadmin lr`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resource {
    /// Its number: that of the place in the store.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// `unixfilesystem`, or a kind that passes writes on to its children.
    pub kind: String,
    /// Its host.
    pub host: String,
    /// Its directory.
    pub vault_path: String,
    /// `up` or `down`; empty if it was never set.
    pub status: String,
    /// Its configuration.
    pub context: String,
    /// A free-form comment.
    pub comments: String,
    /// Free-form information.
    pub information: String,
    /// The names from the outermost resource down to this one, separated by `;`.
    pub hierarchy: String,
    /// The free space on record.
    pub free_space: String,
    /// The number of the parent resource.
    pub parent: Option<u64>,
    /// Its attributes.
    pub avus: Vec<Avu>,
    /// When it was created.
    pub created: Time,
    /// When it was last modified.
    pub modified: Time,
}

/// A remote zone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteZone {
    /// Its name.
    pub name: String,
    /// Host and port.
    pub connection: String,
    /// A free-form comment.
    pub comment: String,
}

/// A delayed rule.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DelayedRule {
    /// Its number.
    pub id: u64,
    /// Its text.
    pub text: String,
    /// Who submitted it.
    pub user: String,
    /// When it is due.
    pub due: Time,
}
