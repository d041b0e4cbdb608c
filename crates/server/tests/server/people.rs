//! Callers: users, groups, tokens, tickets; and that no secret is logged.

use std::io::Write;
use std::sync::{Arc, Mutex};

use crate::support::{ADMIN, TestServer, USER};
use serde_json::{Value, json};

fn bearer(token: &Value) -> String {
    format!("Bearer {}", token.as_str().unwrap())
}

#[tokio::test]
async fn users_are_created_changed_and_removed() {
    let server = TestServer::new();
    let new = json!({"name": "linus", "password": "penguin", "role": "user"});
    server.post("/v1/users", new.clone()).await.expect(201);
    server.post("/v1/users", new).await.problem(409, "exists");
    let who = |password| server.request_as(Some(("linus", password)), "GET", "/v1/whoami").send();
    assert_eq!(who("penguin").await.expect(200)["role"], "user");
    let own = json!({"name": "linus", "password": "tux"});
    let own = server.request_as(Some(("linus", "penguin")), "PATCH", "/v1/users").json(&own);
    own.send().await.expect(204);
    who("penguin").await.problem(401, "unauthenticated");
    let users = server.request("GET", "/v1/users").send().await.expect(200);
    let names = users["items"].as_array().unwrap().iter().map(|user| &user["name"]);
    assert_eq!(names.collect::<Vec<_>>(), ["anonymous", ADMIN.0, USER.0, "linus"]);
    server.request("DELETE", "/v1/users?name=linus").send().await.expect(204);
    who("tux").await.problem(401, "unauthenticated");
    server.request_as(None, "GET", "/v1/users").send().await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn groups_give_access_to_their_members() {
    let server = TestServer::new();
    server.put("/c/a", "x").await.expect(201);
    server.post("/v1/groups", json!({"name": "lab"})).await.expect(201);
    let change = async |body: Value| server.request("PATCH", "/v1/groups").json(&body).send().await;
    change(json!({"name": "lab", "add": [USER.0]})).await.expect(204);
    let grant =
        json!({"path": "/c", "operations": [{"name": "lab", "level": "read", "scope": "subtree"}]});
    server.post("/v1/access", grant).await.expect(200);
    let read = || server.request_as(Some(USER), "GET", "/v1/fs/c/a").send();
    assert_eq!(read().await.body, "x");
    let who = server.request_as(Some(USER), "GET", "/v1/whoami").send().await.expect(200);
    assert_eq!(who["groups"], json!(["lab"]));
    let groups = server.request("GET", "/v1/groups").send().await.expect(200);
    assert!(groups["items"].as_array().unwrap().iter().any(|g| g["members"] == json!([USER.0])));
    change(json!({"name": "lab", "remove": [USER.0]})).await.expect(204);
    read().await.problem(404, "not-found");
    server.request("DELETE", "/v1/groups?name=lab").send().await.expect(204);
}

#[tokio::test]
async fn a_token_is_valid_within_its_limits_until_it_is_revoked() {
    let server = TestServer::new();
    server.put("/c/a", "x").await.expect(201);
    let new = json!({"label": "ci", "level": "read", "within": "/c", "expires_in": 3600});
    let made = server.post("/v1/tokens", new).await.expect(201);
    let request = |method, uri| {
        server.request_as(None, method, uri).header("authorization", &bearer(&made["token"]))
    };
    assert_eq!(request("GET", "/v1/fs/c/a").send().await.body, "x");
    request("PUT", "/v1/fs/c/a").body("y").send().await.problem(403, "denied");
    request("GET", "/v1/list?path=/").send().await.problem(404, "not-found");
    request("POST", "/v1/tokens")
        .json(&json!({"label": "more"}))
        .send()
        .await
        .problem(403, "denied");
    let list = server.request("GET", "/v1/tokens").send().await.expect(200);
    assert_eq!(list["items"][0]["label"], "ci");
    assert_eq!(list["items"][0].get("token"), None);
    server.request("DELETE", &format!("/v1/tokens?id={}", made["id"])).send().await.expect(204);
    request("GET", "/v1/fs/c/a").send().await.problem(401, "unauthenticated");
}

#[tokio::test]
async fn a_ticket_opens_its_resource_within_its_limits() {
    let server = TestServer::new();
    server.put("/c/a", "x").await.expect(201);
    let made = server.post("/v1/tickets", json!({"path": "/c", "uses": 2})).await.expect(201);
    let ticket = made["ticket"].as_str().unwrap();
    let by_header = server.request_as(None, "GET", "/v1/fs/c/a").header("cenote-ticket", ticket);
    assert_eq!(by_header.send().await.body, "x");
    let uri = format!("/v1/fs/c/a?ticket={ticket}");
    let by_query = || server.request_as(None, "GET", &uri).send();
    assert_eq!(by_query().await.body, "x");
    by_query().await.problem(401, "unauthenticated");
    let list = server.request("GET", "/v1/tickets?path=/c").send().await.expect(200);
    assert_eq!(list["items"][0]["uses"], json!({"used": 2, "limit": 2}));
    assert!(!list.to_string().contains(ticket), "{list}");
    let id = list["items"][0]["id"].as_str().unwrap();
    assert_eq!(made["id"], id);
    server.request("DELETE", &format!("/v1/tickets?ticket={id}")).send().await.expect(204);
    let list = server.request("GET", "/v1/tickets").send().await.expect(200);
    assert_eq!(list["items"], json!([]));
}

/// The log output.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_secret_is_ever_logged() {
    let lines = Lines::default();
    let writer = lines.clone();
    // For the whole process: the logs of concurrent tests must not contain these secrets either.
    tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .init();
    let server = TestServer::new();
    server.put("/c/a", "x").await.expect(201);
    let token = server.post("/v1/tokens", json!({"label": "t"})).await.expect(201)["token"].clone();
    let ticket =
        server.post("/v1/tickets", json!({"path": "/c"})).await.expect(201)["ticket"].clone();
    let ticket = ticket.as_str().unwrap();
    let requests = [
        server.request_as(None, "GET", "/v1/whoami").header("authorization", &bearer(&token)),
        server.request_as(None, "GET", "/v1/fs/c/a").header("cenote-ticket", ticket),
        server.request_as(None, "GET", &format!("/v1/fs/c/a?ticket={ticket}")),
        server.request("DELETE", &format!("/v1/tickets?ticket={ticket}")),
        server.request_as(Some((ADMIN.0, "a wrong secret")), "GET", "/v1/whoami"),
        server
            .request("POST", "/v1/users")
            .json(&json!({"name": "eve", "password": "apple of eden"})),
    ];
    for request in requests {
        request.send().await;
    }
    let log = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("/v1/fs/c/a") && log.contains("user=\"ada\""), "{log}");
    for secret in [ADMIN.1, token.as_str().unwrap(), ticket, "a wrong secret", "apple of eden"] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
    assert!(!log.contains(&crate::support::basic(ADMIN)[6..]));
}

#[tokio::test]
async fn only_an_administrator_checks_the_store() {
    let server = TestServer::new();
    server.put("/a", "x").await.expect(201);
    let check = json!({"contents_percent": 100});
    let sound = server.post("/v1/check", check.clone()).await;
    assert_eq!((sound.status.as_u16(), sound.body.len()), (200, 0), "{sound:?}");
    let user = server.request_as(Some(USER), "POST", "/v1/check").json(&check);
    user.send().await.problem(403, "denied");
    server.post("/v1/check", json!({"contents_percent": 101})).await.problem(400, "invalid");
}

#[tokio::test]
async fn each_route_declares_how_it_uses_a_ticket() {
    let server = TestServer::new();
    server.put("/c/a", "x").await.expect(201);
    let limits = json!({"path": "/c", "level": "write", "uses": 100, "writes": 100, "bytes": 1000});
    let made = server.post("/v1/tickets", limits).await.expect(201);
    let ticket = made["ticket"].as_str().unwrap();
    let used = async || {
        let listed = server.request("GET", "/v1/tickets?path=/c").send().await.expect(200);
        let count = |what: &str| listed["items"][0][what]["used"].as_u64().unwrap();
        [count("uses"), count("writes"), count("bytes")]
    };
    let batch = crate::batch::archive(&[("b", b"12345"), ("d/e", b"67")]).await;
    for (method, uri, body, more) in [
        ("GET", "/v1/stat?path=/c/a", &b""[..], [0, 0, 0]),
        ("HEAD", "/v1/fs/c/a", b"", [0, 0, 0]),
        ("GET", "/v1/list?path=/c", b"", [0, 0, 0]),
        ("GET", "/v1/fs/c/a", b"", [1, 0, 0]),
        ("GET", "/v1/gsd?path=/c/a", b"", [1, 0, 0]),
        ("GET", "/v1/gsd/chunk?path=/c/a&name=x", b"", [1, 0, 0]),
        ("GET", "/v1/keys?path=/c/a", b"", [1, 0, 0]),
        ("GET", "/v1/key?path=/c/a&name=x", b"", [1, 0, 0]),
        ("GET", "/v1/archive?path=/c", b"", [1, 0, 0]),
        ("PUT", "/v1/fs/c/a", b"four", [1, 1, 4]),
        ("PATCH", "/v1/fs/c/a?append=true", b"five", [1, 1, 4]),
        // And a directory and a link.
        ("POST", "/v1/batch?path=/c", &batch, [4, 4, 7]),
    ] {
        let before = used().await;
        let request = server.request_as(None, method, uri).header("cenote-ticket", ticket);
        let request = request.header("content-type", "application/x-tar");
        request.body(body.to_vec()).send().await;
        let after = used().await;
        let counted: Vec<_> =
            before.iter().zip(after).map(|(before, after)| after - before).collect();
        assert_eq!(counted, more, "{method} {uri}");
    }
}

#[tokio::test]
async fn an_upload_in_parts_counts_as_one_write_of_a_ticket() {
    let server = TestServer::new();
    server
        .request("POST", "/v1/create")
        .json(&json!({"path": "/c", "kind": "collection"}))
        .send()
        .await;
    let limits = json!({"path": "/c", "level": "write", "uses": 1, "writes": 1, "bytes": 8});
    let made = server.post("/v1/tickets", limits).await.expect(201);
    let ticket = made["ticket"].as_str().unwrap();
    let request = |method: &str, uri: &str| {
        server.request_as(None, method, uri).header("cenote-ticket", ticket)
    };
    let begun =
        request("POST", "/v1/uploads").json(&json!({"path": "/c/x"})).send().await.expect(201);
    let uri = format!("/v1/uploads/{}", begun["id"].as_str().unwrap());
    for (offset, part) in [(0, "1234"), (4, "5678")] {
        request("PUT", &format!("{uri}/{offset}")).body(part).send().await.expect(200);
    }
    request("PUT", &format!("{uri}/8")).body("9").send().await.problem(401, "unauthenticated");
    let anybody = server.request_as(None, "GET", &uri).send().await;
    anybody.problem(404, "not-found");
    assert_eq!(request("GET", &uri).send().await.expect(200)["parts"].as_array().unwrap().len(), 2);
    request("POST", &format!("{uri}/complete")).json(&json!({})).send().await.expect(200);
    assert_eq!(server.get("/c/x").await.body, "12345678");
    request("PUT", "/v1/fs/c/y").body("").send().await.problem(401, "unauthenticated");
}
