//! Change sets through the native opening: which routes run in one, and that those requests have no effect outside of
//! it.

use std::collections::BTreeSet;

use cenote_server::embedded::open_dir_with;
use cenote_server::{Config, router};
use cenote_store::Time;
use serde_json::{Value, json};

use super::batch::archive;
use super::catalog::{Directory, is_shared};
use super::support::{ADMIN, Answer, TestRequest, TestServer, USER};

const HEADER: &str = "cenote-changeset";

async fn begin(server: &TestServer) -> String {
    let begun = server.post("/v1/changesets", json!({})).await.expect(201);
    assert_eq!((&begun["state"], &begun["owner"]), (&json!("open"), &json!(ADMIN.0)));
    begun["id"].as_str().unwrap().to_owned()
}

fn within<'a>(server: &'a TestServer, id: &str, method: &str, uri: &str) -> TestRequest<'a> {
    server.request(method, uri).header(HEADER, id)
}

async fn commit(server: &TestServer, id: &str) -> Answer {
    server.post(&format!("/v1/changesets/{id}/commit"), json!({})).await
}

async fn filled() -> TestServer {
    let server = TestServer::new();
    for name in ["a", "b", "c", "d"] {
        server.put(&format!("/lab/{name}"), name).await.expect(201);
    }
    server
}

/// Everything visible in a walk, the trash and the feed.
async fn visible(server: &TestServer) -> Vec<String> {
    let mut visible = Vec::new();
    for uri in ["/v1/walk?path=/", "/v1/trash", "/v1/changes", "/v1/du?path=/", "/v1/stats"] {
        let answer = server.request("GET", uri).send().await;
        assert_eq!(answer.status, 200, "{uri}: {answer:?}");
        visible.push(String::from_utf8_lossy(&answer.body).into_owned());
    }
    visible
}

/// The index of texts knows nothing of what is in a change set.
#[tokio::test]
async fn words_of_a_change_set_are_found_in_it_alone_until_it_is_committed() {
    let server = filled().await;
    let words = json!({"text": "fresh"});
    let outside = async || server.post("/v1/search", words.clone()).await.expect(200);
    assert_eq!(outside().await["items"], json!([]));
    let id = begin(&server).await;
    within(&server, &id, "PUT", "/v1/fs/lab/fresh").body("new").send().await.expect(201);
    let found = within(&server, &id, "POST", "/v1/search").json(&words).send().await.expect(200);
    assert_eq!(found["items"][0]["path"], "/lab/fresh");
    assert_eq!(outside().await["items"], json!([]));
    commit(&server, &id).await.expect(200);
    assert_eq!(outside().await["items"][0]["path"], "/lab/fresh");
}

#[tokio::test]
async fn a_change_set_is_seen_with_its_header_alone_until_it_is_committed() {
    let server = filled().await;
    let (before, id) = (visible(&server).await, begin(&server).await);
    within(&server, &id, "PUT", "/v1/fs/lab/new").body("new").send().await.expect(201);
    within(&server, &id, "DELETE", "/v1/fs/lab/a").send().await.expect(204);
    let read = within(&server, &id, "GET", "/v1/fs/lab/new").send().await;
    assert_eq!(read.body, "new");
    within(&server, &id, "HEAD", "/v1/fs/lab/a").send().await.problem_status(404);
    assert_eq!(visible(&server).await, before);
    let state = server.request("GET", &format!("/v1/changesets/{id}")).send().await.expect(200);
    assert_eq!(state["changes"], 2);
    assert!(
        state["bytes"].as_u64().unwrap() > 100
            && state["expires"].as_str() < state["until"].as_str()
    );
    let open = server.request("GET", "/v1/changesets").send().await.expect(200);
    assert_eq!(open["items"], json!([state]));
    let extended = server.post(&format!("/v1/changesets/{id}"), json!({})).await.expect(200);
    assert!(extended["expires"].as_str() >= state["expires"].as_str());
    let committed = commit(&server, &id).await.expect(200);
    assert_eq!(committed["state"], "committed");
    assert_eq!(server.get("/lab/new").await.body, "new");
    server.get("/lab/a").await.problem(404, "not-found");
    let feed = server.request("GET", "/v1/changes").send().await.expect(200);
    let positions = feed["items"].as_array().unwrap().iter().rev().take(2);
    let commits: BTreeSet<String> =
        positions.map(|change| change["position"].as_str().unwrap()[..16].to_owned()).collect();
    assert_eq!(commits.len(), 1, "both are of one commit");
    let gone = within(&server, &id, "GET", "/v1/fs/lab/new").send().await.problem(410, "expired");
    assert!(gone["detail"].as_str().unwrap().contains("was committed"), "{gone}");
    commit(&server, &id).await.problem(410, "expired");
    let state = server.request("GET", &format!("/v1/changesets/{id}")).send().await.expect(200);
    assert_eq!(state["state"], "committed");
}

impl Answer {
    /// The status of a response without a body.
    #[track_caller]
    fn problem_status(&self, status: u16) {
        assert_eq!(self.status, status, "{self:?}");
    }
}

/// The operations that run in a change set, each with a request that has an effect.
async fn operations(server: &TestServer) -> Vec<(&'static str, &'static str, String, Body)> {
    let grant = json!({"path": "/lab/d", "operations": [{"name": USER.0, "level": "read"}]});
    let removed = server.request("DELETE", "/v1/fs/kept/x").send().await;
    let restore = json!({"id": removed.header("cenote-trash").parse::<u64>().unwrap()});
    let upload = server.post("/v1/uploads", json!({"path": "/lab/up"})).await.expect(201);
    let upload = upload["id"].as_str().unwrap();
    let part = format!("/v1/uploads/{upload}/0");
    server.request("PUT", &part).body("whole").send().await.expect(200);
    let complete = format!("/v1/uploads/{upload}/complete");
    let describe =
        json!({"path": "/lab/d", "operations": [{"op": "add", "attribute": "k", "value": "v"}]});
    let copied = json!({"from": {"path": "/lab/c"}, "to": {"path": "/lab/d"}});
    let json = |value| Body::Json(value);
    let bytes = |text: &str| Body::Bytes("application/octet-stream", text.into());
    let mut operations = vec![
        ("put", "/v1/fs/{path}", "/v1/fs/lab/new".to_owned(), bytes("x")),
        ("patch", "/v1/fs/{path}", "/v1/fs/lab/b?append=true".into(), bytes("x")),
        ("delete", "/v1/fs/{path}", "/v1/fs/lab/a".into(), Body::None),
        ("put", "/v1/fs", "/v1/fs?path=/lab/newer".into(), bytes("x")),
        ("patch", "/v1/fs", "/v1/fs?path=/lab/b&truncate=0".into(), bytes("")),
        ("delete", "/v1/fs", "/v1/fs?path=/lab/newer".into(), Body::None),
        ("post", "/v1/access", "/v1/access".into(), json(grant)),
        (
            "patch",
            "/v1/attributes",
            "/v1/attributes".into(),
            json(json!({"path": "/lab/d", "mode": 384})),
        ),
        (
            "post",
            "/v1/batch",
            "/v1/batch?path=/lab".into(),
            Body::Bytes("application/x-tar", archive(&[("entry", b"content")]).await),
        ),
        (
            "post",
            "/v1/copy",
            "/v1/copy".into(),
            json(json!({"from": {"path": "/lab/c"}, "to": "/lab/copy"})),
        ),
        (
            "post",
            "/v1/create",
            "/v1/create".into(),
            json(json!({"path": "/lab/dir", "kind": "collection"})),
        ),
        ("post", "/v1/meta", "/v1/meta".into(), json(describe)),
        ("post", "/v1/meta/copy", "/v1/meta/copy".into(), json(copied)),
        (
            "post",
            "/v1/move",
            "/v1/move".into(),
            json(json!({"from": {"path": "/lab/copy"}, "to": "/lab/moved"})),
        ),
        (
            "put",
            "/v1/graph",
            "/v1/graph?path=/lab/c".into(),
            Body::Bytes("application/n-triples", b"<> <http://x/p> \"o\" .\n".to_vec()),
        ),
        ("post", "/v1/trash/restore", "/v1/trash/restore".into(), json(restore)),
        ("post", "/v1/trash/empty", "/v1/trash/empty".into(), json(json!({"all": true}))),
        ("post", "/v1/uploads/{id}/complete", complete, json(json!({}))),
        (
            "post",
            "/v1/versions",
            "/v1/versions".into(),
            json(json!({"path": "/kept/y", "op": "keep", "label": "one"})),
        ),
        (
            "put",
            "/v1/key",
            "/v1/key?path=/lab/keys&name=user:/k".into(),
            json(json!({"value": "v"})),
        ),
        ("delete", "/v1/key", "/v1/key?path=/lab/keys&name=user:/old".into(), Body::None),
    ];
    let xattr = "/v1/xattr?path=/lab/d&name=user.k";
    operations.extend([
        ("put", "/v1/xattr", xattr.to_owned(), bytes("v")),
        ("delete", "/v1/xattr", xattr.to_owned(), Body::None),
    ]);
    let list = json!({"items": [{"path": "/lab/b"}]});
    operations.extend([
        ("post", "/v1/stat", "/v1/stat".into(), json(list)),
        ("post", "/v1/search", "/v1/search".into(), json(json!({"under": "/lab"}))),
        ("post", "/v1/archive", "/v1/archive".into(), json(json!({"ids": []}))),
    ]);
    for route in [
        "/v1/fs/{path}",
        "/v1/fs",
        "/v1/access",
        "/v1/access/why",
        "/v1/archive",
        "/v1/du",
        "/v1/graph",
        "/v1/gsd",
        "/v1/gsd/chunk",
        "/v1/key",
        "/v1/keys",
        "/v1/links",
        "/v1/list",
        "/v1/list/brief",
        "/v1/meta",
        "/v1/shared",
        "/v1/stat",
        "/v1/trash",
        "/v1/versions",
        "/v1/walk",
        "/v1/whoami",
        "/v1/xattr",
        "/v1/xattrs",
    ] {
        let uri = route.replace("/{path}", "/lab/b");
        operations.push(("get", route, uri, Body::None));
    }
    operations
}

enum Body {
    None,
    Json(Value),
    Bytes(&'static str, Vec<u8>),
}

impl Body {
    async fn send(&self, request: TestRequest<'_>) -> Answer {
        match self {
            Self::None => request.send().await,
            Self::Json(body) => request.json(body).send().await,
            Self::Bytes(media_type, bytes) => {
                request.header("content-type", media_type).body(bytes.clone()).send().await
            }
        }
    }
}

async fn bench() -> TestServer {
    let server = filled().await;
    let dump = "application/vnd.elektra.quickdump";
    let keys = server.request("PUT", "/v1/fs/lab/keys").header("content-type", dump);
    keys.send().await.expect(201);
    let key = server.request("PUT", "/v1/key?path=/lab/keys&name=user:/old");
    key.json(&json!({"value": "v"})).send().await.expect(201);
    for name in ["x", "y"] {
        server.put(&format!("/kept/{name}"), name).await.expect(201);
    }
    let keep = json!({"path": "/kept", "keep_removed": 3600, "versioning": "on-request"});
    server.request("PATCH", "/v1/attributes").json(&keep).send().await.expect(200);
    server
}

/// Every operation of the document either runs in a change set, where it changes nothing outside of it, or refuses the header.
#[tokio::test]
async fn no_request_in_a_change_set_has_effects_outside_of_it() {
    let server = bench().await;
    let operations = operations(&server).await;
    let (id, before) = (begin(&server).await, visible(&server).await);
    for (method, route, uri, body) in &operations {
        let answer = body.send(within(&server, &id, &method.to_uppercase(), uri)).await;
        let status = answer.status.as_u16();
        assert!(*method == "get" || (200..300).contains(&status), "{method} {route}: {answer:?}");
        assert!(!answer.body.windows(20).any(|part| part == b"urn:cenote:problem:c"), "{route}");
        assert_eq!(visible(&server).await, before, "{method} {route}");
    }
    let listed: BTreeSet<(String, String)> = (operations.iter())
        .map(|(method, route, ..)| (method.to_string(), route.to_string()))
        .collect();
    let document = server.request_as(None, "GET", "/openapi.json").send().await.expect(200);
    for (path, item) in document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            let same = if method == "head" { "get" } else { method };
            if listed.contains(&(same.to_owned(), path.clone())) {
                continue;
            }
            let uri = path.replace("{id}", "1").replace("{offset}", "0");
            // A response to HEAD has no body.
            let request = within(&server, &id, &same.to_uppercase(), &uri);
            let refused = request.json(&json!({})).send().await.problem(409, "changeset");
            assert!(refused["hint"].is_string(), "{method} {path}");
        }
    }
    assert_eq!(visible(&server).await, before);
    commit(&server, &id).await.expect(200);
    assert_ne!(visible(&server).await, before);
    assert_eq!(server.get("/lab/up").await.body, "whole");
    assert_eq!(server.get("/lab/moved").await.body, "c");
}

#[tokio::test]
async fn other_openings_refuse_the_header() {
    let server = filled().await;
    let id = begin(&server).await;
    for uri in ["/irods-http-api/0.7.0/info", "/irods-rest/1/list", "/healthz", "/metrics"] {
        let answer = within(&server, &id, "GET", uri).send().await;
        assert_eq!(answer.status, 409, "{uri}: {answer:?}");
    }
}

#[tokio::test]
async fn of_two_conflicting_change_sets_the_first_commit_wins() {
    let server = filled().await;
    let (first, second) = (begin(&server).await, begin(&server).await);
    for (id, text) in [(&first, "first"), (&second, "second")] {
        within(&server, id, "PUT", "/v1/fs/lab/a").body(text).send().await.expect(200);
    }
    commit(&server, &second).await.expect(200);
    let refused = commit(&server, &first).await.problem(409, "conflict");
    assert!(refused["detail"].as_str().unwrap().contains("/lab/a"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("begin another"), "{refused}");
    assert_eq!(server.get("/lab/a").await.body, "second");
    let state = server.request("GET", &format!("/v1/changesets/{first}")).send().await.expect(200);
    assert_eq!(state["state"], "conflicted");
}

#[tokio::test]
async fn a_change_set_belongs_to_its_creator_and_excludes_tickets() {
    let server = filled().await;
    let id = begin(&server).await;
    let grant = json!({"path": "/lab", "operations": [{"name": USER.0, "level": "own", "scope": "subtree"}]});
    server.post("/v1/access", grant).await.expect(200);
    for (method, uri) in [
        ("GET", format!("/v1/changesets/{id}")),
        ("DELETE", format!("/v1/changesets/{id}")),
        ("POST", format!("/v1/changesets/{id}")),
        ("POST", format!("/v1/changesets/{id}/commit")),
    ] {
        let request = server.request_as(Some(USER), method, &uri);
        let request = if method == "POST" { request.json(&json!({})) } else { request };
        request.send().await.problem(404, "not-found");
    }
    let request = server.request_as(Some(USER), "GET", "/v1/fs/lab/a").header(HEADER, &id);
    request.send().await.problem(404, "not-found");
    server
        .request_as(None, "POST", "/v1/changesets")
        .json(&json!({}))
        .send()
        .await
        .problem(401, "unauthenticated");
    let once = json!({"path": "/lab/a", "uses": 1});
    let ticket = server.post("/v1/tickets", once).await.expect(201);
    let ticket = ticket["ticket"].as_str().unwrap();
    let request = within(&server, &id, "GET", "/v1/fs/lab/a").header("cenote-ticket", ticket);
    request.send().await.problem(409, "changeset");
    let used = server.request_as(None, "GET", "/v1/fs/lab/a").header("cenote-ticket", ticket);
    assert_eq!(used.send().await.body, "a", "it was not used in vain");
}

#[tokio::test]
async fn errors_of_change_sets_are_reported() {
    let server = filled().await;
    let id = begin(&server).await;
    for wrong in ["", "x", "é", &"g".repeat(32)] {
        let request = server.request("GET", "/v1/fs/lab/a");
        let Ok(value) = wrong.parse::<axum::http::HeaderValue>() else { continue };
        drop(value);
        request.header(HEADER, wrong).send().await.problem(400, "invalid");
    }
    let (status, kind) = if is_shared() { (503, "unavailable") } else { (404, "not-found") };
    within(&server, &"0".repeat(32), "GET", "/v1/fs/lab/a").send().await.problem(status, kind);
    for seconds in [0, 1_801] {
        let long = json!({"idle_seconds": seconds});
        server.post("/v1/changesets", long).await.problem(400, "invalid");
    }
    server.post("/v1/changesets", json!({"idle": 3})).await.problem(400, "invalid");
    server.request("DELETE", &format!("/v1/changesets/{id}")).send().await.expect(204);
    server.request("DELETE", &format!("/v1/changesets/{id}")).send().await.problem(410, "expired");
    let gone = commit(&server, &id).await.problem(410, "expired");
    assert!(gone["detail"].as_str().unwrap().contains("was dropped"), "{gone}");
    for _ in 0..8 {
        begin(&server).await;
    }
    server.post("/v1/changesets", json!({})).await.problem(413, "too-large");
}

#[tokio::test]
async fn metrics_count_open_change_sets_and_the_outcomes_of_others() {
    let server = filled().await;
    let [open, committed, dropped, first, second] = [
        begin(&server).await,
        begin(&server).await,
        begin(&server).await,
        begin(&server).await,
        begin(&server).await,
    ];
    for id in [&open, &first, &second] {
        within(&server, id, "PUT", "/v1/fs/lab/a").body("new").send().await.expect(200);
    }
    commit(&server, &committed).await.expect(200);
    commit(&server, &first).await.expect(200);
    commit(&server, &second).await.problem(409, "conflict");
    server.request("DELETE", &format!("/v1/changesets/{dropped}")).send().await.problem_status(204);
    let metrics = server.request("GET", "/metrics").send().await;
    let text = String::from_utf8(metrics.body.to_vec()).unwrap();
    let value = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("no {name} in {text}")).parse::<u64>().unwrap()
    };
    assert_eq!(value("cenote_changesets_open"), 1);
    assert!(value("cenote_changesets_held_bytes") > 100);
    for (state, count) in [("committed", 2), ("dropped", 1), ("conflicted", 1), ("expired", 0)] {
        assert_eq!(value(&format!("cenote_changesets_ended_total{{state=\"{state}\"}}")), count);
    }
}

#[tokio::test]
async fn server_settings_limit_change_sets() {
    let text = "[limits]\nchangesets = 3\nchangesets_per_user = 2\nchangeset_bytes = 20000\n\
                changeset_idle_seconds = 7\nchangeset_seconds = 9\n";
    let config: Config = toml::from_str(text).unwrap();
    let dir = Directory::new();
    let embedded = open_dir_with(dir.store(), config.limits.change_sets()).unwrap();
    let server = TestServer { router: router(embedded.store().clone(), &config) };
    let admin = embedded.store().authenticate_password(ADMIN.0, ADMIN.1).unwrap();
    let set = embedded.store().begin_change_set(&admin, None).unwrap();
    let seconds = |until: Time| (until.nanos() - set.begun.nanos()) / 1_000_000_000;
    assert_eq!((seconds(set.expires), seconds(set.until)), (7, 9));
    let id = &set.id.to_string();
    let large = "x".repeat(30_000);
    within(&server, id, "PUT", "/v1/fs/large").body(large).send().await.problem(413, "too-large");
    begin(&server).await;
    server.post("/v1/changesets", json!({})).await.problem(413, "too-large");
}
