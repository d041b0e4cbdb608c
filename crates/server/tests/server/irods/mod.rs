//! The iRODS opening as its clients use it: what the real clients' own suites check.

mod bytes;
mod clocks;
mod collections;
mod intake;
mod parallel;
mod people;
mod queries;
mod refusals;
mod requests;
mod resources;
mod rules;
mod trash;
mod zones;

use cenote_server::{Config, Irods as Settings};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::support::{ADMIN, Answer, TestServer, basic};

const BASE: &str = "/irods-http-api/0.7.0";

/// A logged-in client.
pub(crate) struct Irods {
    pub(crate) server: TestServer,
    token: String,
    home: String,
}

impl Irods {
    pub(crate) async fn new() -> Self {
        Self::log_in(TestServer::new(), ADMIN).await
    }

    async fn log_in(server: TestServer, who: (&str, &str)) -> Self {
        let answer = authenticate(&server, Some(&basic(who))).await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let token = String::from_utf8(answer.body.to_vec()).unwrap();
        Self { server, token, home: format!("/tempZone/home/{}", who.0) }
    }

    /// On a server with these settings.
    async fn with(irods: Settings) -> Self {
        let config = Config { irods, ..Config::default() };
        Self::log_in(TestServer::configured(&config), ADMIN).await
    }

    /// Another user of the same server.
    async fn other(&self, who: (&str, &str)) -> Self {
        Self::log_in(self.server.clone(), who).await
    }

    async fn get(&self, endpoint: &str, parameters: &[(&str, &str)]) -> Answer {
        let uri = format!("{BASE}/{endpoint}?{}", encode(parameters));
        let request = self.server.request_as(None, "GET", &uri);
        request.header("authorization", &format!("Bearer {}", self.token)).send().await
    }

    pub(crate) async fn post(&self, endpoint: &str, parameters: &[(&str, &str)]) -> Answer {
        let request = self.server.request_as(None, "POST", &format!("{BASE}/{endpoint}"));
        request
            .header("authorization", &format!("Bearer {}", self.token))
            .header("content-type", "application/x-www-form-urlencoded")
            .body(encode(parameters))
            .send()
            .await
    }

    /// Posts parts; `name=bytes` pairs, in this order, with unquoted names.
    pub(crate) async fn parts(&self, parts: &[(&str, &[u8])]) -> Answer {
        let mut body = Vec::new();
        for (name, value) in parts {
            let head = format!("----x-\r\nContent-Disposition: form-data; name=\"{name}\"\r\n\r\n");
            body.extend_from_slice(head.as_bytes());
            body.extend_from_slice(value);
            body.extend_from_slice(b"\r\n");
        }
        body.extend_from_slice(b"----x---\r\n\r\n");
        let request = self.server.request_as(None, "POST", &format!("{BASE}/data-objects"));
        request
            .header("authorization", &format!("Bearer {}", self.token))
            .header("content-type", "multipart/form-data; boundary=--x-")
            .body(body)
            .send()
            .await
    }

    pub(crate) fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.home)
    }

    pub(crate) async fn write(&self, name: &str, bytes: &str) {
        let path = self.path(name);
        let form = [("op", "write"), ("lpath", path.as_str()), ("bytes", bytes)];
        assert_eq!(code(&self.post("data-objects", &form).await), 0);
    }

    async fn read(&self, name: &str) -> String {
        let path = self.path(name);
        let answer = self.get("data-objects", &[("op", "read"), ("lpath", &path)]).await;
        assert_eq!(answer.status, 200);
        String::from_utf8(answer.body.to_vec()).unwrap()
    }

    async fn stat(&self, endpoint: &str, path: &str) -> Value {
        self.get(endpoint, &[("op", "stat"), ("lpath", path)]).await.expect(200)
    }

    async fn list(&self, path: &str, recurse: &str) -> Value {
        let query = [("op", "list"), ("lpath", path), ("recurse", recurse)];
        self.get("collections", &query).await.expect(200)["entries"].clone()
    }

    async fn mkdir(&self, name: &str) -> Value {
        let path = self.path(name);
        self.post("collections", &[("op", "create"), ("lpath", &path)]).await.expect(200)
    }

    async fn rows(&self, query: &str) -> Value {
        let query = [("op", "execute_genquery"), ("query", query)];
        self.get("query", &query).await.expect(200)["rows"].clone()
    }
}

async fn authenticate(server: &TestServer, authorization: Option<&str>) -> Answer {
    let request = server.request_as(None, "POST", &format!("{BASE}/authenticate"));
    match authorization {
        Some(value) => request.header("authorization", value).send().await,
        None => request.send().await,
    }
}

pub(super) fn encode(parameters: &[(&str, &str)]) -> String {
    let pair = |(name, value): &(&str, &str)| {
        format!("{name}={}", utf8_percent_encode(value, NON_ALPHANUMERIC))
    };
    parameters.iter().map(pair).collect::<Vec<_>>().join("&")
}

fn code(answer: &Answer) -> i64 {
    answer.json()["irods_response"]["status_code"].as_i64().unwrap()
}
