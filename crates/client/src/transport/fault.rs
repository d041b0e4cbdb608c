//! Diagnoses failures of a connection: TLS errors, which no retry can fix, and whether there was a connection at all.

use std::error::Error as StdError;
use std::io;

use super::direct::Unconnected;
use hyper_util::client::legacy;
use rustls::{AlertDescription, CertificateError, Error as TlsError};

/// A description of a failure, and what to do about it.
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

/// The TLS failure behind an error, if there is one.
pub(crate) fn of(error: &(dyn StdError + 'static)) -> Option<Fault> {
    let here = tls(error).map(in_words).or_else(|| not_http(error));
    here.or_else(|| of(error.source()?))
}

/// Whether a request failed before there was a connection to send it over.
pub(crate) fn is_unsent(error: &(dyn StdError + 'static)) -> bool {
    let refused = error.downcast_ref::<io::Error>().map(io::Error::kind);
    let connecting = error.downcast_ref::<legacy::Error>().is_some_and(legacy::Error::is_connect);
    let is_here = connecting
        || error.is::<Unconnected>()
        || refused == Some(io::ErrorKind::ConnectionRefused);
    is_here || error.source().is_some_and(is_unsent)
}

fn tls<'e>(cause: &'e (dyn StdError + 'static)) -> Option<&'e TlsError> {
    match cause.downcast_ref::<io::Error>() {
        // `io::Error` does not return the error that it wraps as its source.
        Some(error) => tls(error.get_ref()?),
        None => cause.downcast_ref(),
    }
}

fn in_words(error: &TlsError) -> Fault {
    let fault = |message: String, hint| Fault { message, hint };
    match error {
        TlsError::InvalidCertificate(error) => certificate(error),
        TlsError::InvalidMessage(_) => fault(
            "the server does not speak TLS".to_owned(),
            "use http:// if the server does not use TLS",
        ),
        TlsError::AlertReceived(
            AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure,
        ) => fault(
            "the server does not support a secure TLS version or cipher".to_owned(),
            "enable TLS 1.2 or 1.3 on the server",
        ),
        other => fault(format!("TLS failed: {other}"), "see the server's log"),
    }
}

fn certificate(error: &CertificateError) -> Fault {
    use CertificateError as E;
    let (what, hint) = match error {
        E::UnknownIssuer => (
            "is signed by an unknown issuer".to_owned(),
            "set `ca_file` or CENOTE_CA_FILE to a PEM file with the certificates to trust",
        ),
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            (format!("is for another host name: {error}"), "use the host name in the certificate")
        }
        E::Expired | E::ExpiredContext { .. } => {
            (format!("has expired: {error}"), "ask the administrator of the server to renew it")
        }
        E::NotValidYet | E::NotValidYetContext { .. } => {
            (format!("is not valid yet: {error}"), "check the clock of this machine")
        }
        _ => (format!("is invalid: {error}"), "ask the administrator of the server to renew it"),
    };
    Fault { message: format!("the server's certificate {what}"), hint }
}

/// A TLS server answers plain HTTP with bytes that are not HTTP.
fn not_http(cause: &(dyn StdError + 'static)) -> Option<Fault> {
    let error = cause.downcast_ref::<hyper::Error>()?;
    error.is_parse().then(|| Fault {
        message: "the server does not speak HTTP".to_owned(),
        hint: "use https:// if the server uses TLS",
    })
}
