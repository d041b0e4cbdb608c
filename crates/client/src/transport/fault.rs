//! What is wrong where a connection was made but does not lead to the store: faults of TLS, which no further try mends.

use std::error::Error as StdError;
use std::io;

use rustls::{AlertDescription, CertificateError, Error as TlsError};

/// A fault in words, and what to do about it.
pub(crate) struct Fault {
    pub(crate) message: String,
    pub(crate) hint: &'static str,
}

/// The fault of TLS behind an error, if there is one.
pub(crate) fn of(error: &(dyn StdError + 'static)) -> Option<Fault> {
    let here = tls(error).map(in_words).or_else(|| not_http(error));
    here.or_else(|| of(error.source()?))
}

fn tls<'e>(cause: &'e (dyn StdError + 'static)) -> Option<&'e TlsError> {
    match cause.downcast_ref::<io::Error>() {
        // An error of the system does not give the error that it wraps as its source.
        Some(error) => tls(error.get_ref()?),
        None => cause.downcast_ref(),
    }
}

fn in_words(error: &TlsError) -> Fault {
    let told = |message: String, hint| Fault { message, hint };
    match error {
        TlsError::InvalidCertificate(error) => certificate(error),
        TlsError::InvalidMessage(_) => told(
            "what answers there does not speak TLS".to_owned(),
            "write http:// if it is served without a certificate",
        ),
        TlsError::AlertReceived(
            AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure,
        ) => told(
            "the server agrees to no version or cipher of TLS that is safe".to_owned(),
            "let it speak TLS 1.2 or 1.3",
        ),
        other => told(format!("TLS failed: {other}"), "see the server's log"),
    }
}

fn certificate(error: &CertificateError) -> Fault {
    use CertificateError as E;
    let (what, hint) = match error {
        E::UnknownIssuer => (
            "is signed by nobody who is trusted here".to_owned(),
            "name the certificates to trust with `ca_file` or CENOTE_CA_FILE, a file in PEM form",
        ),
        E::NotValidForName | E::NotValidForNameContext { .. } => {
            (format!("is for another name: {error}"), "use the name that the certificate is for")
        }
        E::Expired | E::ExpiredContext { .. } => {
            (format!("has expired: {error}"), "the administrator of the server has to renew it")
        }
        E::NotValidYet | E::NotValidYetContext { .. } => {
            (format!("is not valid yet: {error}"), "is the clock of this machine right?")
        }
        _ => (
            format!("cannot be accepted: {error}"),
            "the administrator of the server has to renew it",
        ),
    };
    Fault { message: format!("the server's certificate {what}"), hint }
}

/// TLS answers plain HTTP with bytes that are no HTTP.
fn not_http(cause: &(dyn StdError + 'static)) -> Option<Fault> {
    let error = cause.downcast_ref::<hyper::Error>()?;
    error.is_parse().then(|| Fault {
        message: "what answers there does not speak HTTP".to_owned(),
        hint: "write https:// if it is served with a certificate",
    })
}
