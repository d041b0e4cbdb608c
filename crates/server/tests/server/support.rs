//! A server for a test: in this process on memory, or on a socket.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use cenote_blob::Place;
use cenote_server::{Config, Limits, router};
use cenote_store::{Clock, NewUser, Parts, Role, Store, Time};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

use crate::catalog::parts_on;

/// The administrator of every test store.
pub(crate) const ADMIN: (&str, &str) = ("ada", "countess of lovelace");
/// A user without any rights of her own.
pub(crate) const USER: (&str, &str) = ("grace", "nanoseconds");

/// A store with the two users.
pub(crate) fn store() -> Store {
    store_with(Place::memory("main"))
}

/// The same with the contents in this place.
pub(crate) fn store_with(main: Place) -> Store {
    store_of(parts_on(main))
}

/// A clock that only advances when the code sleeps.
#[derive(Debug)]
pub(crate) struct ManualClock(AtomicI64);

impl ManualClock {
    pub(crate) fn new() -> Self {
        Self(AtomicI64::new(1_700_000_000_000_000_000))
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Time {
        Time::from_nanos(self.0.load(Ordering::SeqCst))
    }

    fn sleep(&self, time: Duration) {
        self.0.fetch_add(time.as_nanos() as i64, Ordering::SeqCst);
    }
}

/// The same with this clock.
pub(crate) fn store_at(clock: Arc<dyn Clock>) -> Store {
    store_of(Parts { clock, ..parts_on(Place::memory("main")) })
}

fn store_of(parts: Parts) -> Store {
    let store = Store::create_new(parts, ADMIN.0, ADMIN.1).unwrap();
    let admin = store.authenticate_password(ADMIN.0, ADMIN.1).unwrap();
    let (name, password) = (USER.0.to_owned(), Some(USER.1.to_owned()));
    store.add_user(&admin, &NewUser { name, password, role: Role::User }).unwrap();
    store
}

/// Lets administrators of the store in a directory add places below another one, and register files there.
pub(crate) fn allow_vaults(store: &Path, below: &Path) {
    let settings = store.join("store.toml");
    let written = std::fs::read_to_string(&settings).unwrap();
    let allowed = format!("register = [{below:?}]\nvaults = [{below:?}]\n{written}");
    std::fs::write(settings, allowed).unwrap();
}

/// A server in this process.
#[derive(Clone)]
pub(crate) struct TestServer {
    pub(crate) router: Router,
}

impl TestServer {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        Self::configured(&Config { limits, ..Config::default() })
    }

    pub(crate) fn configured(config: &Config) -> Self {
        Self { router: router(store(), config) }
    }

    /// Sends a request as the administrator.
    pub(crate) fn request(&self, method: &str, uri: &str) -> TestRequest<'_> {
        self.request_as(Some(ADMIN), method, uri)
    }

    pub(crate) fn request_as(
        &self,
        who: Option<(&str, &str)>,
        method: &str,
        uri: &str,
    ) -> TestRequest<'_> {
        let method = Method::from_bytes(method.as_bytes()).unwrap();
        let request = TestRequest { server: self, inner: Request::new(Body::empty()) };
        let mut request = match who {
            Some(who) => request.header("authorization", &basic(who)),
            None => request,
        };
        *request.inner.method_mut() = method;
        *request.inner.uri_mut() = uri.parse().unwrap();
        request
    }

    /// Puts an object, as the administrator.
    pub(crate) async fn put(&self, path: &str, content: impl Into<Body>) -> Answer {
        self.request("PUT", &format!("/v1/fs{path}?parents=true")).body(content).send().await
    }

    /// The content of an object, as the administrator.
    pub(crate) async fn get(&self, path: &str) -> Answer {
        self.request("GET", &format!("/v1/fs{path}")).send().await
    }

    /// Posts JSON, as the administrator.
    pub(crate) async fn post(&self, uri: &str, body: Value) -> Answer {
        self.request("POST", uri).json(&body).send().await
    }
}

pub(crate) fn basic((name, password): (&str, &str)) -> String {
    format!("Basic {}", BASE64_STANDARD.encode(format!("{name}:{password}")))
}

/// A request under construction.
pub(crate) struct TestRequest<'a> {
    server: &'a TestServer,
    inner: Request<Body>,
}

impl TestRequest<'_> {
    pub(crate) fn header(mut self, name: &'static str, value: &str) -> Self {
        self.inner.headers_mut().insert(name, value.parse().unwrap());
        self
    }

    /// With a header whose value need not be text.
    pub(crate) fn value(mut self, name: &'static str, value: HeaderValue) -> Self {
        self.inner.headers_mut().insert(name, value);
        self
    }

    /// With an identity asserted by the process itself.
    pub(crate) fn extension<T: Clone + Send + Sync + 'static>(mut self, value: T) -> Self {
        self.inner.extensions_mut().insert(value);
        self
    }

    pub(crate) fn body(mut self, body: impl Into<Body>) -> Self {
        *self.inner.body_mut() = body.into();
        self
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }

    pub(crate) async fn send(self) -> Answer {
        Answer::read(self.begin().await).await
    }

    /// The response before its body is read.
    pub(crate) async fn begin(self) -> Response<Body> {
        self.server.router.clone().oneshot(self.inner).await.unwrap()
    }
}

/// A complete response.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
}

impl Answer {
    async fn read(response: Response<Body>) -> Self {
        let (parts, body) = response.into_parts();
        let body = body.collect().await.expect("the body is whole").to_bytes();
        Self { status: parts.status, headers: parts.headers, body }
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The body as text.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("not JSON: {self:?}"))
    }

    /// The JSON of a response with this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    /// Checks the status, whatever the body is.
    #[track_caller]
    pub(crate) fn expect_status(&self, status: u16) {
        assert_eq!(self.status, status, "{self:?}");
    }

    /// Checks that this is a problem of this kind.
    #[track_caller]
    pub(crate) fn problem(&self, status: u16, kind: &str) -> Value {
        assert_eq!(self.status, status, "{self:?}");
        assert_eq!(self.header("content-type"), "application/problem+json");
        let body = self.json();
        assert_eq!(body["type"], format!("urn:cenote:problem:{kind}"), "{body}");
        assert_eq!(body["status"], status);
        assert_eq!(body["request_id"], self.header("x-request-id"));
        body
    }
}

/// SHA-256 of some bytes.
pub(crate) fn sha256(bytes: impl AsRef<[u8]>) -> Vec<u8> {
    ring::digest::digest(&ring::digest::SHA256, bytes.as_ref()).as_ref().to_vec()
}
