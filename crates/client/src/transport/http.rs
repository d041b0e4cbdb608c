//! Over the network: a pool of HTTP/1.1 connections, or HTTP/2 if TLS negotiates it.

use std::path::Path;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::uri::{Authority, PathAndQuery, Scheme};
use http::{Request, Response, Uri};
use http_body_util::BodyExt;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use rustls::{ClientConfig, RootCertStore};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;

use super::direct::{DirectConnections, Large};
use super::{Transport, TransportError};
use crate::body::Body;
use crate::{Error, Kind, Result};

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// The idle time before the other machine is probed, the interval of the probes, and how many of them may stay unanswered before the
/// connection is closed.
const PROBE_AFTER: Duration = Duration::from_secs(30);
const PROBE_EVERY: Duration = Duration::from_secs(10);
const PROBES: u32 = 6;
/// How long what was sent may stay unacknowledged, or the other machine take nothing: with data under way nothing is probed, and the
/// kernel would try for a quarter of an hour.
#[cfg(target_os = "linux")]
const STALLED: Duration = PROBE_AFTER.saturating_add(PROBE_EVERY.saturating_mul(PROBES));

/// Connects to a server by its URL.
#[derive(Debug, Clone)]
pub struct HttpTransport {
    scheme: Scheme,
    authority: Authority,
    client: Client<HttpsConnector<HttpConnector>, Body>,
    large: DirectConnections,
}

impl HttpTransport {
    /// A transport to `url`, such as `https://cenote.example:8470`. Certificates are checked against those that the
    /// system trusts, and those in the PEM file `ca_file`.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for an invalid server URL, or an unreadable file.
    pub fn new(url: &str, ca_file: Option<&Path>) -> Result<Self> {
        let (scheme, authority) = parse(url)?;
        let http = connector();
        let tls = tls_config(&scheme, ca_file)?;
        let connector = |tls| HttpsConnectorBuilder::new().with_tls_config(tls).https_or_http();
        let direct = connector(tls.clone()).enable_http1().wrap_connector(http.clone());
        let connector = connector(tls).enable_all_versions().wrap_connector(http);
        let client = Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(Duration::from_secs(20))
            .build(connector);
        let large = DirectConnections::new(direct, &authority);
        Ok(Self { scheme, authority, client, large })
    }

    fn address(&self, path: Option<&PathAndQuery>) -> Result<Uri, http::Error> {
        Uri::builder()
            .scheme(self.scheme.clone())
            .authority(self.authority.clone())
            .path_and_query(path.cloned().unwrap_or_else(|| PathAndQuery::from_static("/")))
            .build()
    }
}

/// Makes connections that end when the other machine is gone, which nothing else would notice.
fn connector() -> HttpConnector {
    let mut http = HttpConnector::new();
    http.set_nodelay(true);
    http.set_connect_timeout(Some(CONNECT_TIMEOUT));
    http.set_keepalive(Some(PROBE_AFTER));
    http.set_keepalive_interval(Some(PROBE_EVERY));
    http.set_keepalive_retries(Some(PROBES));
    #[cfg(target_os = "linux")]
    http.set_tcp_user_timeout(Some(STALLED));
    http.enforce_http(false);
    http
}

impl Transport for HttpTransport {
    fn send(
        &self,
        mut request: Request<Body>,
    ) -> BoxFuture<'_, Result<Response<Body>, TransportError>> {
        async move {
            let uri = self.address(request.uri().path_and_query());
            let uri = uri.map_err(|error| TransportError(error.into()))?;
            if request.extensions().get::<Large>().is_some() {
                return self.large.send(&uri, &request.into_parts().0).await;
            }
            *request.uri_mut() = uri;
            let answer = self.client.request(request).await;
            let answer = answer.map_err(|error| TransportError(error.into()))?;
            Ok(answer.map(|body| Body::new(body.map_err(TransportError::from))))
        }
        .boxed()
    }
}

fn parse(url: &str) -> Result<(Scheme, Authority)> {
    let wrong = |what: &str| {
        Error::new(Kind::Invalid, format!("not the address of a store: {url:.200?}: {what}"))
            .with_hint("write https://host:port, http://host:port or a directory")
    };
    let uri: Uri = url.parse().map_err(|_| wrong("it cannot be read"))?;
    let parts = uri.into_parts();
    match (parts.scheme, parts.authority) {
        (Some(scheme), Some(authority)) if is_http(&scheme) => match authority
            .as_str()
            .contains('@')
        {
            true => Err(wrong("it must not contain a user and password")),
            false if parts.path_and_query.is_none_or(|path| path == "/") => Ok((scheme, authority)),
            false => Err(wrong("it ends with the port")),
        },
        _ => Err(wrong("it does not begin with http:// or https://")),
    }
}

fn is_http(scheme: &Scheme) -> bool {
    *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS
}

fn tls_config(scheme: &Scheme, ca_file: Option<&Path>) -> Result<ClientConfig> {
    let mut roots = RootCertStore::empty();
    // Reading the system's certificates takes milliseconds, which plain HTTP need not spend.
    if *scheme == Scheme::HTTPS {
        roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
    }
    if let Some(path) = ca_file {
        add_file(&mut roots, path)?;
    }
    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("the provider has the default versions")
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(config)
}

fn add_file(roots: &mut RootCertStore, path: &Path) -> Result<()> {
    let wrong = |error: &dyn std::fmt::Display| {
        let message = format!("cannot read certificates from {}: {error}", path.display());
        Error::new(Kind::Invalid, message).with_hint("the file must be in PEM format")
    };
    for certificate in CertificateDer::pem_file_iter(path).map_err(|error| wrong(&error))? {
        let certificate = certificate.map_err(|error| wrong(&error))?;
        roots.add(certificate).map_err(|error| wrong(&error))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_servers_are_accepted() {
        for url in ["http://localhost:8470", "https://cenote.example/", "http://[::1]:1"] {
            assert!(parse(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for url in ["", "ftp://x", "localhost:8470", "http://a/b", "http://ada:x@host", "/dir"] {
            assert_eq!(parse(url).unwrap_err().kind(), Kind::Invalid, "{url}");
        }
    }
}
