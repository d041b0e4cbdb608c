//! Receivers to which the server posts changes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Seconds;

/// An address to which activities are posted (`docs/ldp.md`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Webhook {
    /// The name under which the store keeps its position.
    pub name: String,
    /// Where activities are posted to.
    pub url: String,
    /// A file with the secret that they are signed with.
    pub secret_file: PathBuf,
    /// The user whose rights decide which changes are posted.
    pub user: String,
    /// What the addresses of resources begin with: scheme, host and port.
    pub address: String,
    /// The mount point whose addresses and forms are used.
    #[serde(default = "fedora_api")]
    pub mount: String,
    /// The collection whose changes are posted.
    #[serde(default = "root")]
    pub below: String,
    /// Seconds before what was not taken is sent again, the first time; then twice as long each time.
    #[serde(default = "first_pause")]
    pub retry_seconds: Seconds,
    /// The longest of these pauses.
    #[serde(default = "longest_pause")]
    pub longest_retry_seconds: Seconds,
}

pub(super) fn fedora_api() -> String {
    "/rest".to_owned()
}

pub(super) fn root() -> String {
    "/".to_owned()
}

pub(super) fn first_pause() -> Seconds {
    Seconds::new(1)
}

pub(super) fn longest_pause() -> Seconds {
    Seconds::new(300)
}
