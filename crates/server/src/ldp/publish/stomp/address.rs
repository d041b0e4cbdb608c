//! Where a broker is, how it is connected to, and the login there.

use std::fmt;
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use url::Url;

use crate::config::Broker;

/// A connection, with TLS or without.
pub(super) trait Stream: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug {}

impl<T: AsyncRead + AsyncWrite + Unpin + Send + fmt::Debug> Stream for T {}

/// Where a broker listens.
pub(super) struct Address {
    name: String,
    port: u16,
    /// The virtual host.
    host: String,
    tls: Option<(TlsConnector, ServerName<'static>)>,
}

impl fmt::Debug for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.tls.is_some() { "stomp+ssl" } else { "stomp" };
        write!(f, "{scheme}://{}:{}", self.name, self.port)
    }
}

impl Address {
    pub(super) fn new(settings: &Broker) -> Result<Self, String> {
        let wrong = || format!("not a URL of stomp or stomp+ssl: {:?}", settings.url);
        let url = Url::parse(&settings.url).map_err(|_| wrong())?;
        let is_plain = url.username().is_empty() && url.password().is_none();
        let name = url.host_str().filter(|_| is_plain).ok_or_else(wrong)?.to_owned();
        // An address of IPv6 is in brackets only in URLs.
        let name = name.trim_matches(['[', ']']).to_owned();
        let (default, is_tls) = match url.scheme() {
            "stomp" => (61_613, false),
            "stomp+ssl" => (61_614, true),
            _ => return Err(wrong()),
        };
        let tls = is_tls.then(|| secured(settings, &name)).transpose()?;
        let host = on_one_line(settings.host.clone().unwrap_or_else(|| name.clone()))?;
        Ok(Self { port: url.port().unwrap_or(default), name, host, tls })
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }

    pub(super) async fn connect(&self) -> Result<Box<dyn Stream>, String> {
        let failed = |error: std::io::Error| format!("cannot connect to {self}: {error}");
        let stream = TcpStream::connect((self.name.as_str(), self.port)).await.map_err(failed)?;
        stream.set_nodelay(true).map_err(failed)?;
        match &self.tls {
            None => Ok(Box::new(stream)),
            Some((tls, name)) => {
                let stream = tls.connect(name.clone(), stream).await.map_err(failed)?;
                Ok(Box::new(stream))
            }
        }
    }
}

fn secured(settings: &Broker, name: &str) -> Result<(TlsConnector, ServerName<'static>), String> {
    let server = ServerName::try_from(name.to_owned()).map_err(|error| error.to_string())?;
    let roots = roots(settings)?;
    let provider = Arc::new(ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?;
    let config = config.with_root_certificates(roots).with_no_client_auth();
    Ok((TlsConnector::from(Arc::new(config)), server))
}

fn roots(settings: &Broker) -> Result<RootCertStore, String> {
    let mut roots = RootCertStore::empty();
    match &settings.ca_file {
        Some(file) => {
            let wrong = |error: &dyn fmt::Display| format!("{}: {error}", file.display());
            for certificate in CertificateDer::pem_file_iter(file).map_err(|it| wrong(&it))? {
                let certificate = certificate.map_err(|error| wrong(&error))?;
                roots.add(certificate).map_err(|error| wrong(&error))?;
            }
        }
        None => {
            roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
    }
    match roots.is_empty() {
        true => Err("there are no certificates of authorities: set ca_file".to_owned()),
        false => Ok(roots),
    }
}

/// The login and the passcode, from a file or from the environment.
pub(super) fn login(settings: &Broker) -> Result<Option<(String, String)>, String> {
    let Broker { login, passcode_file, passcode_env, .. } = settings;
    let passcode = match (passcode_file, passcode_env) {
        (Some(_), Some(_)) => {
            return Err("passcode_file and passcode_env exclude each other".to_owned());
        }
        (Some(file), None) => {
            let text = std::fs::read_to_string(file);
            text.map_err(|error| format!("cannot read {}: {error}", file.display()))?
        }
        (None, Some(name)) => std::env::var(name)
            .map_err(|_| format!("the variable {name} of the environment is not set"))?,
        (None, None) => String::new(),
    };
    match login {
        Some(login) => {
            Ok(Some((on_one_line(login.clone())?, on_one_line(passcode.trim().to_owned())?)))
        }
        None if passcode.is_empty() => Ok(None),
        None => Err("a passcode needs a login".to_owned()),
    }
}

/// Headers of `CONNECT` have no escapes.
fn on_one_line(text: String) -> Result<String, String> {
    match text.contains(char::is_control) {
        true => Err("host, login and passcode have no control characters".to_owned()),
        false => Ok(text),
    }
}
