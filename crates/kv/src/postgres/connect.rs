//! How a database is reached: where it is, and whether the connection is encrypted.
//!
//! Invariant: a connection that has to be encrypted is encrypted, with a server whose certificate was verified.

use std::error::Error as _;
use std::fs;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::config::SslMode;
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::client::{Client, Patience};
use super::failed::error;
use crate::{Error, Result};

/// Where a database is.
#[derive(Clone)]
pub(super) struct Address {
    config: Config,
    tls: Option<MakeRustlsConnect>,
    most: usize,
    query_timeout: Option<Duration>,
}

/// Connections for reads, unless the address says otherwise (`pool_max_conns`, a word of pgx).
const MOST: usize = 64;
/// How long connecting to a host may take, unless the address says otherwise (`connect_timeout`).
const PATIENCE: Duration = Duration::from_secs(10);
/// How long a query may take, unless the address says otherwise (`query_timeout`, in seconds; 0: for ever). As long as a machine that is gone.
const QUERY_TIMEOUT: u64 = 30;

impl std::fmt::Debug for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Address").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Address {
    /// Reads a `postgres://` URL or `key=value` pairs. Unlike for `libpq`, `sslmode=require` verifies the server's certificate, as
    /// `verify-full` does there, by `sslrootcert` (a PEM file) or the certificates of the system; without a mode nothing is encrypted.
    pub(super) fn parse(text: &str) -> Result<Self> {
        let (text, root) = without_parameter(text, "sslrootcert");
        let (text, most) = without_number(&text, "pool_max_conns")?;
        let (text, seconds) = without_number(&text, "query_timeout")?;
        let most = most.map_or(MOST, |most| usize::try_from(most).unwrap_or(usize::MAX));
        let seconds = Some(seconds.unwrap_or(QUERY_TIMEOUT)).filter(|seconds| *seconds > 0);
        let query_timeout = seconds.map(Duration::from_secs);
        let text = text.replace("sslmode=verify-full", "sslmode=require");
        let mut config: Config = text.parse().map_err(error)?;
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        notice_lost_machines(&mut config);
        let tls = match config.get_ssl_mode() {
            SslMode::Require => Some(connector(root.as_deref())?),
            _ => None,
        };
        Ok(Self { config, tls, most, query_timeout })
    }

    /// How many connections reads may use at a time.
    pub(super) fn most(&self) -> usize {
        self.most
    }

    /// How long a connection may be waited for.
    pub(super) fn patience(&self) -> Duration {
        self.config.get_connect_timeout().copied().unwrap_or(PATIENCE)
    }

    /// After how long a query has failed; none: never.
    pub(super) fn query_timeout(&self) -> Option<Duration> {
        self.query_timeout
    }

    pub(super) fn connect(&self) -> Result<Client> {
        let hosts = self.config.get_hosts().len().max(1);
        let connect = self.patience().saturating_mul(u32::try_from(hosts).unwrap_or(u32::MAX));
        let patience = Patience { connect, query: self.query_timeout.unwrap_or(Duration::MAX) };
        let client = match &self.tls {
            Some(tls) => Client::connect(&self.config, tls.clone(), patience),
            None => Client::connect(&self.config, NoTls, patience),
        };
        client.map_err(|failed| match failed.source().map(ToString::to_string) {
            // The driver's message does not contain the reason.
            Some(cause) => io(format!("cannot connect to the database: {cause}")),
            None => error(failed),
        })
    }
}

/// All commits wait for one that waits for a machine that is gone, so that is noticed in half a minute, not in a quarter of an hour,
/// unless the address says otherwise.
fn notice_lost_machines(config: &mut Config) {
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(Duration::from_secs(30));
    }
    if config.get_keepalives_interval().is_none() && config.get_keepalives_retries().is_none() {
        config.keepalives_idle(Duration::from_secs(10));
        config.keepalives_interval(Duration::from_secs(5)).keepalives_retries(4);
    }
}

fn connector(root: Option<&str>) -> Result<MakeRustlsConnect> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider);
    let builder = builder.with_safe_default_protocol_versions().map_err(io)?;
    let config = builder.with_root_certificates(roots(root)?).with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

/// The certificates that a server's is verified with.
fn roots(file: Option<&str>) -> Result<RootCertStore> {
    let mut roots = RootCertStore::empty();
    match file {
        Some(file) => {
            let text = fs::read(file).map_err(|failed| io(format!("{file}: {failed}")))?;
            for certificate in CertificateDer::pem_slice_iter(&text) {
                roots.add(certificate.map_err(io)?).map_err(io)?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    if roots.is_empty() {
        return Err(io("no certificate to verify the database with: set sslrootcert"));
    }
    Ok(roots)
}

fn io(failed: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    Error::Io(failed.into())
}

fn without_number(text: &str, name: &str) -> Result<(String, Option<u64>)> {
    let (rest, value) = without_parameter(text, name);
    let number = value.map(|value| value.parse()).transpose();
    Ok((rest, number.map_err(|_| io(format!("{name} is a number")))?))
}

/// Takes a parameter, which the driver does not know, out of a URL or of pairs.
fn without_parameter(text: &str, name: &str) -> (String, Option<String>) {
    let is_url = text.contains("://");
    let (front, parameters) = match text.split_once('?') {
        Some((front, parameters)) if is_url => (format!("{front}?"), parameters),
        _ if is_url => return (text.to_owned(), None),
        _ => (String::new(), text),
    };
    let separator = if is_url { '&' } else { ' ' };
    let is_it = |part: &&str| part.strip_prefix(name).is_some_and(|rest| rest.starts_with('='));
    let found = parameters.split(separator).find(is_it);
    let value = found.map(|part| part[name.len() + 1..].trim_matches('\'').to_owned());
    let rest: Vec<&str> = parameters.split(separator).filter(|part| !is_it(part)).collect();
    (front + &rest.join(&separator.to_string()), value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_certificate_is_extracted_from_either_form() {
        let found = |text: &str| without_parameter(text, "sslrootcert");
        for (text, rest) in [
            (
                "postgres://h/d?sslmode=require&sslrootcert=/ca.pem",
                "postgres://h/d?sslmode=require",
            ),
            ("postgres://h/d?sslrootcert=/ca.pem", "postgres://h/d?"),
            ("host=h sslrootcert=/ca.pem dbname=d", "host=h dbname=d"),
            ("host=h sslrootcert='/ca.pem'", "host=h"),
        ] {
            assert_eq!(found(text), (rest.to_owned(), Some("/ca.pem".to_owned())), "{text}");
        }
        for text in ["postgres://h/d", "host=h options='-c search_path=a'", "postgres://h/d?a=b"] {
            assert_eq!(found(text), (text.to_owned(), None));
        }
    }

    #[test]
    fn the_query_timeout_is_in_seconds() {
        let within = |text| Address::parse(text).map(|address| address.query_timeout());
        for (text, seconds) in [
            ("postgres://h/d", Some(30)),
            ("postgres://h/d?query_timeout=5&pool_max_conns=3", Some(5)),
            ("host=h query_timeout=0", None),
        ] {
            assert_eq!(within(text).unwrap(), seconds.map(Duration::from_secs), "{text}");
        }
        let refused = within("host=h query_timeout=soon").unwrap_err().to_string();
        assert!(refused.contains("query_timeout is a number"), "{refused}");
    }

    #[test]
    fn required_encryption_is_not_downgraded() {
        assert!(Address::parse("postgres://h/d").unwrap().tls.is_none());
        let missing = Address::parse("postgres://h/d?sslmode=require&sslrootcert=/no/such.pem");
        assert!(missing.unwrap_err().to_string().contains("/no/such.pem"));
        assert!(Address::parse("postgres://h/d?sslmode=sometimes").is_err());
    }
}
