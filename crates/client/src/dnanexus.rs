//! The client of a server that speaks the DNAnexus API: its calls, and the bytes of files.
//!
//! The address of a content that a server returns may be on another host. That host receives the headers that the server
//! specified, and never the credential of the calls.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use http::header::{CONTENT_LENGTH, HeaderName, RANGE};
use http::{StatusCode, Uri};
use serde::Deserialize;
use serde_json::Value;

use crate::call::{Call, Payload};
use crate::{Body, Client, Credential, Error, HttpTransport, Kind, Result};

/// A server that speaks the API.
#[derive(Debug)]
pub struct Platform {
    client: Client,
    /// Where the calls are sent, unless all addresses are on the same server.
    origin: Option<String>,
    ca_file: Option<PathBuf>,
    others: Mutex<HashMap<String, Client>>,
}

/// A URL to read bytes from or write them to, with the headers to send, as specified by a server.
#[derive(Debug, Clone, Deserialize)]
pub struct PresignedRequest {
    url: String,
    #[serde(default)]
    headers: BTreeMap<String, String>,
}

impl Platform {
    /// A store that this client can reach, through its DNAnexus opening.
    pub fn of_store(client: Client) -> Self {
        Self { client, origin: None, ca_file: None, others: Mutex::default() }
    }

    /// A server at a URL such as `https://api.dnanexus.com:443`, with a token.
    ///
    /// # Errors
    /// [`Kind::Invalid`] for an invalid URL or token, or an unreadable file of certificates.
    pub fn at(url: &str, token: &str, ca_file: Option<&Path>) -> Result<Self> {
        let credential = Credential::Token(token.to_owned());
        let client = Client::new(HttpTransport::new(url, ca_file)?).with_credential(&credential)?;
        let (origin, _) = split(url)?;
        let ca_file = ca_file.map(Path::to_owned);
        Ok(Self { client, origin: Some(origin), ca_file, others: Mutex::default() })
    }

    /// Calls an idempotent method, with retries.
    pub async fn call(&self, resource: &str, method: &str, input: &Value) -> Result<Value> {
        let call = Call::post(&format!("/{resource}/{method}")).json(input).repeatable();
        self.client.json(call).await
    }

    /// Reads a range of a content.
    ///
    /// # Errors
    /// [`Kind::Range`] if the response is not that range.
    pub async fn read(&self, request: &PresignedRequest, range: Range<u64>) -> Result<Body> {
        let (client, target) = self.addressed(&request.url)?;
        let range_header = format!("bytes={}-{}", range.start, range.end.saturating_sub(1));
        let call = with_headers(Call::get(&target), request)?.header(RANGE, &range_header)?;
        let answer = client.send(call).await?;
        match answer.status() {
            StatusCode::PARTIAL_CONTENT => Ok(answer.into_body()),
            _ if has_length(&answer, range.end - range.start) && range.start == 0 => {
                Ok(answer.into_body())
            }
            status => Err(Error::new(Kind::Range, format!("a range was answered with {status}"))),
        }
    }

    /// Sends the bytes of a part. They are consumed even if that fails.
    pub async fn send(&self, request: &PresignedRequest, size: u64, bytes: Body) -> Result<()> {
        let (client, target) = self.addressed(&request.url)?;
        let call = with_headers(Call::put(&target), request)?;
        let call = call.header(CONTENT_LENGTH, &size.to_string())?;
        client.done(call.body(Payload::Once(Some(bytes))).once()).await
    }

    /// The client for an address, and the address without its host.
    fn addressed(&self, url: &str) -> Result<(Client, String)> {
        let (origin, target) = split(url)?;
        if self.origin.as_ref().is_none_or(|own| *own == origin) {
            return Ok((self.client.clone(), target));
        }
        let mut others = self.others.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = others.get(&origin) {
            return Ok((known.clone(), target));
        }
        let other = Client::new(HttpTransport::new(&origin, self.ca_file.as_deref())?);
        others.insert(origin, other.clone());
        Ok((other, target))
    }
}

fn has_length(answer: &http::Response<Body>, length: u64) -> bool {
    let declared = answer.headers().get(CONTENT_LENGTH).and_then(|declared| declared.to_str().ok());
    declared.and_then(|declared| declared.parse::<u64>().ok()) == Some(length)
}

/// `scheme://host:port`, and the rest.
pub(crate) fn split(url: &str) -> Result<(String, String)> {
    let wrong = || Error::new(Kind::Invalid, format!("invalid address: {url:.200?}"));
    let uri: Uri = url.parse().map_err(|_| wrong())?;
    let (scheme, authority) = uri.scheme().zip(uri.authority()).ok_or_else(wrong)?;
    let rest = uri.path_and_query().map_or("/", |rest| rest.as_str());
    Ok((format!("{scheme}://{authority}"), rest.to_owned()))
}

fn with_headers(mut call: Call, request: &PresignedRequest) -> Result<Call> {
    for (name, value) in &request.headers {
        let name = HeaderName::try_from(name.as_str())
            .map_err(|_| Error::new(Kind::Invalid, format!("invalid header: {name:.64?}")))?;
        call = call.header(name, value)?;
    }
    Ok(call)
}

/// The error of this API, if a body is one: its type and message.
pub(crate) fn refusal(body: &[u8]) -> Option<(Kind, String)> {
    #[derive(Deserialize)]
    struct Refusal {
        error: Fault,
    }
    #[derive(Deserialize)]
    struct Fault {
        r#type: String,
        message: String,
    }
    let Fault { r#type, message } = serde_json::from_slice::<Refusal>(body).ok()?.error;
    let kind = match r#type.as_str() {
        "InvalidAuthentication" => Kind::Unauthenticated,
        "PermissionDenied" => Kind::Denied,
        "ResourceNotFound" => Kind::NotFound,
        "InvalidState" => Kind::Precondition,
        "SpendingLimitExceeded" => Kind::Quota,
        "RateLimitConditional" | "ServiceUnavailable" => Kind::Unavailable,
        "InternalError" => Kind::Unknown,
        _ => Kind::Invalid,
    };
    Some((kind, message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_split_at_their_path() {
        let (origin, rest) = split("https://h:1/a%20b?x=1").unwrap();
        assert_eq!((origin.as_str(), rest.as_str()), ("https://h:1", "/a%20b?x=1"));
        assert!(split("/a").is_err());
    }

    #[test]
    fn refusals_have_the_kinds_of_their_types() {
        let body = br#"{"error":{"type":"PermissionDenied","message":"no"}}"#;
        assert_eq!(refusal(body), Some((Kind::Denied, "no".to_owned())));
        assert_eq!(refusal(b"<html>"), None);
    }

    #[test]
    fn credentials_are_not_sent_to_other_hosts() {
        let platform = Platform::at("http://a:1", "secret", None).unwrap();
        let (own, _) = platform.addressed("http://a:1/x").unwrap();
        let (other, rest) = platform.addressed("http://b:1/x?y").unwrap();
        assert_eq!(rest, "/x?y");
        assert!(own.shows_credential() && !other.shows_credential());
    }
}
