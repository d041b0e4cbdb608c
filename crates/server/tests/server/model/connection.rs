//! A client with a connection for each version of HTTP.

use axum::http::{HeaderMap, Request};
use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::client::conn::{http1, http2};
use hyper_util::rt::{TokioExecutor, TokioIo};

use crate::running::Running;
use crate::support::{ADMIN, basic};

/// The HTTP version of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Http {
    One,
    Two,
}

pub(super) struct Connection {
    one: http1::SendRequest<Full<Bytes>>,
    two: http2::SendRequest<Full<Bytes>>,
    address: String,
    /// The token of the iRODS opening.
    token: String,
}

/// A complete response.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
}

/// A request that has not been sent.
pub(super) struct TestRequest {
    pub(super) method: &'static str,
    pub(super) uri: String,
    pub(super) headers: Vec<(&'static str, String)>,
    pub(super) body: Bytes,
}

impl TestRequest {
    pub(super) fn new(method: &'static str, uri: impl Into<String>) -> Self {
        Self { method, uri: uri.into(), headers: Vec::new(), body: Bytes::new() }
    }

    pub(super) fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    pub(super) fn json(self, body: &serde_json::Value) -> Self {
        self.header("content-type", "application/json").body(body.to_string())
    }
}

impl Connection {
    pub(super) async fn to(server: &Running) -> Self {
        let one = TokioIo::new(server.connect().await);
        let (one, connection) = http1::handshake(one).await.unwrap();
        tokio::spawn(connection);
        let two = TokioIo::new(server.connect().await);
        let (two, connection) = http2::handshake(TokioExecutor::new(), two).await.unwrap();
        tokio::spawn(connection);
        let address = server.address.to_string();
        let mut connection = Self { one, two, address, token: String::new() };
        let log_in = TestRequest::new("POST", "/irods-http-api/0.7.0/authenticate");
        let token = connection.native(Http::One, log_in).await.unwrap();
        connection.token = String::from_utf8(token.body.to_vec()).unwrap();
        connection
    }

    /// Authenticates with a password.
    pub(super) async fn native(
        &mut self,
        http: Http,
        request: TestRequest,
    ) -> Result<Answer, String> {
        self.send(http, request.header("authorization", basic(ADMIN))).await
    }

    /// Authenticates with a token of the iRODS opening.
    pub(super) async fn irods(
        &mut self,
        http: Http,
        request: TestRequest,
    ) -> Result<Answer, String> {
        let token = format!("Bearer {}", self.token);
        self.send(http, request.header("authorization", token)).await
    }

    async fn send(&mut self, http: Http, request: TestRequest) -> Result<Answer, String> {
        let what = format!("{} {} over {http:?}", request.method, request.uri);
        let uri = match http {
            Http::One => request.uri,
            Http::Two => format!("http://{}{}", self.address, request.uri),
        };
        let mut http_request = Request::builder().method(request.method).uri(uri);
        if http == Http::One {
            http_request = http_request.header("host", &self.address);
        }
        let http_request = request
            .headers
            .iter()
            .fold(http_request, |http_request, (name, value)| http_request.header(*name, value));
        let http_request = http_request.body(Full::new(request.body)).unwrap();
        let failed = |error: hyper::Error| format!("{what}: {error:?}");
        let answer = match http {
            Http::One => {
                self.one.ready().await.map_err(failed)?;
                self.one.send_request(http_request).await.map_err(failed)?
            }
            Http::Two => self.two.send_request(http_request).await.map_err(failed)?,
        };
        let (head, body) = answer.into_parts();
        let body = body.collect().await.map_err(failed)?.to_bytes();
        Ok(Answer { status: head.status.as_u16(), headers: head.headers, body })
    }
}

impl Answer {
    pub(super) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(super) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    /// The response, if it has this status.
    pub(super) fn expect(self, status: u16) -> Result<Self, String> {
        match self.status == status {
            true => Ok(self),
            false => Err(format!("{} instead of {status}: {:?}", self.status, self.json())),
        }
    }

    /// The response, if the iRODS opening reports success.
    pub(super) fn done(self) -> Result<Self, String> {
        let answer = self.expect(200)?;
        let json = answer.json();
        match json["irods_response"]["status_code"].as_i64().or(json["code"].as_i64()) {
            Some(0) => Ok(answer),
            _ => Err(format!("refused: {json}")),
        }
    }
}
