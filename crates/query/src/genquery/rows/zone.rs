//! What iRODS knows besides the tree: its zones, storage resources and delayed rules, as plain data
//! that the opening hands to a query.

use cenote_store::{Avu, Time};

/// The zone that a query is about.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Zone {
    /// The first name of every logical path.
    pub name: String,
    /// The storage resources; what has no other replica is on the first.
    pub resources: Vec<Resource>,
    /// Other zones that this one knows.
    pub remote: Vec<RemoteZone>,
    /// Rules that wait for their time, the oldest first.
    pub delayed: Vec<DelayedRule>,
}

/// A storage resource, in the words of `iadmin lr`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Resource {
    /// Its number: that of the place in the store.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// `unixfilesystem`, or a kind that passes on to its children.
    pub kind: String,
    /// The host that has it.
    pub host: String,
    /// The directory that has it.
    pub vault_path: String,
    /// `up` or `down`; none, if that was never said.
    pub status: String,
    /// How it is configured.
    pub context: String,
    /// What people noted.
    pub comments: String,
    /// What people noted, too.
    pub information: String,
    /// The names from the outermost resource down to it, with `;` between them.
    pub hierarchy: String,
    /// The free space that was noted.
    pub free_space: String,
    /// The number of the resource above.
    pub parent: Option<u64>,
    /// What is said of it.
    pub avus: Vec<Avu>,
    /// When it was made.
    pub created: Time,
    /// When it was changed last.
    pub modified: Time,
}

/// Another zone.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RemoteZone {
    /// Its name.
    pub name: String,
    /// Host and port.
    pub connection: String,
    /// What people noted.
    pub comment: String,
}

/// A rule that waits for its time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DelayedRule {
    /// Its number.
    pub id: u64,
    /// Its text.
    pub text: String,
    /// Who asked for it.
    pub user: String,
    /// When its time has come.
    pub due: Time,
}
