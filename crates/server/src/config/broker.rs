//! Brokers to which the server sends changes.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Seconds;
use super::webhook::{fedora_api, first_pause, longest_pause, root};

/// A destination of a broker to which activities are sent by STOMP 1.2 (`docs/ldp.md`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Broker {
    /// The name under which the store keeps its position.
    pub name: String,
    /// Where the broker listens: `stomp://HOST:PORT`, or `stomp+ssl://HOST:PORT` for TLS.
    pub url: String,
    /// Where the broker puts activities, in its own words.
    #[serde(default = "topic")]
    pub destination: String,
    /// The virtual host of the broker; the host of the URL unless it is set.
    #[serde(default)]
    pub host: Option<String>,
    /// The login at the broker.
    #[serde(default)]
    pub login: Option<String>,
    /// A file with the passcode.
    #[serde(default)]
    pub passcode_file: Option<PathBuf>,
    /// The variable of the environment with the passcode.
    #[serde(default)]
    pub passcode_env: Option<String>,
    /// A file with the certificates of authorities, instead of those of the system.
    #[serde(default)]
    pub ca_file: Option<PathBuf>,
    /// The user whose rights decide which changes are sent.
    pub user: String,
    /// What the addresses of resources begin with: scheme, host and port.
    pub address: String,
    /// The mount point whose addresses and forms are used.
    #[serde(default = "fedora_api")]
    pub mount: String,
    /// The collection whose changes are sent.
    #[serde(default = "root")]
    pub below: String,
    /// Seconds between signs of life, in both directions; 0 for none.
    #[serde(default = "heartbeat")]
    pub heartbeat_seconds: Seconds,
    /// Seconds that the broker may take to connect, and to confirm an activity.
    #[serde(default = "patience")]
    pub timeout_seconds: Seconds,
    /// Seconds before what was not taken is sent again, the first time; then twice as long each time.
    #[serde(default = "first_pause")]
    pub retry_seconds: Seconds,
    /// The longest of these pauses.
    #[serde(default = "longest_pause")]
    pub longest_retry_seconds: Seconds,
}

fn topic() -> String {
    "/topic/fedora".to_owned()
}

fn heartbeat() -> Seconds {
    Seconds::new(10)
}

fn patience() -> Seconds {
    Seconds::new(30)
}
