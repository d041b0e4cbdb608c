//! What a deployment may choose, as plain data: the TOML file, or its part, that a server reads.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use cenote_store::{ChangeSetLimits, LoginLimits, Pace};
use serde::{Deserialize, Serialize};

use crate::ldp::Allowed as ExternalPrefix;

mod broker;
mod dnanexus;
mod search;
mod seconds;
mod webhook;

pub use broker::Broker;
pub use dnanexus::Dnanexus;
pub use search::Search;
pub use seconds::Seconds;
pub use webhook::Webhook;

/// How a server listens, limits and logs. Every field has a default.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Where to listen; port 0 takes a free one, which [`Server::local_addr`](crate::Server) returns.
    pub listen: SocketAddr,
    /// Certificate and key; plain HTTP without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// Sizes, counts and times.
    pub limits: Limits,
    /// The iRODS opening.
    pub irods: Irods,
    /// The linked-data opening.
    pub ldp: Ldp,
    /// The DNAnexus opening.
    pub dnanexus: Dnanexus,
    /// Searches for words.
    pub search: Search,
    /// What the server does by itself for the store.
    pub upkeep: Upkeep,
    /// The log.
    pub log: Log,
}

/// The background work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Upkeep {
    /// How fast the scrub reads contents; 0 to read none unless a round is requested.
    pub scrub_bytes_per_second: u64,
    /// Days from the beginning of one round through all contents to the next.
    pub scrub_days: u64,
}

impl Default for Upkeep {
    fn default() -> Self {
        Self { scrub_bytes_per_second: 16 << 20, scrub_days: 30 }
    }
}

impl Upkeep {
    pub(crate) fn pace(&self) -> Pace {
        let scrub_every = Duration::from_secs(self.scrub_days.saturating_mul(24 * 3_600));
        Pace { scrub: self.scrub_bytes_per_second, scrub_every, ..Pace::default() }
    }
}

impl Default for Config {
    fn default() -> Self {
        Self {
            listen: SocketAddr::from(([127, 0, 0, 1], 8470)),
            tls: None,
            limits: Limits::default(),
            irods: Irods::default(),
            ldp: Ldp::default(),
            dnanexus: Dnanexus::default(),
            search: Search::default(),
            upkeep: Upkeep::default(),
            log: Log::default(),
        }
    }
}

/// A certificate chain and its private key, both PEM files.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// The chain, the server's own certificate first.
    pub cert: PathBuf,
    /// The key: PKCS #8, PKCS #1 or SEC 1.
    pub key: PathBuf,
}

/// What one client may take.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// The largest JSON or graph body, in bytes.
    pub json_bytes: usize,
    /// The largest key set of which single keys are read and changed, in bytes.
    pub keyset_bytes: u64,
    /// Leases of local files at a time, by which clients on the server's machine read contents past the server, of which one user has
    /// at most half; 0 for none. Not to be used if a proxy on this machine passes on requests of others.
    pub local_file_leases: usize,
    /// Leases at a time of contents that are read through the server, of which one user has at most half; 0 for none.
    pub content_leases: usize,
    /// The largest content sent in one request, in bytes; none for no limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_bytes: Option<u64>,
    /// How much of a request's body is read and discarded after the request was refused, so that a client that
    /// sends everything before it reads an answer gets the answer, in bytes.
    pub refused_bytes: u64,
    /// Requests worked on at a time, to the last byte of their answers; more are answered 503.
    pub requests: usize,
    /// Those of one caller; more are answered 429.
    pub requests_per_caller: usize,
    /// Those of all callers without a login together; more are answered 429.
    pub anonymous_requests: usize,
    /// Requests that wait for their clients, or for a change: they are not worked on. Half of them may be one caller's, and a
    /// quarter those of callers without a login.
    pub waits: usize,
    /// Memory for bodies that are read whole (JSON, forms, small files of a batch), in bytes, shared out in the same way.
    pub buffer_bytes: usize,
    /// Connections open at a time. Where there are more, the one that has been idle for the longest time is closed.
    pub connections: usize,
    /// Connections open at a time from one address, or from one network of IPv6 (/64). Loopback has no such limit.
    pub connections_per_address: usize,
    /// Addresses of proxies: their connections are those of many clients, and not limited by address.
    pub proxies: Vec<IpAddr>,
    /// Passwords verified at a time; 256 more wait. Those that were right from the same address lately need not be.
    pub login_verifications: usize,
    /// Wrong passwords for an account before the next attempt has to wait: a second, then twice as long each time.
    pub login_failures: u32,
    /// The same from one address (of version 6: one network of 2⁶⁴), whatever the accounts; 0 for no limit. This machine's own
    /// addresses are not counted, since a proxy may be there.
    pub login_address_failures: u32,
    /// The longest wait after a wrong password, in seconds.
    pub login_wait_seconds: u64,
    /// Wrong passwords, from any address, after which an account is locked; 0 for never.
    pub login_lockout_failures: u32,
    /// Seconds that an account is locked then. Logins that are known already continue.
    pub login_lockout_seconds: u64,
    /// Seconds for a TLS handshake, and for the header of a request, from the first byte to the last. On a new connection
    /// they begin at once.
    pub header_seconds: Seconds,
    /// Seconds without a byte moving after which a body, sent or received, is aborted, and a connection without a
    /// request closed.
    pub idle_seconds: Seconds,
    /// Bytes a second at which a request's body has to come; it may be late by `idle_seconds`.
    pub body_rate: u64,
    /// Seconds to answer a request that is not a stream.
    pub request_seconds: Seconds,
    /// The most statements and resources that a SPARQL query looks at.
    pub query_rows: u64,
    /// The most bytes of solutions that a SPARQL query holds in memory, about.
    pub query_bytes: usize,
    /// The most bytes of the answer of a SPARQL query.
    pub answer_bytes: usize,
    /// Seconds after which a SPARQL query is cancelled.
    pub query_seconds: Seconds,
    /// Change sets open at a time.
    pub changesets: usize,
    /// Those of one user.
    pub changesets_per_user: usize,
    /// The bytes that one change set may write to the catalog, and may depend on; contents of more than 64 KiB do not count.
    pub changeset_bytes: usize,
    /// The bytes that all of them together keep in memory.
    pub changesets_bytes: usize,
    /// Seconds without a request after which a change set expires, unless its creator sets another time.
    pub changeset_idle_seconds: Seconds,
    /// Seconds after which a change set expires in any case.
    pub changeset_seconds: Seconds,
    /// Seconds for requests in progress to finish when the server stops.
    pub stop_seconds: Seconds,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            json_bytes: 8 << 20,
            keyset_bytes: 64 << 20,
            local_file_leases: 0,
            content_leases: 4_096,
            content_bytes: None,
            refused_bytes: 64 << 20,
            requests: 512,
            requests_per_caller: 256,
            anonymous_requests: 256,
            waits: 1_024,
            buffer_bytes: 256 << 20,
            connections: 4_096,
            connections_per_address: 1_024,
            proxies: Vec::new(),
            login_verifications: 2,
            login_failures: 5,
            login_address_failures: 50,
            login_wait_seconds: 60,
            login_lockout_failures: 0,
            login_lockout_seconds: 900,
            header_seconds: Seconds::new(30),
            idle_seconds: Seconds::new(60),
            body_rate: 256,
            request_seconds: Seconds::new(60),
            query_rows: 100_000_000,
            query_bytes: 256 << 20,
            answer_bytes: 64 << 20,
            query_seconds: Seconds::new(30),
            changesets: 32,
            changesets_per_user: 8,
            changeset_bytes: 64 << 20,
            changesets_bytes: 256 << 20,
            changeset_idle_seconds: Seconds::new(3 * 60),
            changeset_seconds: Seconds::new(30 * 60),
            stop_seconds: Seconds::new(30),
        }
    }
}

impl Limits {
    /// How wrong passwords slow down further attempts.
    pub(crate) fn logins(&self) -> LoginLimits {
        LoginLimits {
            failures: self.login_failures,
            address_failures: self.login_address_failures,
            longest_wait: Duration::from_secs(self.login_wait_seconds),
            lockout_failures: self.login_lockout_failures,
            lockout: Duration::from_secs(self.login_lockout_seconds),
        }
    }

    /// What change sets may take; for [`open_dir_with`](crate::embedded::open_dir_with).
    pub fn change_sets(&self) -> ChangeSetLimits {
        ChangeSetLimits {
            bytes: self.changeset_bytes,
            all_bytes: self.changesets_bytes,
            of_user: self.changesets_per_user,
            all: self.changesets,
            idle: self.changeset_idle_seconds.get(),
            life: self.changeset_seconds.get(),
        }
    }

    pub(crate) fn header(&self) -> Duration {
        self.header_seconds.get()
    }

    pub(crate) fn idle(&self) -> Duration {
        self.idle_seconds.get()
    }

    pub(crate) fn request(&self) -> Duration {
        self.request_seconds.get()
    }

    pub(crate) fn stop(&self) -> Duration {
        self.stop_seconds.get()
    }
}

/// What the linked-data opening takes from elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Ldp {
    /// What the IRIs of users begin with (their WebIDs); their names follow.
    pub agents: String,
    /// Where external content may be read: URLs of http, https and file that end with a slash; `*` for any port. None unless it is set.
    pub external: Vec<ExternalPrefix>,
    /// The receivers of changes. If several servers share a catalog, one of them posts.
    pub webhooks: Vec<Webhook>,
    /// The brokers that changes are sent to, by STOMP. The same applies.
    pub stomp: Vec<Broker>,
}

impl Default for Ldp {
    fn default() -> Self {
        Self {
            agents: "info:fedora/local-user#".to_owned(),
            external: Vec::new(),
            webhooks: Vec::new(),
            stomp: Vec::new(),
        }
    }
}

/// Names that the iRODS opening uses, and the limits that it advertises.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Irods {
    /// The zone: the first name of every logical path, in front of the store's root.
    pub zone: String,
    /// The storage resource that has the one replica of everything.
    pub resource: String,
    /// The most rows that a query answers at a time. Some clients cut their listings to it.
    pub rows: u64,
    /// The most rows that a query looks at, those of joined attributes and access lists each counted.
    pub query_rows: u64,
    /// The most bytes of rows that a query holds in memory, about.
    pub query_bytes: usize,
    /// Seconds after which a query is cancelled.
    pub query_seconds: u64,
    /// The advertised body size; larger bodies are accepted, too. Some clients split larger ones.
    pub body_bytes: u64,
    /// The streams that a parallel write may have.
    pub streams: u64,
    /// The streams that all parallel writes together may have at a time.
    pub all_streams: u64,
    /// Seconds that a login lasts unused: each use extends it.
    pub login_seconds: u64,
    /// Seconds that a login lasts at most; no more than `login_seconds`, and it is never extended.
    pub longest_login_seconds: u64,
}

impl Default for Irods {
    fn default() -> Self {
        Self {
            zone: "tempZone".to_owned(),
            resource: "demoResc".to_owned(),
            rows: 100_000,
            query_rows: 100_000_000,
            query_bytes: 256 << 20,
            query_seconds: 50,
            body_bytes: i32::MAX as u64,
            streams: 64,
            all_streams: 4_096,
            login_seconds: 3_600,
            longest_login_seconds: 7 * 24 * 3_600,
        }
    }
}

impl Irods {
    pub(crate) fn login(&self) -> Duration {
        Duration::from_secs(self.login_seconds)
    }

    pub(crate) fn longest_login(&self) -> Duration {
        Duration::from_secs(self.longest_login_seconds)
    }
}

/// The log, written to standard error.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Log {
    /// One line of text or of JSON an event.
    pub format: LogFormat,
    /// Which events, in the words of `tracing`: `info`, `cenote=debug,warn`.
    pub filter: String,
}

impl Default for Log {
    fn default() -> Self {
        Self { format: LogFormat::Text, filter: "info".to_owned() }
    }
}

/// The form of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines.
    Json,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_round_trips_through_toml() {
        let tls = Tls { cert: "c.pem".into(), key: "k.pem".into() };
        for config in [Config::default(), Config { tls: Some(tls), ..Config::default() }] {
            let text = toml::to_string(&config).unwrap();
            assert_eq!(toml::from_str::<Config>(&text).unwrap(), config);
        }
    }

    #[test]
    fn missing_settings_have_defaults_and_unknown_ones_are_refused() {
        let config: Config =
            toml::from_str("listen = \"[::1]:0\"\n[limits]\nrequests = 3\n").unwrap();
        assert_eq!(config.limits.requests, 3);
        assert_eq!(config.limits.json_bytes, Limits::default().json_bytes);
        assert!(toml::from_str::<Config>("lisen = 1").is_err());
        assert!(toml::from_str::<Config>("[limits]\nrequest = 1").is_err());
    }

    #[test]
    fn durations_may_have_a_fraction_and_are_finite_and_not_negative() {
        let idle = |text: &str| {
            let config = toml::from_str::<Config>(&format!("[limits]\nidle_seconds = {text}\n"));
            config.map(|config| config.limits.idle())
        };
        assert_eq!(idle("2").unwrap(), Duration::from_secs(2));
        assert_eq!(idle("0.25").unwrap(), Duration::from_millis(250));
        for wrong in ["-1", "nan", "inf", "1e10"] {
            assert!(idle(wrong).is_err(), "{wrong}");
        }
    }
}
