//! The change feed of a subtree, as pages and as server-sent events.

use std::task::Poll;

use axum::body::Body;
use axum::http::Response;
use cenote_server::{Config, router};
use cenote_store::{CreateOptions, Draft};
use http_body_util::BodyExt;
use serde_json::{Value, json};

use crate::support::{ADMIN, TestServer, USER, store};

/// A stream of events that is read as it arrives.
pub(crate) struct Events {
    answer: Response<Body>,
    text: String,
}

impl Events {
    async fn begin(server: &TestServer, uri: &str, last: Option<&str>) -> Self {
        Self::begin_as(server, ADMIN, uri, last).await
    }

    pub(crate) async fn begin_as(
        server: &TestServer,
        who: (&str, &str),
        uri: &str,
        last: Option<&str>,
    ) -> Self {
        let request =
            server.request_as(Some(who), "GET", uri).header("accept", "text/event-stream");
        let request = match last {
            Some(last) => request.header("last-event-id", last),
            None => request,
        };
        let answer = request.begin().await;
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()["content-type"], "text/event-stream");
        Self { answer, text: String::new() }
    }

    /// The next block of lines; none at the end.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let frame = self.answer.body_mut().frame().await?.unwrap().into_data().unwrap();
            self.text += std::str::from_utf8(&frame).unwrap();
        }
    }

    /// The next change, with the id of its event.
    async fn change(&mut self) -> (String, Value) {
        loop {
            let block = self.block().await.expect("the stream goes on");
            let field = |name: &str| block.lines().find_map(|line| line.strip_prefix(name));
            if let (Some(id), Some(data)) = (field("id: "), field("data: ")) {
                assert_eq!(field("event: "), Some("change"));
                return (id.to_owned(), serde_json::from_str(data).unwrap());
            }
        }
    }
}

pub(crate) async fn position(server: &TestServer) -> String {
    let now = server.request("GET", "/v1/changes?since=now").send().await.expect(200);
    now["next"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn changes_are_sent_as_events_and_a_reconnecting_client_continues() {
    let server = TestServer::new();
    let mut events = Events::begin(&server, "/v1/changes?since=now", None).await;
    assert_eq!(events.block().await.unwrap(), "retry: 1000");
    server.put("/a", "1").await.expect(201);
    let (id, change) = events.change().await;
    assert_eq!((&change["kind"], &change["name"]), (&json!("created"), &json!("a")));
    assert_eq!(change["position"], id);
    drop(events);
    server.put("/b", "2").await.expect(201);
    // The position of the last event takes precedence over the one in the address.
    let mut events = Events::begin(&server, "/v1/changes?since=now", Some(&id)).await;
    assert_eq!(events.change().await.1["name"], "b");
    server.put("/c", "3").await.expect(201);
    assert_eq!(events.change().await.1["name"], "c");
}

/// The id of each block that has one.
fn ids(blocks: &[String]) -> Vec<&str> {
    let lines = blocks.iter().flat_map(|block| block.lines());
    lines.filter_map(|line| line.strip_prefix("id: ")).collect()
}

/// Also with changes that the caller may not see, which only advance the position.
#[tokio::test]
async fn no_position_is_sent_twice() {
    let server = TestServer::new();
    server.put("/lab/x", "1").await.expect(201);
    let mut events = Events::begin(&server, "/v1/changes?path=/lab&since=now", None).await;
    let mut blocks = vec![events.block().await.unwrap(), events.block().await.unwrap()];
    for n in 0..4 {
        server.put("/lab/x", n.to_string()).await.expect(200);
        server.put("/elsewhere", n.to_string()).await;
        server.put("/lab/x", format!("{n} again")).await.expect(200);
        while blocks.iter().filter(|block| block.contains("event: change")).count() < 2 * (n + 1) {
            blocks.push(events.block().await.unwrap());
        }
    }
    let ids = ids(&blocks);
    assert!(ids.is_sorted_by(|a, b| a < b), "{ids:#?}");
}

/// Changes by the server itself are sent immediately: the waits are longer than the test, so they are not polled for.
#[tokio::test]
async fn a_change_outside_of_requests_wakes_waiting_clients() {
    let store = store();
    let server = TestServer { router: router(store.clone(), &Config::default()) };
    let admin = store.authenticate_password(ADMIN.0, ADMIN.1).unwrap();
    let since = position(&server).await;
    let mut events = Events::begin(&server, "/v1/changes?since=now", None).await;
    let uri = format!("/v1/changes?since={since}&wait=300");
    let mut polled = 0;
    let job = std::future::poll_fn(|context| {
        // After both were polled a few times, so that they are waiting.
        polled += 1;
        if polled < 50 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        let path: cenote_store::StorePath = "/made".parse().unwrap();
        store.create(&admin, &path, Draft::Collection, CreateOptions::default()).unwrap();
        Poll::Ready(())
    });
    let ((_, change), page, ()) =
        tokio::join!(events.change(), server.request("GET", &uri).send(), job);
    assert_eq!(change["name"], "made");
    assert_eq!(page.expect(200)["items"][0], change);
}

#[tokio::test]
async fn a_subtree_has_its_own_feed() {
    let server = TestServer::new();
    server.put("/lab/x", "1").await.expect(201);
    let since = position(&server).await;
    let mut events =
        Events::begin(&server, &format!("/v1/changes?path=/lab&since={since}"), None).await;
    server.put("/other", "1").await.expect(201);
    server.put("/lab/y", "1").await.expect(201);
    let moved = json!({"from": {"path": "/lab/x"}, "to": "/out"});
    server.post("/v1/move", moved).await.expect(200);
    let seen = [events.change().await.1, events.change().await.1];
    let reported = seen.each_ref().map(|change| (&change["kind"], &change["name"]));
    assert_eq!(reported, [(&json!("created"), &json!("y")), (&json!("removed"), &json!("x"))]);
    let lab = server.request("GET", "/v1/stat?path=/lab").send().await.expect(200);
    let uri = format!("/v1/changes?id={}&since={since}", lab["id"]);
    let page = server.request("GET", &uri).send().await.expect(200);
    assert_eq!(page["items"], Value::from(seen.to_vec()));
}

/// Callers who lose access learn that there was a change, not of which resource; it has its position in the feed.
#[tokio::test]
async fn a_revocation_is_an_event_without_a_name() {
    let server = TestServer::new();
    server.put("/lab/x", "1").await.expect(201);
    server.put("/open/y", "1").await.expect(201);
    let grant = |path, level| {
        let operations = json!([{"name": USER.0, "level": level, "scope": "subtree"}]);
        server.post("/v1/access", json!({"path": path, "operations": operations}))
    };
    for path in ["/lab", "/open"] {
        grant(path, "read").await.expect(200);
    }
    let since = position(&server).await;
    server.put("/open/y", "2").await.expect(200);
    grant("/lab", "none").await.expect(200);
    let revoked = position(&server).await;
    server.put("/open/y", "3").await.expect(200);
    let uri = format!("/v1/changes?since={since}");
    let page = server.request_as(Some(USER), "GET", &uri).send().await.expect(200);
    assert_eq!((&page["access"], page["items"].as_array().unwrap().len()), (&json!(revoked), 2));
    let mut events = Events::begin_as(&server, USER, &uri, None).await;
    let mut blocks = Vec::new();
    while blocks.len() < 4 {
        blocks.push(events.block().await.unwrap());
    }
    let event = format!("id: {revoked}\nevent: access\ndata: {{\"position\":\"{revoked}\"}}");
    assert_eq!(blocks[2], event, "between the two changes");
    assert!(ids(&blocks).is_sorted_by(|a, b| a < b), "{blocks:#?}");
    let waits = format!("/v1/changes?since={since}&limit=2&wait=300");
    grant("/open", "none").await.expect(200);
    let page = server.request_as(Some(USER), "GET", &waits).send().await.expect(200);
    assert_eq!((&page["access"], &page["items"]), (&json!(revoked), &json!([])));
    let all = server.request("GET", &uri).send().await.expect(200);
    assert_eq!(all["access"], Value::Null, "an administrator sees all");
}

/// It is reported to that user alone, as a position; the stream ends, so that the client is authenticated again. None of this waits for a time
/// that passes.
#[tokio::test]
async fn a_stream_ends_with_an_event_once_the_groups_of_its_caller_change() {
    let server = TestServer::new();
    server.put("/lab/x", "1").await.expect(201);
    server.post("/v1/groups", json!({"name": "lab"})).await.expect(201);
    let change = |change: Value| server.request("PATCH", "/v1/groups").json(&change).send();
    change(json!({"name": "lab", "add": [USER.0]})).await.expect(204);
    let operations = json!([{"name": "lab", "level": "read", "scope": "subtree"}]);
    server.post("/v1/access", json!({"path": "/lab", "operations": operations})).await.expect(200);
    let mut events = Events::begin_as(&server, USER, "/v1/changes?since=now", None).await;
    let mut others = Events::begin(&server, "/v1/changes?since=now", None).await;
    server.put("/lab/x", "2").await.expect(200);
    assert_eq!(events.change().await.1["name"], "x");
    change(json!({"name": "lab", "remove": [USER.0]})).await.expect(204);
    let left = position(&server).await;
    server.put("/lab/x", "3").await.expect(200);
    let event = format!("id: {left}\nevent: access\ndata: {{\"position\":\"{left}\"}}");
    let mut rest = Vec::new();
    while let Some(block) = events.block().await {
        rest.push(block);
    }
    assert!(rest.contains(&event), "{rest:?}");
    assert!(!rest.iter().any(|block| block.contains("event: change")), "{rest:?}");
    let others = [others.change().await.0, others.change().await.0];
    assert!(others[0] < left && left < others[1], "{others:?}");
}

#[tokio::test]
async fn a_stream_ends_at_once_when_its_token_is_revoked() {
    let server = TestServer::new();
    let token = server.post("/v1/tokens", json!({"label": "t"})).await.expect(201);
    let shown = format!("Bearer {}", token["token"].as_str().unwrap());
    let request = || {
        let request = server.request_as(None, "GET", "/v1/changes?since=now");
        request.header("authorization", &shown).header("accept", "text/event-stream")
    };
    let mut events = Events { answer: request().begin().await, text: String::new() };
    assert_eq!(events.block().await.unwrap(), "retry: 1000");
    let revoke = format!("/v1/tokens?id={}", token["id"]);
    server.request("DELETE", &revoke).send().await.expect(204);
    let end = async { while events.block().await.is_some() {} };
    // Far less than the silence after which a stream shows that it is alive.
    tokio::time::timeout(std::time::Duration::from_secs(10), end).await.expect("it ends");
    request().send().await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_stream_is_refused_before_it_starts() {
    let server = TestServer::new();
    server.put("/lab/x", "1").await.expect(201);
    let refused = [
        ("/v1/changes?path=/none", 404, "not-found"),
        ("/v1/changes?path=/lab&id=1", 400, "invalid"),
        ("/v1/changes?since=x", 400, "invalid"),
        ("/v1/changes?wait=301", 400, "invalid"),
    ];
    for (uri, status, kind) in refused {
        let request = server.request("GET", uri).header("accept", "text/event-stream");
        request.send().await.problem(status, kind);
    }
    let hidden = server.request_as(Some(USER), "GET", "/v1/changes?path=/lab");
    hidden.send().await.problem(404, "not-found");
}
