//! One call as data: it can be sent again if its body can be produced again.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method};
use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde::Serialize;

use crate::body::{self, Body};
use crate::{Address, At, Error, Kind, Result};

/// What percent-encoding leaves in a path and in a query: letters, digits and `-._~`.
const RESERVED: AsciiSet = CONTROLS
    .add(b' ')
    .add(b'!')
    .add(b'"')
    .add(b'#')
    .add(b'$')
    .add(b'%')
    .add(b'&')
    .add(b'\'')
    .add(b'(')
    .add(b')')
    .add(b'*')
    .add(b'+')
    .add(b',')
    .add(b'/')
    .add(b':')
    .add(b';')
    .add(b'<')
    .add(b'=')
    .add(b'>')
    .add(b'?')
    .add(b'@')
    .add(b'[')
    .add(b'\\')
    .add(b']')
    .add(b'^')
    .add(b'`')
    .add(b'{')
    .add(b'|')
    .add(b'}');

/// A request that has not been sent yet.
pub(crate) struct Call {
    pub(crate) method: Method,
    pub(crate) target: String,
    pub(crate) headers: HeaderMap,
    pub(crate) payload: Payload,
    pub(crate) repeatable: bool,
    /// Whether the response is expected to be large.
    pub(crate) is_large: bool,
}

/// The body of a call.
pub(crate) enum Payload {
    /// No body, or bytes in memory.
    Bytes(Bytes),
    /// A body that can be produced again, such as that of a file.
    Made(Arc<dyn Fn() -> Body + Send + Sync>),
    /// A body that is consumed when sent, such as standard input.
    Once(Option<Body>),
}

impl Payload {
    /// The body for the next attempt; `None` if it has been consumed.
    pub(crate) fn take(&mut self) -> Option<Body> {
        match self {
            Self::Bytes(bytes) => Some(body::body_of(bytes.clone())),
            Self::Made(make) => Some(make()),
            Self::Once(body) => body.take(),
        }
    }

    fn can_be_made_again(&self) -> bool {
        !matches!(self, Self::Once(_))
    }
}

impl Call {
    pub(crate) fn new(method: Method, target: impl Into<String>) -> Self {
        let repeatable = matches!(method, Method::GET | Method::HEAD);
        let payload = Payload::Bytes(Bytes::new());
        let (target, headers) = (target.into(), HeaderMap::new());
        Self { method, target, headers, payload, repeatable, is_large: false }
    }

    pub(crate) fn get(route: &str) -> Self {
        Self::new(Method::GET, route)
    }

    pub(crate) fn put(route: &str) -> Self {
        Self::new(Method::PUT, route)
    }

    pub(crate) fn post(route: &str) -> Self {
        Self::new(Method::POST, route)
    }

    pub(crate) fn patch(route: &str) -> Self {
        Self::new(Method::PATCH, route)
    }

    pub(crate) fn delete(route: &str) -> Self {
        Self::new(Method::DELETE, route)
    }

    /// Adds a query parameter.
    pub(crate) fn query(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        let separator = if self.target.contains('?') { '&' } else { '?' };
        let value = value.to_string();
        let value = utf8_percent_encode(&value, &RESERVED);
        self.target.push_str(&format!("{separator}{name}={value}"));
        self
    }

    /// Adds a query parameter, if it has a value.
    pub(crate) fn query_opt(self, name: &str, value: Option<impl std::fmt::Display>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    /// Identifies the resource.
    pub(crate) fn at(self, at: &At) -> Self {
        match at {
            At::Path(path) => self.query("path", path),
            At::Id(id) => self.query("id", id),
        }
    }

    /// Adds a header.
    pub(crate) fn header(mut self, name: HeaderName, value: &str) -> Result<Self> {
        let value = HeaderValue::from_str(value).map_err(|_| {
            Error::new(Kind::Invalid, format!("not a value for {name}: {value:.64?}"))
        })?;
        self.headers.insert(name, value);
        Ok(self)
    }

    /// Sends this value as JSON.
    pub(crate) fn json(mut self, value: &impl Serialize) -> Self {
        let bytes = serde_json::to_vec(value).expect("our requests have string keys only");
        self.payload = Payload::Bytes(bytes.into());
        self.headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        self
    }

    /// Sends this body.
    pub(crate) fn body(mut self, payload: Payload) -> Self {
        self.payload = payload;
        self
    }

    /// Declares that sending it twice has the same effect as sending it once.
    pub(crate) fn repeatable(mut self) -> Self {
        self.repeatable = true;
        self
    }

    /// Declares that it must not be sent twice.
    pub(crate) fn once(mut self) -> Self {
        self.repeatable = false;
        self
    }

    /// Announces that the response is large, if it is.
    pub(crate) fn large(mut self, is_large: bool) -> Self {
        self.is_large = is_large;
        self
    }

    /// Whether it is a call of the native opening, which only a cenote server has.
    pub(crate) fn is_native(&self) -> bool {
        self.target.starts_with("/v1/")
    }

    pub(crate) fn may_be_repeated(&self) -> bool {
        self.repeatable && self.payload.can_be_made_again()
    }
}

/// The URL of an object's bytes.
pub(crate) fn bytes_of(at: &At) -> String {
    match at {
        At::Path(path) => fs_route(path),
        At::Id(id) => format!("/v1/fs?id={id}"),
    }
}

/// The URL to which an object's bytes are put.
pub(crate) fn put_to(address: &Address) -> Call {
    match address {
        Address::At(at) => Call::put(&bytes_of(at)),
        Address::Child { parent, name } => {
            Call::put("/v1/fs").query("parent", parent).query("name", name)
        }
    }
}

/// The URL path of an object's bytes.
pub(crate) fn fs_route(path: &str) -> String {
    let names = path.split('/').filter(|name| !name.is_empty());
    names.fold("/v1/fs".to_owned(), |route, name| {
        format!("{route}/{}", utf8_percent_encode(name, &RESERVED))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_round_trips_through_its_url() {
        proptest::proptest!(|(name in "[^/\u{0}]{1,40}")| {
            let route = fs_route(&format!("/lab/{name}"));
            proptest::prop_assert!(route.parse::<http::Uri>().is_ok());
            let encoded = route.strip_prefix("/v1/fs/lab/").unwrap();
            let decoded = percent_encoding::percent_decode_str(encoded).decode_utf8().unwrap();
            proptest::prop_assert_eq!(decoded, name);
        });
    }

    #[test]
    fn a_query_is_assembled() {
        let call = Call::get("/v1/list").query("path", "/a b&c").query_opt("after", None::<u8>);
        assert_eq!(call.query("limit", 2).target, "/v1/list?path=%2Fa%20b%26c&limit=2");
    }
}
