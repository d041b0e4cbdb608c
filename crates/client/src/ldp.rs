//! The client of a server of linked data (LDP 1.0): LAKEsuperior, fcrepo, or the store's own opening.
//!
//! A resource is named by the path of its address as it is sent, percent-encoded. No request is sent to another server.

use std::collections::BTreeMap;
use std::path::Path;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use http::header::{ACCEPT, CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, LINK};
use http::{HeaderMap, Method};

use crate::call::{Call, Payload};
use crate::dnanexus::split;
use crate::{Body, Client, Credential, HttpTransport, Result};

const LDP: &str = "http://www.w3.org/ns/ldp#";
const DIGEST: HeaderName = HeaderName::from_static("digest");
const PREFER: HeaderName = HeaderName::from_static("prefer");
const WANT_DIGEST: HeaderName = HeaderName::from_static("want-digest");

/// A server of linked data.
#[derive(Debug, Clone)]
pub struct LinkedData {
    client: Client,
}

/// What a resource is in LDP's words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Model {
    /// A basic container.
    Basic,
    /// A direct container.
    Direct,
    /// An indirect container.
    Indirect,
    /// An RDF source that is no container.
    Source,
    /// A non-RDF source.
    Binary,
}

/// What the headers of a response state about a resource.
#[derive(Debug, Clone)]
pub struct Described {
    /// Its type.
    pub model: Model,
    /// The address of its description, if it has one of its own.
    pub described_by: Option<String>,
    /// Its media type.
    pub media_type: Option<String>,
    /// Its length in bytes.
    pub length: Option<u64>,
    /// The file name that its bytes were uploaded with, as in the header.
    pub disposition: Option<String>,
    /// Its digests, by the lower-case name of the algorithm without hyphens.
    pub digests: BTreeMap<String, Vec<u8>>,
}

impl LinkedData {
    /// A store that this client can reach.
    pub fn of_store(client: Client) -> Self {
        Self { client }
    }

    /// The server at an address, and the path of the address.
    ///
    /// # Errors
    /// [`Kind::Invalid`](crate::Kind::Invalid) for an invalid address or credential, or an unreadable file of certificates.
    pub fn at(
        url: &str,
        credential: Option<&Credential>,
        ca_file: Option<&Path>,
    ) -> Result<(Self, String)> {
        let (origin, path) = split(url)?;
        let client = Client::new(HttpTransport::new(&origin, ca_file)?);
        let client = match credential {
            Some(credential) => client.with_credential(credential)?,
            None => client,
        };
        Ok((Self { client }, path))
    }

    /// Describes a resource without reading it, with its digest if an algorithm is given.
    pub async fn head(&self, path: &str, digest: Option<&str>) -> Result<Described> {
        let mut call = Call::new(Method::HEAD, path);
        if let Some(name) = digest {
            call = call.header(WANT_DIGEST, named(name))?;
        }
        Ok(Described::of(&self.client.headers(call).await?))
    }

    /// The graph of a resource with its media type: N-Triples, if the server supports them. Statements that the preference
    /// excludes are missing.
    pub async fn graph(&self, path: &str, prefer: &str) -> Result<(String, Bytes)> {
        let accept = "application/n-triples, text/turtle;q=0.8, application/ld+json;q=0.5";
        let call = Call::get(path).header(ACCEPT, accept)?.header(PREFER, prefer)?;
        let (head, body) = self.client.send(call).await?.into_parts();
        let media_type = text(&head.headers, &CONTENT_TYPE).unwrap_or_default();
        Ok((media_type, crate::client::read(body).await?))
    }

    /// The bytes of a resource, and its properties.
    pub async fn read(&self, path: &str) -> Result<(Described, Body)> {
        let call = Call::get(path).header(ACCEPT, "*/*")?;
        let (head, body) = self.client.send(call).await?.into_parts();
        Ok((Described::of(&head.headers), body))
    }

    /// Creates or replaces an RDF source. Statements managed by the server are left out.
    pub async fn put_graph(&self, path: &str, model: Model, triples: Bytes) -> Result<()> {
        let call = Call::put(path).body(Payload::Bytes(triples)).repeatable();
        let call = call.header(CONTENT_TYPE, "application/n-triples")?;
        let call = call.header(PREFER, "handling=lenient")?;
        let call = match model {
            Model::Binary => call,
            model => call.header(LINK, &format!("<{LDP}{}>; rel=\"type\"", model.name()))?,
        };
        self.client.done(call).await
    }

    /// Creates or replaces a non-RDF source. The server compares the bytes with the properties given; they are consumed even if
    /// that fails.
    pub async fn put_bytes(&self, path: &str, described: &Described, bytes: Body) -> Result<()> {
        let mut call =
            Call::put(path).header(LINK, &format!("<{LDP}NonRDFSource>; rel=\"type\""))?;
        let length = described.length.map(|length| length.to_string());
        let digests = described
            .digests
            .iter()
            .map(|(name, digest)| format!("{}={}", named(name), hex::encode(digest)));
        let digests = Some(digests.collect::<Vec<_>>().join(",")).filter(|it| !it.is_empty());
        let media_type = described.media_type.as_deref().unwrap_or("application/octet-stream");
        for (name, value) in [
            (CONTENT_TYPE, Some(media_type)),
            (CONTENT_LENGTH, length.as_deref()),
            (CONTENT_DISPOSITION, described.disposition.as_deref()),
            (DIGEST, digests.as_deref()),
        ] {
            if let Some(value) = value {
                call = call.header(name, value)?;
            }
        }
        self.client.done(call.body(Payload::Once(Some(bytes))).once()).await
    }

    /// A document on the server.
    pub async fn document(&self, path: &str) -> Result<Bytes> {
        self.client.bytes(Call::get(path)).await
    }
}

impl Model {
    const ALL: [Self; 5] = [Self::Binary, Self::Indirect, Self::Direct, Self::Basic, Self::Source];

    fn name(self) -> &'static str {
        match self {
            Self::Basic => "BasicContainer",
            Self::Direct => "DirectContainer",
            Self::Indirect => "IndirectContainer",
            Self::Source => "RDFSource",
            Self::Binary => "NonRDFSource",
        }
    }

    /// The most specific one among these types.
    fn of(types: &[&str]) -> Self {
        let is_container = types.contains(&"Container");
        let named = Self::ALL.into_iter().find(|model| types.contains(&model.name()));
        match named {
            Some(Self::Source) | None if is_container => Self::Basic,
            named => named.unwrap_or(Self::Source),
        }
    }
}

impl Described {
    fn of(headers: &HeaderMap) -> Self {
        let values = headers.get_all(LINK).iter().filter_map(|value| value.to_str().ok());
        let links: Vec<_> = values.flat_map(links).collect();
        let types = links.iter().filter(|(_, rel)| rel.eq_ignore_ascii_case("type"));
        let types: Vec<_> = types.filter_map(|(iri, _)| iri.strip_prefix(LDP)).collect();
        let described_by = links.iter().find(|(_, rel)| rel.eq_ignore_ascii_case("describedby"));
        Self {
            model: Model::of(&types),
            described_by: described_by.map(|(iri, _)| (*iri).to_owned()),
            media_type: text(headers, &CONTENT_TYPE),
            length: text(headers, &CONTENT_LENGTH).and_then(|length| length.parse().ok()),
            disposition: text(headers, &CONTENT_DISPOSITION),
            digests: text(headers, &DIGEST).map(|value| digests(&value)).unwrap_or_default(),
        }
    }
}

fn text(headers: &HeaderMap, name: &HeaderName) -> Option<String> {
    Some(headers.get(name)?.to_str().ok()?.to_owned())
}

/// The links of a header, each with its relation (RFC 8288).
fn links(value: &str) -> impl Iterator<Item = (&str, &str)> {
    value.split('<').skip(1).filter_map(|link| {
        let (iri, parameters) = link.split_once('>')?;
        let rel = parameters.split([';', ',']).find_map(|it| it.trim().strip_prefix("rel="))?;
        Some((iri, rel.trim().trim_matches('"')))
    })
}

/// The digests of a header (RFC 3230), in hexadecimal as fcrepo has them, or base64.
fn digests(value: &str) -> BTreeMap<String, Vec<u8>> {
    let known = value.split(',').filter_map(|one| {
        let (name, digest) = one.trim().split_once('=')?;
        let name = name.to_ascii_lowercase().replace('-', "");
        let name = if name == "sha" { "sha1".to_owned() } else { name };
        let size = size_of(&name)?;
        let base64 = BASE64_STANDARD.decode(digest).ok();
        let read =
            hex::decode(digest).ok().into_iter().chain(base64).find(|it| it.len() == size)?;
        Some((name, read))
    });
    known.collect()
}

/// The bytes of a digest.
fn size_of(name: &str) -> Option<usize> {
    match name {
        "md5" => Some(16),
        "sha1" => Some(20),
        "sha256" => Some(32),
        // LAKEsuperior has no other by default.
        "sha512" | "blake2b" => Some(64),
        _ => None,
    }
}

/// The name of a digest in headers.
fn named(name: &str) -> &str {
    match name {
        "sha1" => "sha",
        "sha256" => "sha-256",
        "sha512" => "sha-512",
        other => other,
    }
}

/// A digest as descriptions name it, such as `urn:sha1:…`, with the name of the algorithm as in [`Described::digests`].
pub fn digest_of_urn(urn: &str) -> Option<(String, Vec<u8>)> {
    let (name, digest) = urn.strip_prefix("urn:")?.split_once(':')?;
    let name = name.to_ascii_lowercase().replace('-', "");
    let size = size_of(&name)?;
    let digest = hex::decode(digest).ok().filter(|digest| digest.len() == size)?;
    Some((name, digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(headers: &[(&'static str, &str)]) -> Described {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), value.parse().unwrap()));
        Described::of(&headers.collect())
    }

    #[test]
    fn links_name_the_model_and_the_description() {
        for (link, model) in [
            ("<http://www.w3.org/ns/ldp#Resource>;rel=\"type\"", Model::Source),
            (
                "<http://www.w3.org/ns/ldp#Resource>;rel=type, <http://www.w3.org/ns/ldp#Container>;rel=type",
                Model::Basic,
            ),
            (
                "<http://www.w3.org/ns/ldp#Container>;rel=\"type\", <http://www.w3.org/ns/ldp#DirectContainer>; rel=\"type\"",
                Model::Direct,
            ),
            ("<http://www.w3.org/ns/ldp#NonRDFSource>; rel=\"type\"", Model::Binary),
            ("<http://www.w3.org/ns/ldp#NonRDFSource>; rel=\"up\"", Model::Source),
            ("", Model::Source),
        ] {
            assert_eq!(described(&[("link", link)]).model, model, "{link}");
        }
        let both = "<urn:x>;rel=\"acl\", <http://h/a/fcr:metadata>; rel=\"describedby\"; anchor=\"http://h/a\"";
        let described = described(&[("link", both)]);
        assert_eq!(described.described_by.as_deref(), Some("http://h/a/fcr:metadata"));
    }

    #[test]
    fn digests_are_read_in_each_form() {
        let hex = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
        let digest = digest_of_urn(&format!("urn:sha1:{hex}")).unwrap();
        for value in [format!("sha={hex}"), "md5=x, SHA1=2jmj7l5rSw0yVb/vlWAYkK/YBwk=".to_owned()] {
            let read = described(&[("digest", &value)]).digests;
            assert_eq!(
                read.into_iter().collect::<Vec<_>>(),
                std::slice::from_ref(&digest),
                "{value}"
            );
        }
        let hex = "021ced8799296ceca557832ab941a50b4a11f83478cf141f51f933f653ab9fbcc05a037cddbed06e309bf334942c4e58cdf1a46e237911ccd7fcf9787cbc7fd0";
        let of_lakesuperior = "BLAKE2B=Ahzth5kpbOylV4MquUGlC0oR+DR4zxQfUfkz9lOrn7zAWgN83b7QbjCb8zSULE5YzfGkbiN5EczX/Pl4fLx/0A==";
        let read = described(&[("digest", of_lakesuperior)]).digests;
        let digest = digest_of_urn(&format!("urn:blake2b:{hex}")).unwrap();
        assert_eq!(read.into_iter().collect::<Vec<_>>(), [digest]);
        for value in ["sha=00", "sha", "whirlpool=00", "urn:sha1:0"] {
            assert!(described(&[("digest", value)]).digests.is_empty());
            assert_eq!(digest_of_urn(value), None);
        }
    }
}
