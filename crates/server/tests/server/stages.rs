//! Staged writing through the native opening. Random histories of it are in the model of contents (`model/stage.rs`).

use axum::body::Body;
use serde_json::{Value, json};

use super::support::{Answer, TestServer, USER};

/// A server with an object that the user may change, and their stage with its content.
async fn staged() -> (TestServer, String) {
    let server = TestServer::new();
    server.post("/v1/create", json!({"path": "/d", "kind": "collection"})).await.expect(201);
    server.put("/d/x", "base").await.expect(201);
    grant(&server, "modify_object").await;
    let stage = begin(&server, json!({"path": "/d/x", "from": "object"})).await;
    (server, stage)
}

async fn grant(server: &TestServer, level: &str) {
    let operations = json!([{"name": USER.0, "level": level}]);
    server.post("/v1/access", json!({"path": "/d/x", "operations": operations})).await.expect(200);
}

async fn begin(server: &TestServer, new: Value) -> String {
    let begun = send(server, "POST", "/v1/uploads", Body::from(new.to_string())).await.expect(201);
    format!("/v1/uploads/{}", begun["id"].as_str().unwrap())
}

async fn send(server: &TestServer, method: &str, uri: &str, body: impl Into<Body>) -> Answer {
    let request =
        server.request_as(Some(USER), method, uri).header("content-type", "application/json");
    request.body(body).send().await
}

async fn patch(server: &TestServer, stage: &str, query: &str, bytes: &'static str) -> Answer {
    send(server, "PATCH", &format!("{stage}/content?{query}"), bytes).await
}

async fn read(server: &TestServer, stage: &str) -> Answer {
    send(server, "GET", &format!("{stage}/content"), "").await
}

async fn complete(server: &TestServer, stage: &str, how: Value) -> Answer {
    send(server, "POST", &format!("{stage}/complete"), how.to_string()).await
}

#[tokio::test]
async fn a_stage_is_written_and_read_without_changing_the_object_until_it_is_published() {
    let (server, stage) = staged().await;
    assert_eq!(patch(&server, &stage, "append=true", " line").await.expect(200)["size"], 9);
    assert_eq!(patch(&server, &stage, "offset=0", "Ba").await.expect(200)["size"], 9);
    assert_eq!(patch(&server, &stage, "truncate=7", "").await.expect(200)["size"], 7);
    let whole = read(&server, &stage).await;
    assert_eq!(whole.body, "Base li");
    assert_eq!(whole.header("content-type"), "application/octet-stream");
    assert_eq!(whole.header("x-content-type-options"), "nosniff");
    assert_eq!(whole.header("content-security-policy"), "sandbox");
    let content = format!("{stage}/content");
    let range = |range: &'static str| {
        server.request_as(Some(USER), "GET", &content).header("range", range).send()
    };
    let part = range("bytes=2-3").await;
    assert_eq!((part.status.as_u16(), &part.body[..]), (206, &b"se"[..]));
    assert_eq!(part.header("content-range"), "bytes 2-3/7");
    range("bytes=7-").await.problem(416, "range");
    let head = server.request_as(Some(USER), "HEAD", &content).send().await;
    assert_eq!((head.header("content-length"), head.body.len()), ("7", 0));
    let state = send(&server, "GET", &stage, "").await.expect(200);
    assert_eq!((&state["staged"], &state["parts"]), (&json!(7), &json!([])));
    assert_eq!(server.get("/d/x").await.body, "base");
    let sha256 = "0".repeat(64);
    complete(&server, &stage, json!({ "sha256": sha256 })).await.problem(422, "mismatch");
    let published = complete(&server, &stage, json!({})).await.expect(200);
    assert_eq!((&published["path"], &published["size"]), (&json!("/d/x"), &json!(7)));
    assert_eq!(server.get("/d/x").await.body, "Base li");
    read(&server, &stage).await.problem(404, "not-found");
}

/// A body of ranges: an index of offsets and lengths, and the bytes.
fn indexed(index: &[(u64, u64)], bytes: &str) -> Vec<u8> {
    let numbers = index.iter().flat_map(|(offset, length)| [offset, length]);
    numbers.flat_map(|number| number.to_be_bytes()).chain(bytes.bytes()).collect()
}

#[tokio::test]
async fn several_ranges_of_a_stage_are_written_by_one_request() {
    let (server, stage) = staged().await;
    let write = async |query: &str, body| {
        send(&server, "PATCH", &format!("{stage}/content?{query}"), body).await
    };
    let two = indexed(&[(1, 2), (6, 3)], "AS...");
    assert_eq!(write("ranges=2", two.clone()).await.expect(200)["size"], 9);
    assert_eq!(read(&server, &stage).await.body, "bASe\0\0...");
    let wrong = [
        ("ranges=3", two.clone()),
        ("ranges=1", two.clone()),
        ("ranges=2&offset=0", two.clone()),
        ("ranges=2", indexed(&[(6, 3), (1, 2)], "...AS")),
        ("ranges=2", indexed(&[(1, 2), (2, 3)], "AS...")),
        ("ranges=2", indexed(&[(1, 2), (6, u64::MAX)], "AS...")),
        ("ranges=1", indexed(&[(1, 0)], "")),
        ("ranges=99999999999999", two.clone()),
        ("ranges=2", two[..20].to_vec()),
        ("ranges=2", two[..36].to_vec()),
    ];
    for (query, body) in wrong {
        let refused = write(query, body).await;
        assert!(refused.status.is_client_error(), "{query}: {}", refused.status);
        assert_eq!(read(&server, &stage).await.body, "bASe\0\0...", "{query}");
    }
    let none = write("ranges=0", Vec::new()).await.expect(200);
    assert_eq!(none["size"], 9);
}

#[tokio::test]
async fn publishing_a_stage_over_a_changed_object_requires_force() {
    let (server, stage) = staged().await;
    patch(&server, &stage, "append=true", "!").await.expect(200);
    server.put("/d/x", "of others").await.expect(200);
    let refused = complete(&server, &stage, json!({})).await.problem(412, "precondition");
    assert!(refused["detail"].as_str().unwrap().contains("changed since"), "{refused}");
    assert!(refused["hint"].as_str().unwrap().contains("force"), "{refused}");
    assert_eq!(read(&server, &stage).await.body, "base!");
    complete(&server, &stage, json!({"force": true})).await.expect(200);
    assert_eq!(server.get("/d/x").await.body, "base!");
}

#[tokio::test]
async fn publishing_a_stage_requires_current_rights() {
    let (server, stage) = staged().await;
    patch(&server, &stage, "append=true", "!").await.expect(200);
    for (level, refusal) in [("null", (404, "not-found")), ("read_object", (403, "denied"))] {
        grant(&server, level).await;
        patch(&server, &stage, "append=true", "?").await.problem(refusal.0, refusal.1);
        patch(&server, &stage, "truncate=0", "").await.problem(refusal.0, refusal.1);
        complete(&server, &stage, json!({})).await.problem(refusal.0, refusal.1);
    }
    assert_eq!(read(&server, &stage).await.body, "base!");
    grant(&server, "null").await;
    read(&server, &stage).await.problem(404, "not-found");
    let content = format!("{stage}/content");
    server.request_as(None, "GET", &content).send().await.problem(404, "not-found");
    assert_eq!(server.get("/d/x").await.body, "base");
}

#[tokio::test]
async fn bad_requests_for_stages_are_refused_with_a_hint() {
    let (server, stage) = staged().await;
    let parts = begin(&server, json!({"path": "/d/x"})).await;
    for answer in [
        patch(&server, &parts, "append=true", "!").await,
        read(&server, &parts).await,
        send(&server, "PUT", &format!("{stage}/0"), "!").await,
    ] {
        let problem = answer.problem(409, "wrong-kind");
        assert!(problem["hint"].is_string(), "{problem}");
    }
    for query in ["", "offset=1&append=true", "truncate=1&offset=1", "offset=-1"] {
        patch(&server, &stage, query, "!").await.problem(400, "invalid");
    }
    let begun = |new: Value| async { server.post("/v1/uploads", new).await };
    begun(json!({"path": "/d/x", "from": "it"})).await.problem(400, "invalid");
    begun(json!({"path": "/none", "from": "object"})).await.problem(404, "not-found");
    begun(json!({"path": "/", "from": "object"})).await.problem(409, "wrong-kind");
    let place = |name| json!({"path": "/d/x", "from": "object", "place": name});
    begun(place("main")).await.expect(201);
    begun(place("none")).await.problem(404, "not-found");
    let tag = json!({"path": "/d/x", "from": "object", "if_match": "\"no\""});
    begun(tag).await.problem(412, "precondition");
}

#[tokio::test]
async fn a_late_request_of_an_earlier_attempt_is_refused() {
    let (server, stage) = staged().await;
    let content = format!("{stage}/content?offset=0");
    let write = |attempt: &'static str, bytes: &'static str| {
        let request =
            server.request_as(Some(USER), "PATCH", &content).header("cenote-attempt", attempt);
        request.body(bytes).send()
    };
    write("2", "Ba").await.expect(200);
    write("1", "xx").await.problem(409, "conflict");
    patch(&server, &stage, "offset=0", "xx").await.problem(409, "conflict");
    patch(&server, &stage, "truncate=1", "").await.problem(409, "conflict");
    complete(&server, &stage, json!({})).await.problem(409, "conflict");
    for invalid in ["", "-1", "x", "99999999999999999999"] {
        write(invalid, "xx").await.problem(400, "invalid");
    }
    assert_eq!(read(&server, &stage).await.body, "Base");
    let uri = format!("{stage}/complete");
    let request = server.request_as(Some(USER), "POST", &uri).header("cenote-attempt", "2");
    request.json(&json!({})).send().await.expect(200);
    assert_eq!(server.get("/d/x").await.body, "Base");
}
