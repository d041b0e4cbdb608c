//! Bad input: the right status, a problem document, and nothing changed.

use crate::support::{ADMIN, Answer, TestServer, USER, basic};
use axum::body::Body;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::Bytes;
use cenote_server::{Limits, Seconds};
use futures_util::stream;
use serde_json::json;

#[tokio::test]
async fn every_refusal_is_a_problem_with_the_right_status() {
    let server = TestServer::new();
    server.put("/c/a", "x").await.expect(201);
    for (method, uri, status, kind) in [
        ("GET", "/v1/none", 404, "no-route"),
        ("POST", "/", 405, "method"),
        ("POST", "/v1/fs/a", 405, "method"),
        ("DELETE", "/v1/stat", 405, "method"),
        ("BREW", "/v1/stat", 405, "method"),
        ("GET", "/v1/stat", 400, "invalid"),
        ("GET", "/v1/stat?path=/c&id=1", 400, "invalid"),
        ("GET", "/v1/stat?path=c", 400, "invalid"),
        ("GET", "/v1/stat?path=/c&path=/d", 400, "invalid"),
        ("GET", "/v1/stat?id=minus", 400, "invalid"),
        ("GET", "/v1/stat?id=99999999", 404, "not-found"),
        ("GET", "/v1/list?path=/c/a", 409, "wrong-kind"),
        ("GET", "/v1/list?path=/c&limit=0", 400, "invalid"),
        ("GET", "/v1/list?path=/c&limit=10001", 400, "invalid"),
        ("GET", "/v1/list?path=/c&after=a/b", 400, "invalid"),
        ("GET", "/v1/fs/c", 409, "wrong-kind"),
        ("GET", "/v1/fs/c/a?path=/c/a", 400, "invalid"),
        ("GET", "/v1/fs/c/a?version=7", 404, "not-found"),
        ("PUT", "/v1/fs/c", 409, "wrong-kind"),
        ("PUT", "/v1/fs/c/a/b", 409, "wrong-kind"),
        ("PUT", "/v1/fs?id=999999", 404, "not-found"),
        ("GET", "/v1/changes?since=yesterday", 400, "invalid"),
        ("GET", "/v1/uploads/1", 404, "not-found"),
        ("GET", "/v1/uploads/x", 400, "invalid"),
        ("PUT", "/v1/uploads/1/-1", 400, "invalid"),
    ] {
        let answer = server.request(method, uri).send().await;
        let problem = answer.problem(status, kind);
        assert!(problem["detail"].as_str().is_some_and(|text| !text.is_empty()), "{method} {uri}");
    }
    let wrong = server.request("POST", "/v1/fs/a").send().await;
    assert!(wrong.header("allow").contains("PUT"), "{wrong:?}");
}

#[tokio::test]
async fn a_body_of_the_wrong_form_is_refused() {
    let server = TestServer::new();
    let post = |body: &'static str| server.request("POST", "/v1/create").body(body);
    post("{}").send().await.problem(415, "media-type");
    let json = |body| post(body).header("content-type", "application/json; charset=utf-8").send();
    for body in [
        "",
        "{",
        "[]",
        "7",
        "{}",
        "{\"path\": 7, \"kind\": \"collection\"}",
        "{\"path\": \"/a\", \"kind\": \"object\"}",
        "{\"path\": \"/a\", \"kind\": \"collection\", \"mood\": 1}",
        "{\"path\": \"/a\", \"kind\": \"collection\", \"kind\": \"link\"}",
        "{\"path\": \"/a\", \"kind\": \"collection\"} trailing",
        "{\"path\": \"/a\", \"kind\": \"collection\", \"mtime\": \"now\"}",
    ] {
        json(body).await.problem(400, "invalid");
    }
    server.get("/a").await.problem(404, "not-found");
}

#[tokio::test]
async fn sizes_are_limited() {
    let limits = Limits { json_bytes: 100, content_bytes: Some(1_000), ..Limits::default() };
    let server = TestServer::with(limits);
    let long = json!({"path": "/".to_owned() + &"x".repeat(200), "kind": "collection"});
    server.post("/v1/create", long).await.problem(413, "too-large");
    server.put("/a", vec![7; 1_000]).await.expect(201);
    server.put("/b", vec![7; 1_001]).await.problem(413, "too-large");
    server.get("/b").await.problem(404, "not-found");
}

#[tokio::test]
async fn a_truncated_body_leaves_nothing() {
    let server = TestServer::new();
    let chunks = [Ok(Bytes::from(vec![1; 100_000])), Err(std::io::Error::other("reset"))];
    let broken = Body::from_stream(stream::iter(chunks));
    server.request("PUT", "/v1/fs/a").body(broken).send().await.problem(422, "mismatch");
    server.get("/a").await.problem(404, "not-found");
}

#[tokio::test]
async fn a_stalled_client_is_disconnected() {
    let server = TestServer::with(Limits { idle_seconds: Seconds::new(0), ..Limits::default() });
    let silent = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
    server.request("PUT", "/v1/fs/a").body(silent).send().await.problem(408, "timeout");
}

#[tokio::test]
async fn requests_beyond_the_concurrency_limit_are_refused() {
    let server = TestServer::with(Limits { requests: 1, ..Limits::default() });
    let silent = Body::from_stream(stream::pending::<Result<Bytes, std::io::Error>>());
    server.request("GET", "/v1/whoami").send().await.expect(200);
    let slow = server.request("PUT", "/v1/fs/a").body(silent).send();
    tokio::pin!(slow);
    // The caller is authenticated by now: one poll is enough for this request to take the only
    // slot.
    assert!(futures_util::poll!(&mut slow).is_pending());
    let turned = server.get("/a").await;
    turned.problem(503, "overloaded");
    assert_eq!(turned.header("retry-after"), "1");
    assert_eq!(server.request("GET", "/healthz").send().await.status, 200);
}

#[tokio::test]
async fn denied_requests_change_nothing() {
    let server = TestServer::new();
    server.put("/c/a", "x").await.expect(201);
    let grace = |method, uri| server.request_as(Some(USER), method, uri);
    grace("GET", "/v1/fs/c/a").send().await.problem(404, "not-found");
    let grant = json!({"path": "/c", "operations": [{"name": USER.0, "level": "read", "scope": "subtree"}]});
    server.post("/v1/access", grant).await.expect(200);
    assert_eq!(grace("GET", "/v1/fs/c/a").send().await.body, "x");
    grace("PUT", "/v1/fs/c/a").body("y").send().await.problem(403, "denied");
    grace("PUT", "/v1/fs/c/b").body("y").send().await.problem(403, "denied");
    grace("DELETE", "/v1/fs/c/a").send().await.problem(403, "denied");
    let denied = grace("POST", "/v1/users").json(&json!({"name": "mallory", "role": "admin"}));
    denied.send().await.problem(403, "denied");
    assert_eq!(server.get("/c/a").await.body, "x");
}

#[tokio::test]
async fn failed_authentication_is_challenged_again() {
    let server = TestServer::new();
    let wrong = |who| server.request_as(Some(who), "GET", "/v1/whoami").send();
    for who in [(ADMIN.0, "wrong"), ("nobody", ADMIN.1), (ADMIN.0, "")] {
        let answer = wrong(who).await;
        answer.problem(401, "unauthenticated");
        assert!(answer.header("www-authenticate").starts_with("Basic"));
    }
    for value in ["Basic", "Basic %%%", "Digest x", "Bearer cn_nothing", "Basic YWRh"] {
        let request = server.request_as(None, "GET", "/v1/whoami").header("authorization", value);
        request.send().await.problem(401, "unauthenticated");
    }
    assert!(basic(ADMIN).starts_with("Basic "));
    let anonymous = server.request_as(None, "GET", "/v1/whoami").send().await.expect(200);
    assert_eq!(anonymous["name"], "anonymous");
}

/// Sends a request like a browser.
async fn browse(server: &TestServer, who: Option<(&str, &str)>, uri: &str) -> Answer {
    let accept = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    server.request_as(who, "GET", uri).header("accept", accept).send().await
}

#[tokio::test]
async fn a_browser_gets_a_page_and_is_prompted_to_log_in() {
    let server = TestServer::new();
    server.put("/c/a", "x").await.expect(201);
    let page = browse(&server, None, "/").await;
    assert_eq!(page.status, 200);
    assert!(page.header("content-type").starts_with("text/html"));
    let text = server.request_as(None, "GET", "/").send().await;
    assert!(text.header("content-type").starts_with("text/plain"), "{text:?}");
    let [hidden, missing] =
        [browse(&server, None, "/v1/fs/c/a").await, browse(&server, None, "/v1/fs/c/b").await];
    for answer in [&hidden, &missing] {
        answer.problem(401, "unauthenticated");
        assert!(answer.header("www-authenticate").starts_with("Basic"));
    }
    let detail = |answer: &Answer| answer.json()["detail"].clone();
    assert_eq!(detail(&hidden), detail(&missing));
    assert_eq!(browse(&server, Some(ADMIN), "/v1/fs/c/a").await.body, "x");
    browse(&server, Some(USER), "/v1/fs/c/a").await.problem(404, "not-found");
    browse(&server, None, "/v1/fs/c/a?ticket=none").await.problem(401, "unauthenticated");
    server.request_as(None, "GET", "/v1/fs/c/a").send().await.problem(404, "not-found");
}

#[tokio::test]
async fn a_digest_is_checked_or_refused() {
    let server = TestServer::new();
    let zeros = |length| BASE64_STANDARD.encode(vec![0; length]);
    for (algorithm, length) in [
        ("sha-256", 32),
        ("sha-512", 64),
        ("sha", 20),
        ("md5", 16),
        ("crc32c", 4),
        ("crc64nvme", 8),
    ] {
        for header in ["repr-digest", "content-digest"] {
            let wrong = format!("{algorithm}=:{}:", zeros(length));
            let put = server.request("PUT", "/v1/fs/a").header(header, &wrong).body("hello");
            put.send().await.problem(422, "mismatch");
        }
    }
    let unknown =
        server.request("PUT", "/v1/fs/a").header("repr-digest", "unixsum=:AAAA:").body("hello");
    unknown.send().await.problem(400, "invalid");
    server.get("/a").await.problem(404, "not-found");
    let right = "sha-512=:m3HSJL1i83hdltRq0+o9czGb+8KJDKra4t/3JRlnPKcjI8PZm6XBHXx6zG4UuMXaDEZjR1wuXDre9G9zvN7AQw==:";
    let put =
        server.request("PUT", "/v1/fs/a").header("repr-digest", right).body("hello").send().await;
    put.expect(201);
    assert!(server.get("/a").await.header("repr-digest").contains(right));
}

#[tokio::test]
async fn of_two_replacements_of_the_same_state_only_one_succeeds() {
    let server = TestServer::new();
    let state = server.put("/a", "0").await.expect(201)["state"].clone();
    let state = state.as_str().unwrap();
    let put = |body: String| {
        server.request("PUT", "/v1/fs/a").header("if-match", state).body(body).send()
    };
    let answers = futures_util::future::join_all((1..=8).map(|n| put(n.to_string()))).await;
    let won: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(won.len(), 1);
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.problem(412, "precondition");
    }
}
