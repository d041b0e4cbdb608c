//! Key sets in the store: reading and changing single keys.

use std::collections::BTreeSet;

use cenote_server::Limits;
use serde_json::{Value, json};

use crate::support::{ADMIN, Answer, TestServer, USER};

const QUICKDUMP: &str = "application/vnd.elektra.quickdump";
const DUMP: &str = "application/vnd.elektra.dump";
/// Three keys below `user:/`, the first with a metakey.
const APP: &str = "kdbOpen 2\n$key string 11 4\nserver/port\n8080\n$meta 4 4\ntype\nlong\n\
    $key binary 4 1\nicon\n\u{1}\n$meta 6 0\nbinary\n\n$key string 1 0\nz\n\n$end\n";

async fn put_as(server: &TestServer, path: &str, media_type: &str, bytes: Vec<u8>) {
    let uri = format!("/v1/fs{path}?parents=true");
    server
        .request("PUT", &uri)
        .header("content-type", media_type)
        .body(bytes)
        .send()
        .await
        .expect(201);
}

async fn server() -> TestServer {
    let server = TestServer::new();
    put_as(&server, "/app", DUMP, APP.into()).await;
    server
}

async fn key(server: &TestServer, name: &str) -> Answer {
    server.request("GET", &uri("/app", name)).send().await
}

fn uri(path: &str, name: &str) -> String {
    format!("/v1/key?path={path}&name={name}")
}

async fn names(server: &TestServer, query: &str) -> (Vec<String>, Value) {
    let page =
        server.request("GET", &format!("/v1/keys?path=/app{query}")).send().await.expect(200);
    let items = page["items"].as_array().unwrap().iter();
    (items.map(|key| key["name"].as_str().unwrap().to_owned()).collect(), page["next"].clone())
}

#[tokio::test]
async fn one_key_is_read_by_a_complete_a_relative_and_a_cascading_name() {
    let server = server().await;
    let expected = json!({"name": "user:/server/port", "value": "8080", "base64": null,
        "binary": false, "meta": {"type": "long"}});
    for name in ["user:/server/port", "server/port", "/server/port", "server//port/"] {
        assert_eq!(key(&server, name).await.expect(200), expected, "{name}");
    }
    let icon = key(&server, "icon").await.expect(200);
    assert_eq!((&icon["base64"], &icon["binary"]), (&json!("AQ=="), &json!(true)));
    let other = server.request("GET", &(uri("/app", "port") + "&parent=system:/server"));
    other.send().await.problem(404, "not-found");
    key(&server, "gone").await.problem(404, "not-found");
    key(&server, "a%5Cx").await.problem(400, "invalid");
    key(&server, "users:/x").await.problem(400, "invalid");
    server.request("GET", &(uri("/app", "z") + "&parent=x")).send().await.problem(400, "invalid");
}

#[tokio::test]
async fn all_keys_or_a_subtree_are_returned_in_pages() {
    let server = server().await;
    let all = ["user:/icon", "user:/server/port", "user:/z"];
    assert_eq!(names(&server, "").await, (all.map(String::from).to_vec(), Value::Null));
    assert_eq!(names(&server, "&under=server").await.0, ["user:/server/port"]);
    assert_eq!(names(&server, "&under=/z").await.0, ["user:/z"]);
    assert!(names(&server, "&under=gone").await.0.is_empty());
    let (first, next) = names(&server, "&limit=2").await;
    assert_eq!((&first[..], &next), (&all.map(String::from)[..2], &json!("user:/server/port")));
    let (rest, next) = names(&server, "&limit=2&after=user:/server/port").await;
    assert_eq!((rest, next), (vec!["user:/z".to_owned()], Value::Null));
    let page = server.request("GET", "/v1/keys?path=/app&limit=0").send().await;
    page.problem(400, "invalid");
}

#[tokio::test]
async fn a_client_with_a_current_copy_gets_304() {
    let server = server().await;
    let tag = key(&server, "z").await.header("etag").to_owned();
    assert_eq!(tag, server.get("/app").await.header("etag"));
    let again = server.request("GET", &uri("/app", "z")).header("if-none-match", &tag).send().await;
    assert_eq!((again.status.as_u16(), again.body.len()), (304, 0));
    let changed =
        server.request("GET", &uri("/app", "z")).header("if-match", "\"other\"").send().await;
    changed.problem(412, "precondition");
}

#[tokio::test]
async fn a_kept_version_can_be_read_but_not_changed() {
    let server = server().await;
    let on = json!({"path": "/", "versioning": "on-request"});
    server.request("PATCH", "/v1/attributes").json(&on).send().await.expect(200);
    let keep = json!({"path": "/app", "op": "keep", "label": "first"});
    let kept = server.post("/v1/versions", keep).await.expect(200);
    let version = format!("&version={}", kept["version"]["version"]);
    let old = key(&server, "z").await;
    let put = async |query: &str| {
        let uri = uri("/app", "z") + query;
        server.request("PUT", &uri).json(&json!({"value": "new"})).send().await
    };
    put("").await.expect(200);
    put(&version).await.problem(400, "invalid");
    let remove = server.request("DELETE", &(uri("/app", "z") + &version)).send().await;
    remove.problem(400, "invalid");
    let again = server.request("GET", &(uri("/app", "z") + &version)).send().await;
    assert_eq!(again.header("etag"), old.header("etag"));
    assert_eq!(again.expect(200), old.expect(200));
    assert_eq!(key(&server, "z").await.expect(200)["value"], "new");
    server.request("DELETE", &uri("/app", "server/port")).send().await.expect(204);
    assert_eq!(names(&server, &version).await.0.len(), 3);
    assert_eq!(names(&server, "").await.0.len(), 2);
    let gone = server.request("GET", &(uri("/app", "z") + "&version=99")).send().await;
    gone.problem(404, "not-found");
}

#[tokio::test]
async fn a_change_of_one_key_keeps_the_others_the_format_and_the_media_type() {
    for (media_type, bytes) in [(DUMP, APP.as_bytes().to_vec()), (QUICKDUMP, Vec::new())] {
        let server = TestServer::new();
        put_as(&server, "/app", media_type, bytes.clone()).await;
        let put = server.request("PUT", &uri("/app", "server/port"));
        let body = json!({"value": "80", "meta": {"type": "short"}});
        let answer = put.json(&body).send().await;
        let made = answer.expect(if bytes.is_empty() { 201 } else { 200 });
        assert_eq!((&made["value"], &made["meta"]), (&json!("80"), &json!({"type": "short"})));
        let content = server.get("/app").await;
        assert_eq!(content.header("content-type"), media_type);
        assert_eq!(content.header("etag"), answer.header("etag"));
        let expected = APP.replace("11 4\nserver/port\n8080", "11 2\nserver/port\n80");
        let expected = expected.replace("4 4\ntype\nlong", "4 5\ntype\nshort");
        match media_type {
            DUMP => assert_eq!(content.body, in_order(&expected)),
            _ => assert!(content.body.starts_with(b"EKDB\0\0\0\x03")),
        }
        assert_eq!(key(&server, "server/port").await.expect(200), made);
    }
}

/// The writer puts `icon` before `server`.
fn in_order(dump: &str) -> String {
    let (head, rest) = dump.split_at(dump.find("$key string 11").unwrap());
    let (port, rest) = rest.split_at(rest.find("$key binary").unwrap());
    let (icon, rest) = rest.split_at(rest.find("$key string 1 0").unwrap());
    [head, icon, port, rest].concat()
}

#[tokio::test]
async fn only_the_given_key_is_removed() {
    let server = server().await;
    let remove = async |name: &str| server.request("DELETE", &uri("/app", name)).send().await;
    remove("server/port").await.expect(204);
    assert_eq!(names(&server, "").await.0, ["user:/icon", "user:/z"]);
    remove("server/port").await.problem(404, "not-found");
    remove("server").await.problem(404, "not-found");
    remove("/z").await.expect(204);
    assert_eq!(names(&server, "").await.0, ["user:/icon"]);
}

#[tokio::test]
async fn a_failed_condition_changes_nothing() {
    let server = server().await;
    let put = |condition: (&'static str, &str), value: &str| {
        let request = server.request("PUT", &uri("/app", "z")).header(condition.0, condition.1);
        request.json(&json!({"value": value}))
    };
    let content = key(&server, "z").await.header("etag").to_owned();
    put(("if-match", "\"other\""), "1").send().await.problem(412, "precondition");
    put(("if-none-match", "*"), "1").send().await.problem(412, "precondition");
    let answer = put(("if-match", &content), "1").send().await;
    answer.expect(200);
    put(("if-match", &content), "2").send().await.problem(412, "precondition");
    let stat = server.request("GET", "/v1/stat?path=/app").send().await.expect(200);
    assert_eq!(stat["etag"], answer.header("etag"));
    put(("if-match", stat["state"].as_str().unwrap()), "3").send().await.expect(200);
    let remove = server.request("DELETE", &uri("/app", "z")).header("if-match", &content);
    remove.send().await.problem(412, "precondition");
    assert_eq!(key(&server, "z").await.expect(200)["value"], "3");
    let new = server.request("PUT", &uri("/app", "new")).header("if-none-match", "*");
    new.json(&json!({"value": "1"})).send().await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writers_lose_no_changes() {
    const WRITERS: usize = 24;
    let server = server().await;
    let changes = (0..WRITERS).map(|number| {
        let server = server.clone();
        tokio::spawn(async move {
            let uri = uri("/app", &format!("writer/{number}"));
            server.request("PUT", &uri).json(&json!({"value": "v"})).send().await.expect(201);
            if number % 2 == 0 {
                server.request("DELETE", &uri).send().await.expect(204);
            }
        })
    });
    for change in changes.collect::<Vec<_>>() {
        change.await.unwrap();
    }
    let left: BTreeSet<_> = names(&server, "&under=writer").await.0.into_iter().collect();
    let odd = (0..WRITERS).filter(|number| number % 2 == 1);
    assert_eq!(left, odd.map(|number| format!("user:/writer/{number}")).collect());
}

#[tokio::test]
async fn other_contents_than_key_sets_are_refused() {
    let server = server().await;
    put_as(&server, "/text", "text/plain", b"kdbOpen 2\n$end\n".to_vec()).await;
    let refused = server.request("GET", &uri("/text", "z")).send().await.problem(422, "format");
    assert!(refused["hint"].as_str().unwrap().contains(DUMP), "{refused}");
    let change = json!({"path": "/text", "media_type": DUMP});
    server.request("PATCH", "/v1/attributes").json(&change).send().await.expect(200);
    server.request("GET", &uri("/text", "z")).send().await.problem(404, "not-found");
    server.request("GET", &uri("/", "z")).send().await.problem(409, "wrong-kind");
    server.request("GET", &uri("/gone", "z")).send().await.problem(404, "not-found");
    put_as(&server, "/broken", DUMP, b"kdbOpen 2\n$key string 99\n".to_vec()).await;
    for method in ["GET", "DELETE"] {
        let refused = server.request(method, &uri("/broken", "z")).send().await;
        let refused = refused.problem(422, "format");
        assert!(refused["detail"].as_str().unwrap().contains("at byte 10"), "{refused}");
    }
    let put = server.request("PUT", &uri("/broken", "z")).json(&json!({"value": ""}));
    put.send().await.problem(422, "format");
}

#[tokio::test]
async fn invalid_bodies_change_nothing() {
    let server = server().await;
    for (name, body) in [
        ("z", json!({"value": 80})),
        ("z", json!({"valeu": "80"})),
        ("z", json!({"name": "user:/y", "value": "80"})),
        ("z", json!({"value": "a", "base64": "YQ=="})),
        ("system:/z", json!({"value": "a"})),
        ("users:/z", json!({"value": "a"})),
    ] {
        let put = server.request("PUT", &uri("/app", name)).json(&body).send().await;
        put.problem(400, "invalid");
    }
    let put = server.request("PUT", &uri("/app", "/new")).json(&json!({"value": ""})).send().await;
    let hint = put.problem(404, "not-found")["hint"].clone();
    assert!(hint.as_str().unwrap().contains("namespace"), "{hint}");
    assert_eq!(server.get("/app").await.body, APP);
}

#[tokio::test]
async fn rights_are_those_of_the_object() {
    let server = server().await;
    let request = |method| server.request_as(Some(USER), method, &uri("/app", "z"));
    request("GET").send().await.problem(404, "not-found");
    request("PUT").json(&json!({"value": "1"})).send().await.problem(404, "not-found");
    let grant = |level| {
        let operations = json!([{"name": USER.0, "level": level, "scope": "this"}]);
        server.post("/v1/access", json!({"path": "/app", "operations": operations}))
    };
    grant("read").await.expect(200);
    request("GET").send().await.expect(200);
    request("PUT").json(&json!({"value": "1"})).send().await.problem(403, "denied");
    request("DELETE").send().await.problem(403, "denied");
    grant("write").await.expect(200);
    request("PUT").json(&json!({"value": "1"})).send().await.expect(200);
    let stat = server.request_as(Some(ADMIN), "GET", "/v1/stat?path=/app").send().await.expect(200);
    assert_eq!(stat["modified_by"], USER.0);
}

#[tokio::test]
async fn a_key_set_beyond_the_limit_is_neither_read_nor_written() {
    let limits = Limits { keyset_bytes: APP.len() as u64, ..Limits::default() };
    let server = TestServer::with(limits);
    put_as(&server, "/app", DUMP, APP.into()).await;
    put_as(&server, "/large", DUMP, format!("{APP} ").into()).await;
    key(&server, "z").await.expect(200);
    server.request("GET", &uri("/large", "z")).send().await.problem(413, "too-large");
    let put = server.request("PUT", &uri("/app", "z")).json(&json!({"value": "more"})).send().await;
    put.problem(413, "too-large");
    assert_eq!(server.get("/app").await.body, APP);
}
